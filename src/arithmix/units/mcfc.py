r"""MCFC, the mass-conserving fully connected layer: a sum of its inputs behind a gate.

    q_ij = softmax_j(r_ij)                 o_j = \sigma(w_j + c_j)
    y_j = o_j \sum_i q_ij x_i

Each input is divided among the outputs, and a gate lets a part of what arrives out. With one output
q is 1 and the unit is the sum times a number between 0 and 1. The penalty is negative: it draws the
parameters away from 0, and so the gate towards open or shut.

    penalty = -\lambda s(t) (mean r^2 + mean w^2 + mean c^2)
    s(t) = clamp((t - t0) / (t1 - t0), 0, 1)

Hoedt et al., MC-LSTM: Mass-Conserving LSTM, ICML 2021. https://arxiv.org/abs/2101.05186

Where this differs from the paper, and why:

- It is the layer of the original benchmark (Mistry, Farrahi & Hare, A Primer for Neural Arithmetic
  Logic Modules, JMLR 2022, in its later code): no recurrence, and the gate sees the constant 1.
  \lambda = 10 and the ramp from step 20,000 to 35,000 are its own.
- A sum past the dtype's range becomes its largest number, so that values stay finite.
"""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..names import choose
from ._base import Recipe, Unit
from ._math import (
    FAR,
    draw_mcfc,
    exact_sum,
    finite_gradient,
    mcfc,
    mcfc_reward,
    ramp,
    sparsity_error,
    working_dtype,
)
from ._text import joined, require_single, rounded, sum_text


class MCFC(Unit):
    r"""Mass-conserving fully connected layer.

    Args:
        in_features: Numbers in.
        out_features: Numbers out.
        weight: \lambda, the weight of the penalty at the end of its ramp.
        ramp_start: The step at which the penalty begins.
        ramp_end: The step from which it has its full weight.
        population: Leading shape of the parameters.
        generator: Where the parameters are drawn from.
        device: Where the parameters live.
        dtype: Their dtype.

    >>> unit = MCFC(2, 1)
    >>> _ = unit.load_state_dict(unit.solution("add"))
    >>> unit.harden()(torch.tensor([[3.0, -4.0]])).item()
    -1.0
    >>> unit.expression()
    'x0 + x1'
    """

    name: ClassVar[str] = "mcfc"
    exact: ClassVar[frozenset[str]] = frozenset({"add"})

    r: Float[Tensor, "*pop in out"]
    w: Float[Tensor, "*pop out 1"]
    c: Float[Tensor, "*pop out"]

    def __init__(
        self,
        in_features: int,
        out_features: int = 1,
        *,
        weight: float = 10.0,
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
        """The original benchmark's; all of its draws are made by `draw`."""
        return Recipe(draws=1)

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """A random direction for r, +-1 for w, and 0 for c."""
        return draw_mcfc(self.in_features, self.out_features, generator)

    def solution(self, operation: str) -> dict[str, Tensor]:
        """An open gate."""
        choose(operation, sorted(self.exact), "operation")
        if self.out_features > 1:
            raise ValueError(
                f"MCFC divides each input among its outputs, so one output alone can be the sum; "
                f"got out_features={self.out_features}"
            )
        return {
            "r": torch.zeros_like(self.r),
            "w": torch.full_like(self.w, FAR),
            "c": torch.zeros_like(self.c),
        }

    def weights(self) -> Float[Tensor, "*pop out in"]:
        """What each input counts for in each output: gate times share."""
        return self._gate() * self.r.softmax(-1).mT

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Sum behind the gate."""
        result, dtype = torch.promote_types(x.dtype, self.r.dtype), working_dtype(x, self.r)
        return mcfc(*(finite_gradient(t).to(dtype) for t in (x, self.r, self.w, self.c))).to(result)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Sum the inputs that are given to each output exactly."""
        return exact_sum(x, self.weights().detach())

    def penalty(
        self, step: Float[Tensor, ""], validation: Float[Tensor, "*pop"]
    ) -> Float[Tensor, "*pop"]:
        """In effect a reward for large parameters."""
        scale = self.weight * ramp(step, self.ramp_start, self.ramp_end)
        return -scale * mcfc_reward(self.r, self.w, self.c)

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """The mean of the shares' and the gate's distance from discrete."""
        return (sparsity_error(self.r.softmax(-1)) + sparsity_error(self._gate())) / 2

    def round_(self) -> None:
        """Give each input to one output, and open or shut the gates."""
        chosen = torch.zeros_like(self.r).scatter_(-1, self.r.argmax(-1, keepdim=True), FAR)
        self.w.copy_(torch.where(self.w + self.c.unsqueeze(-1) >= 0, FAR, -FAR))
        self.r.copy_(chosen)
        self.c.zero_()

    def expression(self) -> str:
        """Read the formula, as `x0 + x1`."""
        require_single(self.population)
        return joined(sum_text(row) for row in rounded(self.weights()))

    def _gate(self) -> Float[Tensor, "*pop out 1"]:
        return torch.sigmoid(self.w + self.c.unsqueeze(-1))
