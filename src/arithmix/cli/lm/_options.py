"""What the commands of `arithmix lm` share."""

from typing import Annotated

import typer

Block = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER", help="A block's folder, or none; the one of the package if left out."
    ),
]
Model = Annotated[
    str | None, typer.Option(help="A model's folder or name; the fetched one if left out.")
]
