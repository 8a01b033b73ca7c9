"""Where the rows come from."""

import json

from ...studies import experiments
from ...studies._rows import of_study
from ...table import Table
from ..data import Data
from ..parts import Fold, Grid, Part
from ._words import ended

ORDER = 110
TITLE = "Provenance"
ABOUT = "What the rows are, and under which versions and on which machine they were made."
COMMAND = "arithmix status"


def parts(data: Data) -> list[Part]:
    """How much of each study is there, what it was made with, and how units were trained."""
    if not data.rows:
        return []
    made = [
        [one.where, str(one.rows), " · ".join(f"{key} {value}" for key, value in one.facts.items())]
        for one in data.sources
    ]
    return [
        _coverage(data),
        Grid(Table("Made with", ["rows from", "rows", "made with"], made)),
        Fold("How each unit was trained", [_recipes(data)]),
    ]


def _coverage(data: Data) -> Grid:
    lines, known, missing = [], set(), []
    studies = sorted(experiments().items(), key=lambda item: hasattr(item[1], "ABLATION"))
    for name, one in studies:
        study = one.study()
        there = of_study(data.rows, study)
        new = [row for row in there if id(row) not in known]
        if not new and len(there) < study.members:
            missing.append(name)
            continue
        known |= {id(row) for row in new}
        again = str(len(there) - len(new)) if len(there) > len(new) else ""
        count = f"{len(there)} of {study.members}"
        lines.append([name, study.ruler, count, again, ended(there), study.about])
    rest = [row for row in data.rows if id(row) not in known]
    if rest:
        units = ", ".join(dict.fromkeys(row.asked.unit for row in rest))
        lines.append(["no study's", "", str(len(rest)), "", "", units])
    lines.append(["all, each once", "", str(len(data.rows)), "", "", ""])
    header = ["study", "ruler", "rows", "listed above", "how they ended", "what it is"]
    note = f"Without rows of its own: {', '.join(missing)}." if missing else ""
    return Grid(Table("Rows", header, lines, note))


def _recipes(data: Data) -> Grid:
    kinds: dict[tuple[str, ...], list[str]] = {}
    for row in data.main:
        recipe = dict(row.asked.recipe)
        arguments = recipe.pop("arguments", {})
        common = [f"{recipe.pop(key, '')}" for key in ("rate", "steps", "batch", "dtype")]
        rest = {key: value for key, value in {**recipe, **arguments}.items() if value is not None}
        key = (row.asked.unit, *common, json.dumps(rest, sort_keys=True))
        operations = kinds.setdefault(key, [])
        if row.asked.operation not in operations:
            operations.append(row.asked.operation)
    lines = [
        [unit, " ".join(operations), *common, rest[1:-1].replace('"', "")]
        for (unit, *common, rest), operations in kinds.items()
    ]
    header = ["unit", "operations", "rate", "steps", "batch", "dtype", "further"]
    return Grid(Table("", header, lines))
