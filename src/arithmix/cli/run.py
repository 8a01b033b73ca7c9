"""`arithmix run`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..progress import Progress
from ._options import (
    DATABASE,
    Device,
    Operations,
    Ranges,
    Seeds,
    StudyName,
    Units,
    find_device,
    narrow,
    print_line,
)
from ._train import train


def run(
    study: StudyName,
    units: Units = None,
    operations: Operations = None,
    ranges: Ranges = None,
    seeds: Seeds = None,
    device: Device = "auto",
    out: Annotated[Path, typer.Option("--out", "--db", help="The file of records.")] = DATABASE,
    eager: Annotated[bool, typer.Option("--eager", help="Do not compile.")] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Make rows that are there again; each is replaced when ready."
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say only the result.")] = False,
) -> None:
    """Train what is missing of a study. After an interrupt, run it again to go on from there."""
    asked = narrow(study, units, operations, ranges, seeds)
    progress = Progress(Console(), quiet)
    summary = train(asked, out, find_device(device), progress, not eager, force)
    print_line(f"trained {summary.trained}, records in {out}")
    print_line(f"solved {summary.solved}/{summary.members}")
