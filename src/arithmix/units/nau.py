r"""NAU, the neural addition unit: a sum of the inputs with weights from -1 to 1.

    y_j = \sum_i clamp(w_ji, -1, 1) x_i
    penalty = \lambda s(t) mean_ji min(|w_ji|, |1 - |w_ji||)
    s(t) = clamp((t - t0) / (t1 - t0), 0, 1)

Madsen & Johansen, Neural Arithmetic Units, ICLR 2020. https://arxiv.org/abs/2001.05016

Where this differs from the paper, and why:

- \lambda = 0.01 and the ramp from t0 = 20,000 to t1 = 35,000 are those of the original benchmark
  (Mistry, Farrahi & Hare, A Primer for Neural Arithmetic Logic Modules, JMLR 2022). For ten inputs
  and more it has 50,000 to 75,000.
- The weights are clamped in the forward pass as well as after each update, as in the paper's code.
- A sum that overflows is held at the dtype's largest number.
"""

import math
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..names import choose
from ._base import Recipe, Unit
from ._math import (
    bounded,
    discreteness,
    exact_sum,
    finite_gradient,
    ramp,
    selection,
    sparsity_error,
    weighted_sum,
    working_dtype,
)
from ._text import joined, require_single, rounded, sum_text


def nau(
    x: Float[Tensor, "*batch in"], w: Float[Tensor, "*pop out in"]
) -> Float[Tensor, "*batch out"]:
    """Sum the inputs with the weights `w`, clamped to [-1, 1]."""
    result, dtype = torch.promote_types(x.dtype, w.dtype), working_dtype(x, w)
    x, w = (finite_gradient(t).to(dtype) for t in (x, w))
    return bounded(weighted_sum(x, w.clamp(-1, 1))).to(result)


class NAU(Unit):
    r"""Neural addition unit.

    Args:
        in_features: Numbers in.
        out_features: Numbers out.
        weight: \lambda, the weight of the penalty at the end of its ramp.
        ramp_start: The step at which the penalty begins.
        ramp_end: The step from which it has its full weight.
        population: Leading shape of the parameters.
        generator: Where the weights are drawn from.
        device: Where the parameters live.
        dtype: Their dtype.

    >>> unit = NAU(2, 1)
    >>> _ = unit.load_state_dict(unit.solution("sub"))
    >>> unit(torch.tensor([[3.0, -4.0]])).item()
    7.0
    >>> unit.expression()
    'x0 - x1'
    """

    name: ClassVar[str] = "nau"
    exact: ClassVar[frozenset[str]] = frozenset({"add", "sub"})

    w: Float[Tensor, "*pop out in"]

    def __init__(
        self,
        in_features: int,
        out_features: int = 1,
        *,
        weight: float = 0.01,
        ramp_start: int = 20_000,
        ramp_end: int = 35_000,
        population: tuple[int, ...] = (),
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if ramp_end <= ramp_start:
            raise ValueError(f"ramp_end must be after ramp_start={ramp_start}; got {ramp_end}")
        self.weight = weight
        self.ramp_start = ramp_start
        self.ramp_end = ramp_end
        super().__init__(
            in_features,
            out_features,
            population=population,
            generator=generator,
            device=device,
            dtype=dtype,
        )

    @classmethod
    def recipe(cls, operation: str, inputs: int = 2) -> Recipe:
        """The original benchmark's: with idle inputs it trains twice as long, and ramps later."""
        if inputs == 2:
            return Recipe()
        return Recipe(steps=100_000, arguments={"ramp_start": 50_000, "ramp_end": 75_000})

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """Glorot's uniform distribution, but never wider than [-0.5, 0.5]."""
        r = min(0.5, math.sqrt(6 / (self.in_features + self.out_features)))
        w = torch.empty(self.out_features, self.in_features).uniform_(-r, r, generator=generator)
        return {"w": w}

    def solution(self, operation: str) -> dict[str, Tensor]:
        """All ones, or minus ones from the second input on."""
        choose(operation, sorted(self.exact), "operation")
        return {"w": selection(operation, self.w)}

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Sum the weighted inputs."""
        return nau(x, self.w)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Sum the selected inputs exactly."""
        return exact_sum(x, self.w.detach())

    def penalty(
        self, step: Float[Tensor, ""], validation: Float[Tensor, "*pop"]
    ) -> Float[Tensor, "*pop"]:
        """The mean distance of the weights from -1, 0 and 1, on its ramp."""
        scale = self.weight * ramp(step, self.ramp_start, self.ramp_end)
        return scale * discreteness(self.w).mean((-2, -1))

    def project(self) -> None:
        """Clamp the weights to [-1, 1]."""
        with torch.no_grad():
            self.w.clamp_(-1, 1)

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """The largest distance of a clamped weight from -1, 0 and 1."""
        return sparsity_error(self.w.clamp(-1, 1))

    def round_(self) -> None:
        """Round the weights to -1, 0 and 1."""
        self.w.copy_(self.w.round().clamp(-1, 1))

    def expression(self) -> str:
        """Read the sum, as `x0 - x1`."""
        require_single(self.population)
        return joined(sum_text(row) for row in rounded(self.w.clamp(-1, 1)))
