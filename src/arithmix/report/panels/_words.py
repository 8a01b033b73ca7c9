"""The words of the page: ranges, units and terms, for those who see them the first time."""

import ast
from pathlib import Path

from ...measure.rulers import RULERS
from ...table import Table
from ...tasks import RANGES
from ..draw import interval
from ..parts import Fold, Grid, Part

UNITS = Path(__file__).parents[2] / "units"
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


def words_of(units: list[str]) -> list[Part]:
    """Folds that say what the ranges, these units and the terms are."""
    places = [
        [name, interval(one.train), " or\u00a0".join(map(interval, one.test))]
        for name, one in RANGES.items()
    ]
    known = about_units()
    bases = dict.fromkeys(unit.partition("[")[0] for unit in units)
    lines = [[unit, known.get(unit, "not of the package")] for unit in bases]
    terms = [[word, meaning] for word, meaning in TERMS.items()]
    terms += [[f"{one.name}, a ruler", one.about] for one in RULERS.values()]
    return [
        Fold(
            "What the ranges are",
            [Grid(Table("", ["range", "trained on", "tested on"], places))],
        ),
        Fold("What the units are", [Grid(Table("", ["unit", "what it is"], lines))]),
        Fold("What the words mean", [Grid(Table("", ["word", "meaning"], terms))]),
    ]


def about_units() -> dict[str, str]:
    """The first line of each unit's file, read without importing it: that would need torch."""
    files = [path for path in UNITS.glob("*.py") if not path.name.startswith("_")]
    docs = {path.stem: ast.get_docstring(ast.parse(path.read_text("utf-8"))) for path in files}
    return {name: (doc or "").partition("\n")[0] for name, doc in docs.items()}
