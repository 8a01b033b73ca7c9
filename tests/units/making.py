"""Units and numbers to try them on."""

import torch
from torch import Tensor

from arithmix import Unit

Make = type[Unit]


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def made(unit: Make, operation: str, **more) -> Unit:
    """The unit as its recipe for `operation` makes it."""
    arguments = {"generator": generator(), **unit.recipe(operation).arguments, **more}
    return unit(2, 1, **arguments)


def solved(unit: Make, operation: str, **more) -> Unit:
    one = unit(2, 1, generator=generator(), **more)
    one.load_state_dict(one.solution(operation))
    return one.eval()


def pairs(unit: Make, decades: float, count: int = 200) -> Tensor:
    """Pairs of numbers over `decades` powers of ten, of both signs where the unit has signs."""
    middle = torch.rand(count, 2, generator=generator(1), dtype=torch.float64) - 0.5
    size = 10 ** (middle * decades)
    sign = torch.randint(0, 2, (count, 2), generator=generator(2)) * 2 - 1
    return size * sign if unit(2, 1, generator=generator()).signed else size
