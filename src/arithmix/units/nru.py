r"""NRU, the neural reciprocal unit: a product of signed powers of its inputs, for division.

    y_j = \prod_i (sign(x_i) |x_i|^{w_ji} t_ji + 1 - t_ji),    w_ji in [-1, 1]

    t_ji = \tanh(1000 w_ji)^2 in training,    t_ji = |w_ji| in evaluation

    penalty = \lambda s(t) mean_ji min(|w_ji|, |1 - |w_ji||)
    s(t) = clamp((t - t0) / (t1 - t0), 0, 1)

The two forms agree at weights of -1, 0 and 1 alone: a weight of 0 leaves its input out.

Mistry, Farrahi & Hare, Learning Division with Neural Arithmetic Logic Modules, 2021.
https://arxiv.org/abs/2110.05177

Where this differs from the paper, and why:

- The two forms, \lambda = 10, the ramp from step 20,000 to 35,000 and Adam's rate of 1 are those of
  the paper's code for two inputs. With ten it has a rate of 1e-3, and 50,000 to 75,000.
- Magnitudes are floored at the dtype's smallest normal number, and products end at its largest, so
  that dividing by 0 stays finite.
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
    bounded_product,
    discreteness,
    exact_product,
    finite_gradient,
    over_batch,
    ramp,
    selection,
    sparsity_error,
    working_dtype,
)
from ._text import joined, product_text, require_single, rounded


def nru(
    x: Float[Tensor, "*batch in"], w: Float[Tensor, "*pop out in"], *, training: bool = False
) -> Float[Tensor, "*batch out"]:
    """Multiply signed powers of the inputs, in the form for training or in that for evaluation."""
    result, dtype = torch.promote_types(x.dtype, w.dtype), working_dtype(x, w)
    x, w = (finite_gradient(t).to(dtype) for t in (x, w))
    x, w = x.unsqueeze(-2), over_batch(w)
    t = torch.tanh(1000 * w).square() if training else w.abs()
    power = bounded(x.abs().clamp(min=torch.finfo(dtype).tiny).pow(w))
    return bounded_product(x.sign() * power * t + 1 - t).to(result)


class NRU(Unit):
    r"""Neural reciprocal unit.

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

    >>> unit = NRU(2, 1)
    >>> _ = unit.load_state_dict(unit.solution("div"))
    >>> unit(torch.tensor([[3.0, -4.0]])).item()
    -0.75
    >>> unit.expression()
    'x0 / x1'
    """

    name: ClassVar[str] = "nru"
    exact: ClassVar[frozenset[str]] = frozenset({"mul", "div"})

    w: Float[Tensor, "*pop out in"]

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
        """The paper's; for two inputs its steps are so large that weights jump from -1 to 1."""
        if inputs == 2:
            return Recipe(rate=1.0)
        late = {"ramp_start": 50_000, "ramp_end": 75_000}
        return Recipe(rate=1e-3, steps=100_000, arguments=late)

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
        """Multiply the powers."""
        return nru(x, self.w, training=self.training)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply and divide by the selected inputs exactly."""
        return exact_product(x, self.w)

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
        """The largest distance of a weight from -1, 0 and 1."""
        return sparsity_error(self.w)

    def round_(self) -> None:
        """Round the weights to -1, 0 and 1."""
        self.w.copy_(self.w.round().clamp(-1, 1))

    def expression(self) -> str:
        """Read the product of powers, as `x0 / x1`."""
        require_single(self.population)
        return joined(product_text(row) for row in rounded(self.w))
