"""`arithmix lm train`."""

from pathlib import Path
from typing import Annotated

import typer

from .._options import find_device, need, print_line
from ._bars import bars


def train(
    texts: Annotated[
        list[Path],
        typer.Argument(help="Files: plain text with blank lines between texts, .jsonl or .csv."),
    ],
    out: Annotated[Path, typer.Option(help="The folder for the block.")] = Path("block"),
    model: Annotated[
        str | None, typer.Option(help="A model's folder or name; the fetched one if left out.")
    ] = None,
    epochs: Annotated[
        int, typer.Option(min=1, help="How often each text is seen, at most; it stops early.")
    ] = 8,
    seed: Annotated[int, typer.Option(help="Of first parameters, order, and held-out texts.")] = 0,
    device: Annotated[str, typer.Option(help="Where to train: auto, cpu or cuda.")] = "auto",
) -> None:
    """Train a block on plain texts. After an interrupt, run it again to go on from there."""
    need("transformers", "lm")
    from ...lm.texts import read

    found = [text for path in texts for text in read(path)]

    import torch

    from ...lm.building import build
    from ...lm.loading import load
    from ...lm.train import Epoch

    where = find_device(device)
    base, tokenizer = load(model)
    module: torch.nn.Module = base
    module.to(where)

    def say(epoch: Epoch) -> None:
        print_line(
            f"epoch {epoch.number}: {epoch.trained:.3f} nats a number, "
            f"{epoch.held_out:.3f} on held-out texts (best {epoch.best:.3f})"
        )

    with bars("texts read", "batches of an epoch") as (read_so_far, trained_so_far):
        block = build(
            [text.rendered(tokenizer) for text in found],
            base,
            tokenizer,
            out,
            epochs=epochs,
            seed=seed,
            reading=read_so_far,
            trained=trained_so_far,
            say=say,
        )
    count = sum(parameter.numel() for parameter in block.parameters())
    print_line(
        f"the block is in {out}: {count:,} parameters that read layers {block.config.layers}, "
        f"threshold {block.config.threshold:.2f}"
    )
