"""What the rows say, in words: the first thing on the page."""

from ...tasks import OPERATIONS
from ..cells import Cells, Rate, members, operations_of, rate, units_of
from ..data import Data
from ..draw import SIGNS
from ..parts import Card, Cards, Part, Strong, Words, tone, words
from ._own import each, everywhere, headline, listed, loose, own_rule, rates_of, told, where
from ._rules import rules
from ._settings import base, changed
from ._words import ours, words_of

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
        rules(),
        _certainty(cells),
        Cards([_card(cells, operation) for operation in operations_of(cells)]),
        *_all_four(cells),
        *_variants(cells),
        *loose(data),
        *own_rule(data),
        *told(cells),
        *words_of(data.units),
    ]


def _rule() -> Words:
    return words(
        Strong("The rule: "),
        "train on one interval, test on larger numbers; solved if the test error is below a "
        "threshold. There are three rules; what is said here is by the first:",
    )


def _certainty(cells: Cells) -> Words:
    counts = sorted({len(cell) for cell in cells.values()})
    size = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    low = Rate(counts[-1], counts[-1]).interval[0]
    return words(
        Strong("How sure: "),
        f"{size} trainings for each operation and range, from different seeds; in brackets "
        f"Wilson's 95% interval in percent, of {counts[-1]} in {counts[-1]} [{low:.0f}, 100]. "
        "Intervals over several ranges, as in the tables below, take all trainings as independent, "
        "which is kind to a unit whose seeds behave alike. Nothing is said of other ranges.",
    )


def _card(cells: Cells, operation: str) -> Card:
    own = rate(members(cells, "dmu", operation))
    rates = {unit: rate(members(cells, unit, operation)) for unit in units_of(cells, operation)}
    others = {unit: one for unit, one in rates.items() if base(unit) != "dmu"}
    variants = {unit: one for unit, one in rates.items() if base(unit) == "dmu" != unit}
    if not own.trained:
        lines = ["no training of the DMU"]
    elif own.whole:
        lines = [f"The DMU always, {everywhere(cells, operation)}."]
    else:
        lines = [f"The DMU {where(cells, operation).partition(':')[0]}."]
    always = [unit for unit, one in others.items() if one.whole]
    rest = [f"{unit} {one.short}%" for unit, one in others.items() if not one.whole]
    lines.append(f"Also always: {', '.join(always)}." if always else "No other unit always does.")
    if rest:
        lines.append(f"Less often: {', '.join(rest)}.")
    lines += [f"The DMU's variant {unit}: {one.short}%." for unit, one in variants.items()]
    number = f"{own.solved}/{own.trained}" if own.trained else "–"
    return Card(f"{SIGNS[operation]} {operation}", number, tone(own.percent), lines)


def _all_four(cells: Cells) -> list[Part]:
    """The other units that were trained on every operation: who solves all, and who is next."""
    rivals = {unit: rates_of(cells, unit) for unit in units_of(cells) if base(unit) != "dmu"}
    tried = {unit: rates for unit, rates in rivals.items() if len(rates) == len(OPERATIONS)}
    if not tried:
        return []
    always = [unit for unit, rates in tried.items() if all(one.whole for one in rates.values())]
    mean = {u: sum(one.percent for one in r.values()) for u, r in tried.items() if u not in always}
    verb = "unit was" if len(tried) == 1 else "units were"
    pieces: list[str | Strong] = [f"{len(tried)} other {verb} trained on all four operations. "]
    if always:
        verb = "solves" if len(always) == 1 else "solve"
        names = [f"{unit}, this package's own unit," if ours(unit) else unit for unit in always]
        pieces += [Strong(f"{listed(names)} {verb} all four in every training"), ". "]
    if mean:
        best = max(mean, key=mean.__getitem__)
        shares = ", ".join(f"{SIGNS[o]}\u00a0{one.short}%" for o, one in tried[best].items())
        pieces.append(f"{best} comes {'next' if always else 'nearest'}, with {shares}. ")
    rest = "The rest are made for one or two operations and were trained on those alone."
    return [words(*pieces, rest if len(tried) < len(rivals) else "")]


def _variants(cells: Cells) -> list[Part]:
    """What the DMU does with a setting changed."""
    found: list[Part] = []
    for unit in units_of(cells):
        if base(unit) != "dmu" or unit == "dmu":
            continue
        about = f" ({changed(unit)})" if changed(unit) else ""
        solved = each(rates_of(cells, unit))
        said = f"{unit}, a variant of the DMU that its paper does not have{about}, solves {solved}."
        found.append(words(said))
    return found
