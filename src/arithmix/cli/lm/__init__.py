"""`arithmix lm`: one file, one command."""

import typer

from . import fetch

app = typer.Typer(no_args_is_help=True)

for command in (fetch.fetch,):
    app.command(name=command.__name__)(command)


@app.callback()
def lm() -> None:
    """Arithmetic inside a language model."""
