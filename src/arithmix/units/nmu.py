r"""NMU, the neural multiplication unit: a product of the inputs its weights select.

    y_j = \prod_i (w_ji x_i + 1 - w_ji),    w_ji in [0, 1]
    penalty = \lambda s(t) mean_ji min(|w_ji|, |1 - w_ji|)
    s(t) = clamp((t - t0) / (t1 - t0), 0, 1)

Madsen & Johansen, Neural Arithmetic Units, ICLR 2020. https://arxiv.org/abs/2001.05016

Where this differs from the paper, and why:

- \lambda = 10 and the ramp from t0 = 20,000 to t1 = 35,000 are those of the original benchmark
  (Mistry, Farrahi & Hare, A Primer for Neural Arithmetic Logic Modules, JMLR 2022).
- The weights are clamped after each update and not in the forward pass, as in the paper's code.
- A product that overflows is held at the dtype's largest number.
"""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..names import choose
from ._base import Unit
from ._math import (
    bounded_product,
    exact_product,
    finite_gradient,
    over_batch,
    ramp,
    selection,
    sparsity_error,
    working_dtype,
)
from ._text import joined, product_text, require_single, rounded, selection_factors


def nmu(
    x: Float[Tensor, "*batch in"], w: Float[Tensor, "*pop out in"]
) -> Float[Tensor, "*batch out"]:
    """Multiply the inputs that `w` selects; an unselected input counts as one."""
    result, dtype = torch.promote_types(x.dtype, w.dtype), working_dtype(x, w)
    x, w = (finite_gradient(t).to(dtype) for t in (x, w))
    x, w = x.unsqueeze(-2), over_batch(w)
    return bounded_product(x * w + 1 - w).to(result)


class NMU(Unit):
    r"""Neural multiplication unit.

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

    >>> unit = NMU(2, 1)
    >>> _ = unit.load_state_dict(unit.solution("mul"))
    >>> unit(torch.tensor([[3.0, -4.0]])).item()
    -12.0
    >>> unit.expression()
    'x0 * x1'
    """

    name: ClassVar[str] = "nmu"
    exact: ClassVar[frozenset[str]] = frozenset({"mul"})

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

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """Weights around one half."""
        w = torch.empty(self.out_features, self.in_features)
        return {"w": w.uniform_(0.25, 0.75, generator=generator)}

    def solution(self, operation: str) -> dict[str, Tensor]:
        """All ones."""
        choose(operation, sorted(self.exact), "operation")
        return {"w": selection(operation, self.w)}

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply the selected inputs."""
        return nmu(x, self.w)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply the selected inputs exactly."""
        return exact_product(x, self.w.detach())

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
        """Read the product, as `x0 * x1`."""
        require_single(self.population)
        return joined(
            product_text([float(w != 0) for w in row], selection_factors(row))
            for row in rounded(self.w)
        )
