"""One unit for all four operations: two inputs, one recipe that is never told the operation."""

from ..records.row import Row
from ..records.shipped import shipped
from ..study import Study
from ..table import Table
from ..tasks import OPERATIONS, RANGES, Task
from . import nalm


def study() -> Study:
    """900 trainings."""
    return grid("unified", 2, 25)


def grid(name: str, inputs: int, seeds: int) -> Study:
    """The four operations on the nine ranges, two of `inputs` numbers."""
    return Study(
        name=name,
        about=f"one unit and one recipe for all four operations, {inputs} inputs",
        entries=tuple(("unified", Task(o, r, inputs)) for o in OPERATIONS for r in RANGES),
        seeds=tuple(range(seeds)),
        ruler="primer",
    )


def tables(rows: list[Row], study: Study) -> list[Table]:
    """Its own success, and every unit of the NALM study beside it under one ruler."""
    others = [row for row in shipped("nalm") if row.asked.unit not in study.units]
    return [*nalm.own_tables(rows), nalm.fair(others + rows)]
