"""`arithmix table`."""

from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console

from ..measure.rulers import RULERS
from ..names import choose
from ..progress import Progress
from ..records.shipped import shipped
from ..records.store import Store
from ..studies import experiment
from ..studies._rows import judged, of_study
from ..table import FORMS, write
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
    """Show a study's tables beside the published ones, from records and from shipped results."""
    asked = narrow(study, units, operations, ranges, seeds)
    choose(form, FORMS, "format")
    if add is not None:
        more = narrow(study, add, operations, ranges, seeds)
        train(more, db, find_device(device), Progress(Console(stderr=True)))
        asked = replace(asked, entries=asked.entries + more.entries)
    rows = shipped(study)
    if db.exists() or not rows:
        with Store(db, create=False) as store:
            rows += store.rows()
    rows = of_study(rows, asked)
    if not rows:
        raise ValueError(
            f"{db} has no rows of this part of {study}; `arithmix run {study}` makes them"
        )
    write(experiment(study).tables(rows, asked), form, console())
    if form == "terminal":
        solved = sum(one.verdict.solved for one in judged(rows, RULERS[asked.ruler]))
        print_line(f"solved {solved}/{asked.members}")
