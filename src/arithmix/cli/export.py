"""`arithmix export`."""

from pathlib import Path
from typing import Annotated

import typer

from ..records.store import Store
from ._options import DATABASE, Database, need, print_line


def export(
    to: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv or .parquet file.")],
    db: Database = DATABASE,
) -> None:
    """Write all rows, with their curves, to CSV or Parquet."""
    if to.suffix == ".parquet":
        need("pyarrow", "parquet")
    from ..records.export import export as write_rows

    with Store(db, create=False) as store:
        count = write_rows(store.rows(), to)
    print_line(f"wrote {count} rows to {to}")
