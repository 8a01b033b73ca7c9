"""`arithmix lm sums`."""

import random
from pathlib import Path
from typing import Annotated

import typer

from ...files import whole
from .._options import print_line


def sums(
    out: Annotated[Path, typer.Argument(help="The file to write.")],
    count: Annotated[int, typer.Option(min=1, help="How many texts.")] = 3000,
    seed: Annotated[int, typer.Option(help="Other seeds give other texts.")] = 0,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="In wordings that are not trained on.")
    ] = False,
) -> None:
    """Write texts with sums in many wordings, with a blank line between them."""
    from ...lm.sums import draw_problem, draw_text

    rng = random.Random(seed)
    # Sums alone teach most for their length; the longer texts, where not to compute.
    texts = [
        draw_text(rng, held_out) if rng.random() < 0.4 else draw_problem(rng, held_out).text
        for _ in range(count)
    ]
    with whole(out) as part:
        part.write_text("\n\n".join(text.strip() for text in texts) + "\n", encoding="utf-8")
    print_line(f"{count} texts are in {out}")
