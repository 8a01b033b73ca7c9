"""`arithmix recover`."""

from typing import Annotated

import typer

from ..table import write
from ._options import Device, Format, console, find_device, print_line


def recover(
    count: Annotated[int, typer.Option(help="Programs of three steps.")] = 500,
    deep: Annotated[int, typer.Option(help="Programs of four steps over five inputs.")] = 100,
    noise: Annotated[float, typer.Option(help="Noise on the answers, in the second half.")] = 0.01,
    others: Annotated[int, typer.Option(help="Programs of each kind for soft plans.")] = 20,
    seed: Annotated[int, typer.Option(help="Which programs and examples are drawn.")] = 0,
    device: Device = "cpu",
    form: Format = "terminal",
    quiet: Annotated[bool, typer.Option("--quiet", help="Say only the result.")] = False,
) -> None:
    """Learn all short programs from examples, and judge what comes back far from them."""
    if count < 1 or min(deep, others, seed) < 0 or not 0 <= noise < 1:
        raise ValueError(
            f"recover needs a program at least, noise below 1 and nothing below 0; count={count}, "
            f"got deep={deep}, others={others}, noise={noise} and seed={seed}"
        )
    from ..dag.recover import recover as run

    say = (lambda text: None) if quiet else print_line
    table = run(count, deep, noise, others, device=find_device(device), seed=seed, say=say)
    write([table], form, console())
