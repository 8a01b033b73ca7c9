"""`arithmix table`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console

from ..measure.cells import Cell, cells
from ..measure.rulers import RULERS
from ..names import choose
from ..progress import Progress
from ..studies import experiment
from ..studies._rows import of_study
from ..table import FORMS, Table, write
from ._options import (
    DATABASE,
    Database,
    Device,
    Format,
    Operations,
    Ranges,
    Seeds,
    StudyName,
    Units,
    console,
    find_device,
    narrow,
    print_line,
)
from ._records import is_own, rows_of, with_own
from ._train import train


def table(
    study: StudyName,
    units: Units = None,
    operations: Operations = None,
    ranges: Ranges = None,
    seeds: Seeds = None,
    add: Annotated[
        str | None, typer.Option(help="Units to train, where missing, and show beside the others.")
    ] = None,
    device: Device = "auto",
    db: Database = DATABASE,
    form: Format = "terminal",
) -> None:
    """Show a study's tables beside the published ones, from records and from shipped results.

    Units of your own that have records for its tasks are shown too. With --format csv it is one
    table, a line for each unit and task.
    """
    asked = narrow(study, units, operations, ranges, seeds)
    choose(form, FORMS, "format")
    if add is not None:
        more = narrow(study, add, operations, ranges, seeds)
        train(more, db, find_device(device), Progress(Console(stderr=True)))
        asked = replace(asked, entries=tuple(dict.fromkeys(asked.entries + more.entries)))
    rows = rows_of(asked, db)
    members = asked.members
    if units is None:
        asked = with_own(asked, rows)
        members += sum(is_own(row) for row in rows)
    rows = of_study(rows, asked)
    if not rows:
        raise ValueError(
            f"{db} has no rows of this part of {study}; `arithmix run {study}` makes them"
        )
    counted = cells(rows, RULERS[asked.ruler])
    tables = experiment(study).tables(rows, asked)
    write([_as_data(counted)] if form == "csv" else tables, form, console())
    if form == "terminal":
        print_line(f"solved {sum(cell.solved for cell in counted)}/{members}")


def _as_data(counted: Sequence[Cell]) -> Table:
    """A line for each cell, in plain numbers."""

    def text(number: float | None) -> str:
        return "" if number is None else f"{number:.9g}"

    header = ["unit", "operation", "range", "inputs", "ruler", "members", "solved", "success"]
    header += ["success_low", "success_high", "mean_step", "mean_sparsity", "mean_test_error"]
    lines = [
        [
            *(cell.unit, cell.task.operation, cell.task.range, str(cell.task.inputs), cell.ruler),
            *(str(cell.members), str(cell.solved), text(cell.solved / cell.members)),
            *map(text, (*cell.interval, cell.step, cell.sparsity, cell.error)),
        ]
        for cell in counted
    ]
    return Table("", header, lines)
