"""What the summary says of the DMU: what it solves, where it fails, by which rule."""

from ...tasks import OPERATIONS, RANGES
from ..cells import SEEDS, Cells, Rate, by_range, excess, members, rate, units_of
from ..data import Data
from ..draw import SIGNS, called
from ..parts import Part, Strong, Words, words

WHOLE = len(OPERATIONS) * len(RANGES) * SEEDS


def headline(cells: Cells) -> Words:
    """What it solves always, and where it fails."""
    rates = rates_of(cells, "dmu")
    if not rates:
        return words("There are rows of ", str(len(units_of(cells))), " units, none of the DMU.")
    always = [SIGNS[o] for o, one in rates.items() if one.whole]
    name = "the Domain Mixed Unit (DMU)"
    pieces: list[str | Strong] = [f"Held to one rule like every other unit, {name} solves "]
    if always:
        sure = sorted({everywhere(cells, o) for o, one in rates.items() if one.whole})
        pieces += [Strong(f"{listed(always)} in every training"), f" ({listed(sure)})"]
    else:
        pieces.append("no operation in every training")
    for operation, one in rates.items():
        if not one.whole:
            short, _, more = where(cells, operation).partition(": ")
            pieces += ["; ", Strong(f"{SIGNS[operation]} {short}"), f" ({more})"]
    return words(*pieces, ".")


def everywhere(cells: Cells, operation: str) -> str:
    """Of an operation that the DMU always solves: on how many ranges, how often on each."""
    rates = by_range(cells, "dmu", operation)
    counts = sorted({one.trained for one in rates.values()})
    often = ", ".join(f"{n} of {n} {Rate(n, n).within}" for n in counts)
    return f"on {len(rates)} of {len(rates)} ranges, on each in {often}"


def where(cells: Cells, operation: str) -> str:
    """The ranges on which the DMU fails, and by how much."""
    rates = by_range(cells, "dmu", operation)
    failed = {r: one for r, one in rates.items() if not one.whole}
    if len(failed) > 3:
        one = rate(members(cells, "dmu", operation))
        return f"in {one.solved} of {one.trained}: it misses some on {len(failed)} ranges"
    bad = [one for r in failed for one in cells["dmu", operation, r] if not one.verdict.solved]
    never = not any(one.solved for one in failed.values())
    times = excess(bad, "primer")
    miss = "a near miss, its median error ends" if times < 10 else "its median error ends"
    counts = [
        f"{one.solved} of {one.trained} {one.within}{f' on {r}' if len(failed) > 1 else ''}"
        for r, one in failed.items()
    ]
    return (
        f"on {len(rates) - len(failed)} of {len(rates)} ranges always, on "
        f"{listed(list(map(called, failed)))} {'never' if never else 'not always'}: "
        f"{listed(counts)}; {miss} at {times:.2g} times the threshold"
    )


def loose(data: Data) -> list[Part]:
    """What it solves by the thresholds of its paper."""
    own = rates_of(data.cells("loose"), "dmu")
    if not own:
        return []
    return [
        words(
            Strong("By the other rules: "),
            f"with the looser thresholds of its paper (loose) the DMU solves {each(own)} of the "
            "same trainings; the fair table says what they do for the others.",
        )
    ]


def own_rule(data: Data) -> list[Part]:
    """What it solves by the whole rule of its paper; nothing is said of a part of the rows."""
    cells = data.cells("dmu")
    rule = "Under the paper's own rule, which is called dmu too, "
    found: list[Part] = []
    partly: list[str] = []
    for unit in units_of(cells):
        rates = rates_of(cells, unit)
        trained = sum(one.trained for one in rates.values())
        name = "the DMU" if unit == "dmu" else unit
        if trained < WHOLE:
            # A training that is solved is stored as it stops, one that fails only at its end.
            partly.append(f"{name} ({trained})")
        else:
            found.append(words(rule, f"{name} solves {each(rates)} trainings."))
    if partly:
        rest = f"there is no rate yet for what has fewer than {WHOLE} rows, as {listed(partly)}."
        found.append(words(rule, rest))
    return found


def each(rates: dict[str, Rate]) -> str:
    """How many were solved: of all, or of each operation."""
    if all(one.whole for one in rates.values()):
        return f"all {sum(one.trained for one in rates.values())}"
    return ", ".join(f"{SIGNS[o]}\u00a0{one.solved}/{one.trained}" for o, one in rates.items())


def told(cells: Cells) -> list[Part]:
    """What the DMU is given and the others must learn."""
    recipes = [one.row.asked.recipe.get("arguments", {}) for one in members(cells, "dmu")]
    if not recipes or not all("selector" in one for one in recipes):
        return []
    if any(one.get("learn_selector") for one in recipes):
        return []
    return [
        words(
            Strong("Mind: "),
            "as in its paper, the DMU is told its operands and their signs (a frozen selector) and "
            f"learns one gate ({_or('add', 'mul')}; {_or('sub', 'div')}). Most other units learn "
            "which inputs to use as well.",
        )
    ]


def _or(*operations: str) -> str:
    return " or ".join(SIGNS[operation] for operation in operations)


def rates_of(cells: Cells, unit: str) -> dict[str, Rate]:
    """A unit's rate on each operation that it was trained on."""
    all_ = {operation: rate(members(cells, unit, operation)) for operation in OPERATIONS}
    return {operation: one for operation, one in all_.items() if one.trained}


def listed(names: list[str]) -> str:
    """Names as in a sentence."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
