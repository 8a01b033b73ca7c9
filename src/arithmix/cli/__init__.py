"""The command line: one file, one command."""

import sys

import typer

from . import (
    discover,
    export,
    figures,
    landscape,
    list_,
    recover,
    report,
    run,
    status,
    table,
    thresholds,
)

app = typer.Typer(
    help="Neural arithmetic units, and the benchmark that judges them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
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


def main() -> None:
    """Run the command line; a mistake of the caller's is one sentence and exit code 2."""
    try:
        app()
    except ValueError as error:
        typer.echo(f"arithmix: {error}", err=True)
        sys.exit(2)
