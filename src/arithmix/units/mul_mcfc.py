r"""MulMCFC, the mass-conserving layer in log space: a product of its inputs behind a gate.

    q_ij = softmax_j(r_ij)                 o_j = \sigma(w_j + c_j)
    y_j = s_j \exp(o_j \sum_i q_ij \ln|x_i| + \alpha_j)

    s_j = 1                                              sign="none"
    s_j = \prod_i (sign(x_i) q_ij + 1 - q_ij)            sign="inalu"
    s_j = \cos(\pi \sum_i clamp(g_i, 0, 1) [x_i < 0] q_ij)    sign="real_npu"

    penalty = -\lambda s(t) (mean r^2 + mean w^2 + mean c^2)
              + s(t) mean min(|g|, |1 - g|)              sign="real_npu" alone
    s(t) = clamp((t - t0) / (t1 - t0), 0, 1)

With one output q is 1. The gate has no say in the sign.

Hoedt et al., MC-LSTM: Mass-Conserving LSTM, ICML 2021. https://arxiv.org/abs/2101.05186

Where this differs from the paper, and why:

- It is the layer of the original benchmark (Mistry, Farrahi & Hare, A Primer for Neural Arithmetic
  Logic Modules, JMLR 2022, in its later code), which adds the two signs and leaves out the paper's
  spare output. \lambda = 10 and the ramp from step 20,000 to 35,000 are its own.
- With sign="none" too the logarithm is that of the magnitude; the original's is NaN below zero.
  Magnitudes are floored at the dtype's smallest normal number, and e^z ends below its largest.
- The sparsity error leaves out alpha and g, as the original's tables do.
"""

import math
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..names import choose
from ._base import Recipe, Unit
from ._math import (
    FAR,
    bounded_exp,
    bounded_product,
    draw_mcfc,
    exact_product,
    finite_gradient,
    mcfc,
    mcfc_reward,
    over_batch,
    per_output,
    ramp,
    sparsity_error,
    weighted_sum,
    working_dtype,
)
from ._text import joined, product_text, require_single, rounded

SIGNS = ("none", "inalu", "real_npu")


def mul_mcfc(
    x: Float[Tensor, "*batch in"],
    r: Float[Tensor, "*pop in out"],
    w: Float[Tensor, "*pop out 1"],
    c: Float[Tensor, "*pop out"],
    alpha: Float[Tensor, "*pop out"],
) -> Float[Tensor, "*batch out"]:
    """The magnitude: an MCFC of logarithms, and back."""
    logs = x.abs().clamp(min=torch.finfo(x.dtype).tiny).log()
    return bounded_exp(mcfc(logs, r, w, c) + per_output(alpha))


def inalu_sign(
    x: Float[Tensor, "*batch in"], q: Float[Tensor, "*pop out in"]
) -> Float[Tensor, "*batch out"]:
    """The product of the signs that `q` selects; a zero has the sign 0."""
    q = over_batch(q)
    return bounded_product(x.sign().unsqueeze(-2) * q + 1 - q)


def real_npu_sign(
    x: Float[Tensor, "*batch in"], q: Float[Tensor, "*pop out in"], g: Float[Tensor, "*pop in"]
) -> Float[Tensor, "*batch out"]:
    """Half a turn for each negative input that `q` and the gate `g` select."""
    k = per_output(g.clamp(0, 1)) * ((x < 0).to(x.dtype) * math.pi)
    return torch.cos(weighted_sum(k, q))


