"""The words of the page: ranges, units and terms, for those who see them the first time."""

import ast
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ...measure.rulers import RULERS
from ...records.row import Row
from ...table import Table
from ...tasks import RANGES
from ..draw import interval
from ..parts import Fold, Grid, Part
from ._rules import SHOWN
from ._settings import base, changed

UNITS = Path(__file__).parents[2] / "units"
OURS = "this package's own"
"""What the text of a unit says that has no paper."""
ENDED = {"trained": "ran all steps", "stopped": "stopped when solved"}
TERMS = {
    "row": "the record of one training: what was asked, its error curves, its final parameters",
    "member": "one of the trainings of a unit on a task; they differ by their seed",
    "seed": "the number from which a member's start and its data are drawn",
    "task": "an operation on a range, with a number of inputs of which two matter",
    "ruler": "a rule that says of a row whether the task was solved",
    "solved": "the test error is below the ruler's threshold, at the judged row",
    "judged row": "the step that counts: under primer and loose that of best validation error",
    "gate": "the DMU's learned choice between its linear and its logarithmic side",
    "selector": "the DMU's weights of its inputs, O: which are used, and with what sign",
    "sparsity error": "the largest distance of a weight or gate from a discrete value",
    "225": "9 ranges x 25 seeds: the trainings of a unit on one operation",
    "name[key=value]": "the unit of that name with a setting changed, as on the command line",
}


def ended(rows: Iterable[Row]) -> str:
    """How trainings ended, the most frequent way first."""
    counts = Counter(ENDED.get(row.status, row.status) for row in rows)
    return ", ".join(f"{count} {how}" for how, count in counts.most_common())


def words_of(units: list[str]) -> list[Part]:
    """Folds that say what the ranges, these units and the terms are."""
    places = [
        [name, interval(one.train), " or\u00a0".join(map(interval, one.test))]
        for name, one in RANGES.items()
    ]
    lines = [[unit, _about(unit)] for unit in dict.fromkeys([*map(base, units), *units])]
    lines.sort()
    terms = [[word, meaning] for word, meaning in TERMS.items()]
    terms += [[f"{one.name}, a ruler", one.about] for one in map(RULERS.__getitem__, SHOWN)]
    return [
        Fold(
            "What the ranges are",
            [Grid(Table("", ["range", "trained on", "tested on"], places))],
        ),
        Fold("What the units are", [Grid(Table("", ["unit", "what it is"], lines))]),
        Fold("What the words mean", [Grid(Table("", ["word", "meaning"], terms))]),
    ]


def _about(unit: str) -> str:
    """What a unit is, or what its brackets change."""
    if base(unit) != unit:
        return f"a variant of {base(unit)}: {changed(unit) or 'as its name says'}"
    about = about_units().get(unit, "not of the package")
    return f"{about} This package's own." if ours(unit) else about


def ours(unit: str) -> bool:
    """Whether a unit is this package's own, and not a paper's."""
    return OURS in " ".join(_texts().get(unit, "").split())


def about_units() -> dict[str, str]:
    """The first line of each unit's file."""
    return {name: text.partition("\n")[0] for name, text in _texts().items()}


@cache
def _texts() -> dict[str, str]:
    """What each unit's file says, read without importing it: that would need torch."""
    files = [path for path in UNITS.glob("*.py") if not path.name.startswith("_")]
    docs = {path.stem: ast.get_docstring(ast.parse(path.read_text("utf-8"))) for path in files}
    return {name: doc or "" for name, doc in docs.items()}
