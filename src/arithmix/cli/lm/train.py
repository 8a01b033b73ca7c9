"""`arithmix lm train`."""

from pathlib import Path
from typing import Annotated

import typer

from .._options import need, print_line


def train(
    texts: Annotated[list[Path], typer.Argument(help="Files of texts, blank lines between them.")],
    out: Annotated[Path, typer.Option(help="The folder for the block.")] = Path("block"),
    model: Annotated[
        str | None, typer.Option(help="A model's folder or name; the fetched one if left out.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="How often each number is seen.")] = 8,
    seed: Annotated[int, typer.Option(help="Of the first parameters and of the order.")] = 0,
) -> None:
    """Train a block on plain texts, so that a language model computes numbers in them."""
    need("transformers", "lm")
    from ...lm.load import load
    from ...lm.train import train as fit

    files = [_read(path) for path in texts]
    base, tokenizer = load(model)
    block = fit(
        [text for file in files for text in file.split("\n\n")],
        base,
        tokenizer,
        epochs=epochs,
        seed=seed,
    )
    block.save_pretrained(out)
    count = sum(parameter.numel() for parameter in block.parameters())
    print_line(
        f"the block is in {out}: {count:,} parameters that read layers {block.config.layers}"
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} can't be read as text: {error}") from error
