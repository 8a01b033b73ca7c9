"""`arithmix lm`: one file, one command."""

import typer

from . import chat, eval, fetch, pretrain, sums, train

app = typer.Typer(no_args_is_help=True)

for command in (
    fetch.fetch,
    sums.sums,
    train.train,
    pretrain.pretrain,
    eval.eval_,
    chat.chat,
):
    app.command(name=command.__name__.strip("_"))(command)


@app.callback()
def lm() -> None:
    """Arithmetic inside a language model."""