class MulMCFC(Unit):
    r"""Mass-conserving fully connected layer for products.

    Args:
        in_features: Numbers in.
        out_features: Numbers out.
        sign: "none" for a product of magnitudes, "inalu" or "real_npu" for that unit's sign.
        weight: \lambda, the weight of the penalty at the end of its ramp.
        ramp_start: The step at which the penalty begins.
        ramp_end: The step from which it has its full weight.
        population: Leading shape of the parameters.
        generator: Where the parameters are drawn from.
        device: Where the parameters live.
        dtype: Their dtype.

    >>> unit = MulMCFC(2, 1, sign="inalu")
    >>> _ = unit.load_state_dict(unit.solution("mul"))
    >>> unit.harden()(torch.tensor([[3.0, -4.0]])).item()
    -12.0
    >>> unit.expression()
    'x0 * x1'
    """

    name: ClassVar[str] = "mul_mcfc"
    exact: ClassVar[frozenset[str]] = frozenset({"mul"})
    signed: bool = False

    r: Float[Tensor, "*pop in out"]
    w: Float[Tensor, "*pop out 1"]
    c: Float[Tensor, "*pop out"]
    alpha: Float[Tensor, "*pop out"]
    g: Float[Tensor, "*pop in"]

    def __init__(
        self,
        in_features: int,
        out_features: int = 1,
        *,
        sign: str = "none",
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
        self.sign = choose(sign, SIGNS, "sign")
        self.signed = sign != "none"
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
        """A random direction for r, +-1 for w, 0 for c and alpha, and 0.5 for g."""
        drawn = draw_mcfc(self.in_features, self.out_features, generator)
        drawn["alpha"] = torch.zeros(self.out_features)
        if self.sign == "real_npu":
            drawn["g"] = torch.full((self.in_features,), 0.5)
        return drawn

    def solution(self, operation: str) -> dict[str, Tensor]:
        """Open gates."""
        choose(operation, sorted(self.exact), "operation")
        if self.out_features > 1:
            raise ValueError(
                f"MulMCFC divides each input among its outputs, so one output alone can be the "
                f"product; got out_features={self.out_features}"
            )
        state = {key: torch.zeros_like(p) for key, p in self.named_parameters()}
        state["w"] += FAR
        if self.sign == "real_npu":
            state["g"] += 1
        return state

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply behind the gate."""
        result, dtype = torch.promote_types(x.dtype, self.r.dtype), working_dtype(x, self.r)
        x, r, w, c, alpha = (
            finite_gradient(t).to(dtype) for t in (x, self.r, self.w, self.c, self.alpha)
        )
        return self._with_sign(mul_mcfc(x, r, w, c, alpha), x, r).to(result)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply the inputs that are given to each output exactly."""
        result, dtype = torch.promote_types(x.dtype, self.r.dtype), working_dtype(x, self.r)
        x, r = (finite_gradient(t).to(dtype) for t in (x, self.r))
        return self._with_sign(exact_product(x.abs(), self._powers()), x, r).to(result)

    def penalty(
        self, step: Float[Tensor, ""], validation: Float[Tensor, "*pop"]
    ) -> Float[Tensor, "*pop"]:
        """In effect a reward for large parameters, and a penalty on an undecided g."""
        scale = ramp(step, self.ramp_start, self.ramp_end)
        penalty = -self.weight * scale * mcfc_reward(self.r, self.w, self.c)
        if self.sign == "real_npu":
            penalty = penalty + scale * torch.minimum(self.g.abs(), (1 - self.g).abs()).mean(-1)
        return penalty

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """The mean of the shares' and the gate's distance from discrete."""
        return (sparsity_error(self.r.softmax(-1)) + sparsity_error(self._gate())) / 2

    def round_(self) -> None:
        """Give each input to one output, and open or shut the gates."""
        chosen = torch.zeros_like(self.r).scatter_(-1, self.r.argmax(-1, keepdim=True), FAR)
        self.w.copy_(torch.where(self.w + self.c.unsqueeze(-1) >= 0, FAR, -FAR))
        self.r.copy_(chosen)
        self.c.zero_()
        self.alpha.zero_()
        if self.sign == "real_npu":
            self.g.copy_(self.g.round().clamp(0, 1))

    def expression(self) -> str:
        """Read the formula, as `x0 * x1`; without signs it is one of magnitudes."""
        require_single(self.population)
        form = "abs(x{})" if self.sign == "none" else "x{}"
        names = [form.format(i) for i in range(self.in_features)]
        factors = rounded(self.alpha.exp())
        rows = rounded(self._powers())
        return joined(
            ("" if factor == 1 else f"{factor:.4g} * ") + product_text(row, names)
            for factor, row in zip(factors, rows, strict=True)
        )

    def _with_sign(self, y: Tensor, x: Tensor, r: Tensor) -> Tensor:
        if self.sign == "inalu":
            return y * inalu_sign(x, r.softmax(-1).mT)
        if self.sign == "real_npu":
            return y * real_npu_sign(x, r.softmax(-1).mT, finite_gradient(self.g).to(x.dtype))
        return y

    def _gate(self) -> Float[Tensor, "*pop out 1"]:
        return torch.sigmoid(self.w + self.c.unsqueeze(-1))

    def _powers(self) -> Float[Tensor, "*pop out in"]:
        """The power of each input in each output: gate times share."""
        return self._gate() * self.r.softmax(-1).mT
