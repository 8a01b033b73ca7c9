"""`arithmix lm sums`."""

import json
import random
from pathlib import Path
from typing import Annotated

import typer

from ...files import whole
from .._options import print_line


def sums(
    out: Annotated[
        Path, typer.Argument(help="The file to write; JSON lines if it ends in .jsonl.")
    ],
    count: Annotated[int, typer.Option(min=1, help="How many texts.")] = 3000,
    seed: Annotated[int, typer.Option(help="Other seeds give other texts.")] = 0,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="In wordings that are not trained on.")
    ] = False,
) -> None:
    """Write texts with sums in many wordings, and some with numbers that nothing computes."""
    from ...lm.corpus import draw_sample

    rng = random.Random(seed)
    samples = [draw_sample(rng, held_out) for _ in range(count)]
    if out.suffix == ".jsonl":
        text = "".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples)
    else:
        plain = ("\n".join(sample.values()) for sample in samples)
        text = "\n\n".join(plain) + "\n"
    with whole(out) as part:
        part.write_text(text, encoding="utf-8")
    print_line(f"{count} texts are in {out}")
