r"""NMRU, the neural multiplicative reciprocal unit: a product of chosen inputs and reciprocals.

    v = [x, 1 / (x + \epsilon)] in training,    v = [x, 1 / x] in evaluation
    y_j = \prod_k (w_jk |v_k| + 1 - w_jk) \cos(\pi \sum_k w_jk [v_k < 0]),    w_jk in [0, 1]

    penalty = \lambda s(t) mean_jk min(|w_jk|, |1 - w_jk|)
    s(t) = clamp((t - t0) / (t1 - t0), 0, 1)

The first half of the weights selects inputs, the second half their reciprocals. With sign=False
there is no cosine, and the signs stay inside the product: y_j = \prod_k (w_jk v_k + 1 - w_jk).

Mistry, Farrahi & Hare, Learning Division with Neural Arithmetic Logic Modules, 2021.
https://arxiv.org/abs/2110.05177

Where this differs from the paper, and why:

- \lambda = 10, the ramp from step 20,000 to 35,000 and \epsilon = 2^-23 are those of the paper's
  code for two inputs. With ten it has 50,000 to 75,000.
- The magnitude under a reciprocal is floored at the dtype's smallest normal number, and products
  end at its largest, so that dividing by 0 stays finite.
"""

import math
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..names import choose
from ._base import Recipe, Unit
from ._math import (
    bounded_product,
    exact_product,
    finite_gradient,
    over_batch,
    ramp,
    sparsity_error,
    weighted_sum,
    working_dtype,
)
from ._text import joined, product_text, require_single, rounded, selection_factors

EPSILON = 2.0**-23


def nmru(
    x: Float[Tensor, "*batch in"],
    w: Float[Tensor, "*pop out twice"],
    *,
    sign: bool = True,
    training: bool = False,
) -> Float[Tensor, "*batch out"]:
    """Multiply the inputs and the reciprocals that `w` selects."""
    result, dtype = torch.promote_types(x.dtype, w.dtype), working_dtype(x, w)
    x, w = (finite_gradient(t).to(dtype) for t in (x, w))
    v = torch.cat([x, away_from_zero(x + EPSILON if training else x).reciprocal()], -1)
    size, chosen = (v.abs() if sign else v).unsqueeze(-2), over_batch(w)
    y = bounded_product(size * chosen + 1 - chosen)
    if sign:
        y = y * torch.cos(weighted_sum((v < 0).to(dtype) * math.pi, w))
    return y.to(result)


def away_from_zero(x: Tensor) -> Tensor:
    """Return `x`, its magnitude no less than the dtype's smallest normal number."""
    tiny = torch.finfo(x.dtype).tiny
    return torch.where(x.abs() < tiny, torch.where(x < 0, -tiny, tiny), x)


class NMRU(Unit):
    r"""Neural multiplicative reciprocal unit.

    Args:
        in_features: Numbers in.
        out_features: Numbers out.
        sign: Compute the sign apart from the magnitude, as the paper's results have it.
        weight: \lambda, the weight of the penalty at the end of its ramp.
        ramp_start: The step at which the penalty begins.
        ramp_end: The step from which it has its full weight.
        population: Leading shape of the parameters.
        generator: Where the weights are drawn from.
        device: Where the parameters live.
        dtype: Their dtype.

    >>> unit = NMRU(2, 1)
    >>> _ = unit.load_state_dict(unit.solution("div"))
    >>> unit(torch.tensor([[3.0, -4.0]])).item()
    -0.75
    >>> unit.expression()
    'x0 / x1'
    """

    name: ClassVar[str] = "nmru"
    exact: ClassVar[frozenset[str]] = frozenset({"mul", "div"})

    w: Float[Tensor, "*pop out twice"]

    def __init__(
        self,
        in_features: int,
        out_features: int = 1,
        *,
        sign: bool = True,
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
        self.sign = sign
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
        """The paper's."""
        if inputs == 2:
            return Recipe(rate=1e-2, clip_norm=1.0)
        late = {"ramp_start": 50_000, "ramp_end": 75_000}
        return Recipe(rate=1e-2, clip_norm=1.0, steps=100_000, arguments=late)

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """Weights around one half."""
        w = torch.empty(self.out_features, 2 * self.in_features)
        return {"w": w.uniform_(0.25, 0.75, generator=generator)}

    def solution(self, operation: str) -> dict[str, Tensor]:
        """All inputs, or the first input and the reciprocals of the others."""
        choose(operation, sorted(self.exact), "operation")
        w = torch.zeros_like(self.w)
        w[..., : self.in_features if operation == "mul" else 1] = 1.0
        if operation == "div":
            w[..., self.in_features + 1 :] = 1.0
        return {"w": w}

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply what is selected."""
        return nmru(x, self.w, sign=self.sign, training=self.training)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply and divide by what is selected exactly."""
        inputs, reciprocals = self.w.chunk(2, -1)
        return exact_product(x, inputs - reciprocals)

    def penalty(
        self, step: Float[Tensor, ""], validation: Float[Tensor, "*pop"]
    ) -> Float[Tensor, "*pop"]:
        """The mean distance of the weights from 0 and 1, on its ramp."""
        scale = self.weight * ramp(step, self.ramp_start, self.ramp_end)
        return scale * torch.minimum(self.w.abs(), (1 - self.w).abs()).mean((-2, -1))

    def project(self) -> None:
        """Clamp the weights to [0, 1]."""
        with torch.no_grad():
            self.w.clamp_(0, 1)

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """The largest distance of a weight's magnitude from 0 and 1."""
        return sparsity_error(self.w)

    def round_(self) -> None:
        """Round the weights to 0 and 1."""
        self.w.copy_(self.w.round().clamp(0, 1))

    def expression(self) -> str:
        """Read the product, as `x0 / x1`; signs aside where a weight is undecided."""
        require_single(self.population)
        return joined(
            _text(row[: self.in_features], row[self.in_features :]) for row in rounded(self.w)
        )


def _text(inputs: list[float], reciprocals: list[float]) -> str:
    """The product of one output; what is selected in part is a factor of its own."""
    factors = selection_factors(inputs) + selection_factors(reciprocals, "{w:.4g} / x{i}")
    above = [float(w != 0) for w in inputs]
    return product_text(above + [-1.0 if w == 1 else float(w != 0) for w in reciprocals], factors)
