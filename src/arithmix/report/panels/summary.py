"""What the rows say, in words: the first thing on the page."""

from ...tasks import OPERATIONS
from ..cells import Cells, Rate, members, operations_of, rate, units_of
from ..data import Data
from ..draw import SIGNS
from ..parts import Card, Cards, Part, Strong, Words, tone, words
from ._own import headline, listed, loose, own_rule, rates_of, told, where
from ._words import words_of

ORDER = 0
TITLE = "In short"
ABOUT = ""
COMMAND = "arithmix run nalm && arithmix run unified && arithmix run dmu && arithmix report"


def parts(data: Data) -> list[Part]:
    """Who solves what, under which rule, and how sure that is."""
    cells = data.cells("primer")
    if not cells:
        said = own_rule(data)
        return [*said, *words_of(data.units)] if said else []
    return [
        headline(cells),
        _rule(),
        _certainty(data),
        Cards([_card(cells, operation) for operation in operations_of(cells)]),
        *_all_four(cells),
        *loose(data),
        *own_rule(data),
        *told(cells),
        *words_of(data.units),
    ]


def _rule() -> Words:
    return words(
        Strong("The rule: "),
        "train on one interval, test on larger numbers; solved if, at the best validation error, "
        "the test error is below that of an exact unit with weights off by 0.00001 (primer, the "
        "NALM benchmark's rule).",
    )


def _certainty(data: Data) -> Words:
    cells = data.cells("primer")
    counts = sorted({len(cell) for cell in cells.values()})
    size = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    low = Rate(counts[-1], counts[-1]).interval[0]
    fewer = {
        f"{len(cell)} for {unit} with {inputs} inputs": None
        for inputs in data.inputs
        if inputs != 2
        for (unit, _, _), cell in data.cells("primer", inputs).items()
        if len(cell) < counts[0]
    }
    return words(
        Strong("How sure: "),
        f"{size} trainings for each operation and range, from different seeds",
        f" (but {listed(list(fewer))})" if fewer else "",
        f"; in brackets Wilson's 95% interval in percent, of {counts[-1]} in {counts[-1]} "
        f"[{low:.0f}, 100]. Nothing is said of other ranges.",
    )


def _card(cells: Cells, operation: str) -> Card:
    own = rate(members(cells, "dmu", operation))
    units = [unit for unit in units_of(cells, operation) if unit != "dmu"]
    others = {unit: rate(members(cells, unit, operation)) for unit in units}
    if not own.trained:
        lines = ["no training of the DMU"]
    elif own.whole:
        lines = [f"DMU trainings solved: {own.text}"]
    else:
        lines = [f"DMU trainings solved: {where(cells, operation).partition(':')[0]}"]
    always = [unit for unit, one in others.items() if one.whole]
    rest = [f"{unit} {one.short}%" for unit, one in others.items() if not one.whole]
    lines.append(f"Also always: {', '.join(always)}." if always else "No other unit always does.")
    if rest:
        lines.append(f"Less often: {', '.join(rest)}.")
    number = f"{own.solved}/{own.trained}" if own.trained else "–"
    return Card(f"{SIGNS[operation]} {operation}", number, tone(own.percent), lines)


def _all_four(cells: Cells) -> list[Part]:
    """The other units that were trained on every operation: who solves all, and who is next."""
    rivals = {unit: rates_of(cells, unit) for unit in units_of(cells) if unit != "dmu"}
    tried = {unit: rates for unit, rates in rivals.items() if len(rates) == len(OPERATIONS)}
    if not tried:
        return []
    always = [unit for unit, rates in tried.items() if all(one.whole for one in rates.values())]
    mean = {u: sum(one.percent for one in r.values()) for u, r in tried.items() if u not in always}
    pieces: list[str | Strong] = [f"Other units trained on all four operations: {len(tried)}. "]
    if always:
        verb = "solves" if len(always) == 1 else "solve"
        pieces += [Strong(f"{listed(always)} {verb} all four in every training"), ". "]
    if mean:
        best = max(mean, key=mean.__getitem__)
        each = ", ".join(f"{SIGNS[o]}\u00a0{one.short}%" for o, one in tried[best].items())
        pieces.append(f"{best} comes {'next' if always else 'nearest'}, with {each}. ")
    rest = "The rest are made for one or two operations and were trained on those alone."
    return [words(*pieces, rest if len(tried) < len(rivals) else "")]
