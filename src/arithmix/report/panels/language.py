"""A language model that computes: its numbers with the block and without, and why."""

from collections.abc import Sequence

from ...lm.beside import beside, calibration, fired
from ...lm.evaluation import Evaluation
from ...lm.show import formula, places
from ...lm.trace import Trace
from ...lm.words import telling
from ...measure.stats import wilson
from ...table import Table
from ..data import Data
from ..draw import OWN, figure, trace
from ..parts import Chart, Fold, Grid, Part, Side, Traced, tabs, words

ORDER = 75
TITLE = "A language model that computes"
ABOUT = (
    "How well a language model foretells the numbers of texts, alone (base) and with a block of "
    "exact arithmetic. Marked numbers were computed (in bold) or copied; hover over one for how."
)
COMMAND = "arithmix lm eval FILE --json lm.json && arithmix report --lm lm.json"
SIGNS = {"+": "+ add", "-": "− subtract", "*": "× multiply", "/": "÷ divide"}


def parts(data: Data) -> list[Part]:
    """One evaluation as it is, several in tabs."""
    found = data.evaluations
    if len(found) == 1:
        return _parts(found[0])
    return tabs({f"{i}: {_files(one)}": _parts(one) for i, one in enumerate(found, 1)})


def _parts(found: Evaluation) -> list[Part]:
    shown: list[Part] = [Grid(beside(found))]
    if found.block:
        shown.append(words(fired(found)))
    if found.fired:
        shown.append(Side([_reliability(found), Grid(calibration(found))]))
    return [*shown, *_examples(found.examples), *_words(found), _made(found)]


def _reliability(found: Evaluation) -> Chart:
    bins = [one for one in found.bins if one.count]
    shares = [one.right / one.count for one in bins]
    ends = [wilson(one.right, one.count) for one in bins]
    even = {"dash": "dash", "width": 1.4, "color": "#808080"}
    dots = trace(
        "scatter",
        x=[one.probability for one in bins],
        y=shares,
        mode="markers",
        marker={"color": OWN, "size": 9},
        error_y={
            "type": "data",
            "array": [high - share for share, (_, high) in zip(shares, ends, strict=True)],
            "arrayminus": [share - low for share, (low, _) in zip(shares, ends, strict=True)],
            "color": OWN,
            "thickness": 1.2,
        },
        customdata=[f"{one.right} of {one.count} right" for one in bins],
        hovertemplate="foretold with %{x:.1%}<br>%{customdata}<extra></extra>",
    )
    line = trace("scatter", x=[0, 1], y=[0, 1], mode="lines", line=even, hoverinfo="skip")
    axes = {
        name: {"title": {"text": title}, "range": [-0.03, 1.03], "tickformat": ".0%"}
        for name, title in (("xaxis", "probability foretold"), ("yaxis", "share right"))
    }
    return Chart(figure([line, dots], showlegend=False, **axes), 320, "How well it knows")


def _examples(traces: Sequence[Trace]) -> list[Part]:
    if not traces:
        return []
    first, *others = traces
    lines = [[formula(one), "; ".join(places(one.program, first.text))] for one in first]
    note = "places: the first character of each operand, counted from 0"
    grid = Grid(Table("", ["number", "operands' places"], lines, note))
    found: list[Part] = [
        words("An example:"),
        Traced(first),
        Fold("How its numbers were computed", [grid]),
    ]
    if others:
        found.append(Fold("More examples", [Traced(one) for one in others]))
    return found


def _words(found: Evaluation) -> list[Part]:
    """The words that go with each operation."""
    grids = []
    for sign, near in found.words.items():
        lines = [[word, f"{n}", f"{odds:.2f}"] for word, n, odds in telling(found.words, sign)]
        if lines:
            title = f"{SIGNS[sign]}: {near.numbers} numbers"
            grids.append(Grid(Table(title, ["word", "n", "log-odds"], lines)))
    if not grids:
        return []
    said = words(
        "Which words go with which operation: those within six words before a number that one step "
        "computed, or after its operands. n: near how many such numbers; the log-odds compare that "
        "with the numbers of the other operations."
    )
    return [said, Side(grids)]


def _made(found: Evaluation) -> Part:
    files = ", ".join(f"{name} (SHA-256 {digest[:16]})" for name, digest in found.files)
    block = f"block {found.block[0]} {found.block[1][:16]}" if found.block else "no block"
    name, digest = found.model
    return words(
        f"{found.texts} texts of {files or 'no file'}; {name or 'a model'} {digest[:16]}, {block}; "
        f"{found.seconds:.0f} seconds."
    )


def _files(found: Evaluation) -> str:
    return ", ".join(name for name, _ in found.files) or "texts"
