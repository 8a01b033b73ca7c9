r"""sNMU, the stochastic NMU: an NMU that trains on noisy inputs and takes the noise out again.

    y_j = \prod_i (w_ji n_i x_i + 1 - w_ji) / \prod_i (w_ji n_i + 1 - w_ji) in training
    y_j = \prod_i (w_ji x_i + 1 - w_ji) in evaluation,    w_ji in [0, 1]

    n_i ~ U[1, 5] with noise="range",    n_i ~ U[1, 1 + 1 / sd(x)] with noise="batch"

    penalty = \lambda s(t) mean_ji min(|w_ji|, |1 - w_ji|)
    s(t) = clamp((t - t0) / (t1 - t0), 0, 1)

The two forms agree at weights of 0 and 1 alone, whatever the noise. sd(x) is the standard deviation
of all numbers in the batch.

Mistry, Farrahi & Hare, Improving the Robustness of Neural Multiplication Units with Reversible
Stochasticity, 2022. https://arxiv.org/abs/2211.05624

Where this differs from the paper, and why:

- The noise is a hash of the sample, all of its inputs together, and not a draw from a generator: a
  forward pass has no state. Samples are fresh at every step, so a hash of them is as good as fresh
  noise. On a fixed data set each sample keeps its noise.
- \lambda = 10 and the ramp from step 20,000 to 35,000 are those of the paper's script. In its code
  a wrapper around the single layer seems to keep penalty and clamp from acting; here both act.
- sd(x) is floored at the dtype's epsilon, for a batch of equal numbers.
- A product that overflows is held at the dtype's largest number.
"""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..names import choose
from ._base import Unit
from ._math import (
    bounded,
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

MASK = 2**32 - 1
NOISES = ("range", "batch")


def snmu(
    x: Float[Tensor, "*batch in"],
    w: Float[Tensor, "*pop out in"],
    n: Float[Tensor, "*batch in"] | None = None,
) -> Float[Tensor, "*batch out"]:
    """Multiply the inputs that `w` selects, under the noise `n` in training."""
    result, dtype = torch.promote_types(x.dtype, w.dtype), working_dtype(x, w)
    x, w = (finite_gradient(t).to(dtype) for t in (x, w))
    w = over_batch(w)
    if n is None:
        return bounded_product(w * x.unsqueeze(-2) + 1 - w).to(result)
    n = n.to(dtype)
    noisy = bounded_product(w * bounded(n * x).unsqueeze(-2) + 1 - w)
    return (noisy / bounded_product(w * n.unsqueeze(-2) + 1 - w)).to(result)


def uniform_hash(x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch in"]:
    """Numbers uniform on [0, 1), one per input, that look independent of each other and of `x`.

    They are a function of the bits of the whole sample, in integers that never leave 63 bits, so
    every device computes the same.
    """
    bits = mixed(x.detach().float().view(torch.int32).long() & MASK)
    place = torch.arange(1, 2 * x.shape[-1], 2, device=x.device)
    sample = (bits * place).sum(-1, keepdim=True)
    return (mixed((mixed(sample & MASK) + place) & MASK) >> 8).float() * 2.0**-24


def mixed(h: Tensor) -> Tensor:
    """Spread every bit of a 32-bit number over all of them."""
    for _ in range(2):
        h = ((h ^ (h >> 16)) * 0x45D9F3B) & MASK
    return h ^ (h >> 16)


class SNMU(Unit):
    r"""Stochastic neural multiplication unit.

    Args:
        in_features: Numbers in.
        out_features: Numbers out.
        noise: "range" for U[1, 5], "batch" for a range that follows the batch.
        weight: \lambda, the weight of the penalty at the end of its ramp.
        ramp_start: The step at which the penalty begins.
        ramp_end: The step from which it has its full weight.
        population: Leading shape of the parameters.
        generator: Where the weights are drawn from.
        device: Where the parameters live.
        dtype: Their dtype.

    >>> unit = SNMU(2, 1)
    >>> _ = unit.load_state_dict(unit.solution("mul"))
    >>> unit.eval()(torch.tensor([[3.0, -4.0]])).item()
    -12.0
    >>> unit.expression()
    'x0 * x1'
    """

    name: ClassVar[str] = "snmu"
    exact: ClassVar[frozenset[str]] = frozenset({"mul"})

    w: Float[Tensor, "*pop out in"]

    def __init__(
        self,
        in_features: int,
        out_features: int = 1,
        *,
        noise: str = "range",
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
        self.noise = choose(noise, NOISES, "noise")
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
        """Multiply the selected inputs, under noise in training."""
        return snmu(x, self.w, self.noise_of(x) if self.training else None)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply the selected inputs exactly."""
        return exact_product(x, self.w)

    def noise_of(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch in"]:
        """The noise that training multiplies `x` with."""
        x = x.detach().to(working_dtype(x))
        width: float | Tensor = 4.0
        if self.noise == "batch":
            own = tuple(range(self.w.dim() - 2, x.dim()))  # all but the axes of the population
            spread = x.std(own, keepdim=True).clamp(min=torch.finfo(x.dtype).eps)
            width = torch.nan_to_num(1 / spread)  # NaN past the dtype's range, where it is 0
        return 1 + width * uniform_hash(x)

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
