"""The larger tasks of the original: ten or a hundred inputs, of which two matter."""

from ..records.row import Row
from ..study import Study
from ..table import Table
from ..tasks import RANGES, Task
from . import nalm


def idle_study(inputs: int, pairs: dict[str, str]) -> Study:
    """The nine ranges for each unit and operation of `pairs`."""
    return Study(
        name=f"nalm-{inputs}",
        about=f"two of {inputs} inputs matter, as the Primer and the division papers ran it",
        entries=tuple(
            (unit, Task(operation, range_, inputs))
            for unit, operations in pairs.items()
            for operation in operations.split()
            for range_ in RANGES
        ),
        seeds=tuple(range(25)),
        ruler="primer",
    )


def tables(rows: list[Row], study: Study) -> list[Table]:
    """Success, solved-at and sparsity; there are no published numbers to hold them against."""
    return nalm.own_tables(rows)
