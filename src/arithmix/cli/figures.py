"""`arithmix figures`."""

from pathlib import Path
from typing import Annotated

import typer

from ..names import choose
from ._options import DATABASE, need, print_line
from ._records import selected
from .thresholds import threshold_tables


def figures(
    db: Annotated[
        Path | None,
        typer.Argument(metavar="[DB]", help=f"The file of records; {DATABASE} if left out."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder.")] = Path("figures"),
    form: Annotated[str, typer.Option("--format", help="pdf, svg or png.")] = "pdf",
    own: Annotated[
        bool, typer.Option("--own", help="Leave out the results that come with the package.")
    ] = False,
) -> None:
    """Write every table as LaTeX and every figure as a file, ready for a paper."""
    need("matplotlib", "figures")
    from ..report.data import gather
    from ..report.printed import FORMATS, write_figures, write_landscapes, write_tables

    choose(form, FORMATS, "format")
    data = gather(db or (DATABASE if DATABASE.exists() else None), selected, own=own)
    try:
        output.mkdir(parents=True, exist_ok=True)
        tables = write_tables(data, {"thresholds": threshold_tables()}, output)
        pictures = write_figures(data, output, form) + write_landscapes(data, output, form)
    except OSError as error:
        raise ValueError(f"{output} can't be written: {error.strerror or error}") from error
    print_line(f"wrote {len(tables)} tables and {len(pictures)} figures to {output}")
    if not data.landscapes:
        print_line("there are no landscapes; `arithmix landscape --all` makes them")
