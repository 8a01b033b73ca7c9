"""`arithmix report`."""

from pathlib import Path
from typing import Annotated

import typer

from ..files import whole
from ._options import DATABASE, need, print_line
from ._records import selected


def report(
    db: Annotated[
        Path | None,
        typer.Argument(metavar="[DB]", help=f"The file of records; {DATABASE} if left out."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("report.html"),
    own: Annotated[
        bool, typer.Option("--own", help="Leave out the results that come with the package.")
    ] = False,
    lm: Annotated[
        list[Path] | None, typer.Option(help="What `arithmix lm eval --json` wrote.")
    ] = None,
) -> None:
    """Write one HTML page of the records, to open from disk."""
    need("plotly", "report")
    from ..report.data import gather
    from ..report.page import page

    if db is None and DATABASE.exists():
        db = DATABASE
    data = gather(db, selected, own=own, lm=lm or [])
    text = page(data)
    with whole(output) as part:
        part.write_text(text, encoding="utf-8")
    size = output.stat().st_size / 1e6
    print_line(f"wrote {output}: {len(data.rows)} rows, {size:.1f} MB")
