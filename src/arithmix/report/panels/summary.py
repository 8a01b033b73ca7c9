"""What the rows say, in words: the first thing on the page."""

from ...measure.rulers import RULERS
from ...tasks import OPERATIONS, RANGES, Task
from ..data import Cells, Data, Rate, members, operations_of, rate, units_of
from ..draw import SIGNS, span
from ..parts import Card, Cards, Part, Strong, Words, tone, words

ORDER = 0
TITLE = "In short"
ABOUT = ""
COMMAND = "arithmix run nalm && arithmix run dmu && arithmix report"


def parts(data: Data) -> list[Part]:
    """Who solves what, under which rule, and how sure that is."""
    cells = data.cells("primer")
    if not cells:
        return _own_rule(data)
    found = [
        _headline(cells),
        Cards([_card(cells, operation) for operation in operations_of(cells)]),
        *_all_four(cells),
        _rule(),
        *_loose(data),
        *_own_rule(data),
        _certainty(cells),
        *_told(cells),
    ]
    return found


def _headline(cells: Cells) -> Words:
    rates = _rates(cells, "dmu")
    if not rates:
        return words("There are rows of ", str(len(units_of(cells))), " units, none of the DMU.")
    always = [SIGNS[o] for o, one in rates.items() if one.whole]
    pieces: list[str | Strong] = ["Held to one rule like every other unit, "]
    if always:
        pieces += ["the DMU solves ", Strong(f"{_and(always)} in every training")]
    else:
        pieces.append("the DMU solves no operation in every training")
    for operation, one in rates.items():
        if not one.whole:
            pieces.append("; ")
            pieces.append(Strong(f"{SIGNS[operation]} in {one.solved} of {one.trained}"))
            pieces.append(f" ({_where(cells, 'dmu', operation)})")
    return words(*pieces, ". The cards say what the others do.")


def _rates(cells: Cells, unit: str) -> dict[str, Rate]:
    all_ = {operation: rate(members(cells, unit, operation)) for operation in OPERATIONS}
    return {operation: one for operation, one in all_.items() if one.trained}


def _where(cells: Cells, unit: str, operation: str) -> str:
    """The ranges on which a unit fails."""
    rates = {r: rate(cells[unit, operation, r]) for r in RANGES if (unit, operation, r) in cells}
    failed = {r: one for r, one in rates.items() if not one.whole}
    if len(failed) > 3:
        return f"it misses some on {len(failed)} of {len(rates)} ranges"
    return _and([f"{one.solved} of {one.trained} on {span(r)}" for r, one in failed.items()])


def _card(cells: Cells, operation: str) -> Card:
    own = rate(members(cells, "dmu", operation))
    units = [unit for unit in units_of(cells, operation) if unit != "dmu"]
    others = {unit: rate(members(cells, unit, operation)) for unit in units}
    lines = [f"DMU trainings solved: {own.text}"] if own.trained else ["no training of the DMU"]
    if own.trained and not own.whole:
        lines.append(_where(cells, "dmu", operation))
    always = [unit for unit, one in others.items() if one.whole]
    rest = [f"{unit} {one.percent:.0f}%" for unit, one in others.items() if not one.whole]
    lines.append(f"Also always: {', '.join(always)}." if always else "No other unit always does.")
    if rest:
        lines.append(f"Less often: {', '.join(rest)}.")
    number = f"{own.solved}/{own.trained}" if own.trained else "–"  # noqa: RUF001
    return Card(f"{SIGNS[operation]} {operation}", number, tone(own.percent), lines)


def _all_four(cells: Cells) -> list[Part]:
    """The other units that were trained on every operation: who solves all, and who is next."""
    rivals = {unit: _rates(cells, unit) for unit in units_of(cells) if unit != "dmu"}
    tried = {unit: rates for unit, rates in rivals.items() if len(rates) == len(OPERATIONS)}
    if not tried:
        return []
    always = [unit for unit, rates in tried.items() if all(one.whole for one in rates.values())]
    mean = {u: sum(one.percent for one in r.values()) for u, r in tried.items() if u not in always}
    pieces: list[str | Strong] = [f"Other units trained on all four operations: {len(tried)}. "]
    if always:
        verb = "solves" if len(always) == 1 else "solve"
        pieces += [Strong(f"{_and(always)} {verb} all four in every training"), ". "]
    if mean:
        best = max(mean, key=mean.__getitem__)
        each = ", ".join(f"{SIGNS[o]}\u00a0{one.percent:.0f}%" for o, one in tried[best].items())
        pieces += [Strong(f"{best} comes {'next' if always else 'nearest'}, with {each}"), ". "]
    rest = "The rest are made for one or two operations and were trained on those alone."
    return [words(*pieces, rest if len(tried) < len(rivals) else "")]


def _rule() -> Words:
    return words(
        Strong("The rule "),
        "is the NALM benchmark's (",
        Strong("primer"),
        "): a unit trains on one interval and is tested on larger numbers that it never saw. It "
        "solves the task if, at its best validation error, its test error is below that of an "
        "exact unit whose weights are off by 0.00001.",
    )


def _loose(data: Data) -> list[Part]:
    cells = data.cells("loose")
    own = _rates(cells, "dmu")
    if not own:
        return []
    ratios = [
        RULERS["dmu"].threshold(Task(o, r)) / RULERS["primer"].threshold(Task(o, r))
        for o in OPERATIONS
        for r in RANGES
    ]
    each = ", ".join(f"{SIGNS[o]}\u00a0{one.text}" for o, one in own.items())
    return [
        words(
            "The DMU paper judges its own unit by looser thresholds (a gate off by 0.0001; ",
            f"{min(ratios):.0f} to {max(ratios):.0f} times the primer's) and the others by the "
            "primer's. Under the looser ones, at the same rows, the DMU has ",
            Strong(each),
            "; what they do for the others is in the fair table.",
        )
    ]


def _own_rule(data: Data) -> list[Part]:
    cells = data.cells("dmu")
    found: list[Part] = []
    for unit in units_of(cells):
        rates = _rates(cells, unit)
        each = ", ".join(f"{SIGNS[o]}\u00a0{one.solved}/{one.trained}" for o, one in rates.items())
        low = min(one.interval[0] for one in rates.values())
        found.append(
            words(
                f"Under the paper's own rule (100 steps in a row below those), {unit} solves ",
                Strong(each),
                f" (95% intervals from {low:.0f}% up).",
            )
        )
    return found


def _certainty(cells: Cells) -> Words:
    counts = sorted({len(cell) for cell in cells.values()})
    size = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    low = Rate(counts[-1], counts[-1]).interval[0]
    return words(
        Strong("How sure: "),
        f"each operation on each range was trained {size} times, from different seeds. "
        "Brackets are Wilson's 95% intervals: "
        f"{counts[-1]} of {counts[-1]} means that the true rate is at least {low:.0f}%. A rate "
        "over all ranges speaks of these nine ranges, not of others.",
    )


def _told(cells: Cells) -> list[Part]:
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


def _and(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
