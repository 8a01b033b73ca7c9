"""`arithmix lm`: one file, one command."""

import typer

from . import fetch, sums, train

app = typer.Typer(no_args_is_help=True)

for command in (fetch.fetch, sums.sums, train.train):
    app.command(name=command.__name__)(command)


@app.callback()
def lm() -> None:
    """Arithmetic inside a language model."""
