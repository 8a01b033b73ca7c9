"""The command line: one file, one command."""

import sys
from typing import Annotated

import typer

from .. import __version__
from . import (
    discover,
    export,
    figures,
    landscape,
    list_,
    lm,
    recover,
    report,
    run,
    status,
    table,
    thresholds,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def arithmix(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)
    ] = False,
) -> None:
    """Neural arithmetic units, and the benchmark that judges them."""
    if version:
        typer.echo(f"arithmix {__version__}")
        raise typer.Exit


for command in (
    run.run,
    table.table,
    thresholds.thresholds,
    report.report,
    landscape.landscape,
    discover.discover,
    recover.recover,
    figures.figures,
    status.status,
    export.export,
    list_.list_,
):
    app.command(name=command.__name__.strip("_"))(command)
app.add_typer(lm.app, name="lm")


def main() -> None:
    """Run the command line; a mistake of the caller's is one sentence and exit code 2."""
    try:
        app()
    except ValueError as error:
        typer.echo(f"arithmix: {error}", err=True)
        sys.exit(2)
