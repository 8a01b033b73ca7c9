r"""iNALU, the improved NALU: two sets of weights, a gate of its own, and a product with a sign.

    w^a_ij = \tanh(\hat w^a_ij) \sigma(\hat m^a_ij),    and w^m_ij likewise
    a_j = \sum_i w^a_ij x_i
    m_j = \exp \min(\sum_i w^m_ij \ln \max(|x_i|, 10^{-7}), 20)
    s_j = \prod_i (sign(x_i) |w^m_ij| + 1 - |w^m_ij|)
    y_j = \sigma(g_j) a_j + (1 - \sigma(g_j)) m_j s_j
    penalty = 0.05 \sum_p mean \max(0, 20 - |p|), over the five parameters p

Schlör, Ring & Hotho, iNALU: Improved Neural Arithmetic Logic Unit, Frontiers in Artificial
Intelligence 2020. https://arxiv.org/abs/2003.07629

Where this differs from the paper, and why:

- The penalty is on after step 10,000 while the last known validation error is below 1. This rule is
  that of the original benchmark (Mistry, Farrahi & Hare, A Primer for Neural Arithmetic Logic
  Modules, JMLR 2022).
- A unit that is stuck is not drawn anew. The original benchmark's test for that compares the two
  halves of all errors since the start, and the large early ones keep it from ever firing.
- A sum that overflows is held at the dtype's largest number.
"""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..names import choose
from ._base import Recipe, Unit
from ._math import (
    FAR,
    bounded,
    bounded_product,
    exact_product,
    exact_sum,
    finite_gradient,
    nac_state,
    nac_weight,
    over_batch,
    per_output,
    selection,
    sparsity_error,
    weighted_sum,
    working_dtype,
)
from ._recipe import Restart
from ._text import joined, mixture_text, product_text, require_single, rounded, sum_text

EPSILON = 1e-7
OMEGA = 20.0


def inalu(
    x: Float[Tensor, "*batch in"],
    w_a: Float[Tensor, "*pop out in"],
    w_m: Float[Tensor, "*pop out in"],
    gate: Float[Tensor, "*pop out"],
) -> Float[Tensor, "*batch out"]:
    """Mix the sum with weights `w_a` and the signed product of powers `w_m` by `gate`."""
    x, w_a, w_m = finite_gradient(x), finite_gradient(w_a), finite_gradient(w_m)
    gate, size = per_output(finite_gradient(gate)), over_batch(w_m.abs())
    a = bounded(weighted_sum(x, w_a))
    m = weighted_sum(x.abs().clamp(min=EPSILON).log(), w_m).clamp(max=OMEGA).exp()
    s = bounded_product(x.sign().unsqueeze(-2) * size + 1 - size)
    return gate * a + (1 - gate) * m * s


class INALU(Unit):
    """Improved neural arithmetic logic unit.

    >>> unit = INALU(2, 1)
    >>> _ = unit.load_state_dict(unit.solution("div"))
    >>> unit.harden()(torch.tensor([[3.0, -4.0]])).item()
    -0.75
    >>> unit.expression()
    'x0 / x1'
    """

    name: ClassVar[str] = "inalu"
    exact: ClassVar[frozenset[str]] = frozenset({"add", "sub", "mul", "div"})

    w_a: Float[Tensor, "*pop in out"]
    m_a: Float[Tensor, "*pop in out"]
    w_m: Float[Tensor, "*pop in out"]
    m_m: Float[Tensor, "*pop in out"]
    g: Float[Tensor, "*pop out"]

    @classmethod
    def recipe(cls, operation: str, inputs: int = 2) -> Recipe:
        """The original benchmark's."""
        return Recipe(clip_value=0.1, restart=Restart())

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """Normal draws that start near a sum and a product of all inputs, and the gate open."""
        shape = (self.in_features, self.out_features)
        drawn = {}
        for key, mean in (("w_a", 0.88), ("m_a", 0.5), ("w_m", 0.88), ("m_m", 0.5)):
            drawn[key] = torch.empty(shape).normal_(mean, 0.2, generator=generator)
        drawn["g"] = torch.empty(self.out_features).normal_(0.0, 0.2, generator=generator)
        return drawn

    def solution(self, operation: str) -> dict[str, Tensor]:
        """Weights of -1 and 1 and a gate of 0 or 1, to the last bit."""
        choose(operation, sorted(self.exact), "operation")
        w = selection(operation, self.w_a.mT).mT
        far = FAR if operation in ("add", "sub") else -FAR
        return self._state(w, w, torch.full_like(self.g, far))

    def weights(self) -> tuple[Float[Tensor, "*pop out in"], Float[Tensor, "*pop out in"]]:
        """The weights of the sum and those of the product."""
        return nac_weight(self.w_a, self.m_a).mT, nac_weight(self.w_m, self.m_m).mT

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Mix sum and product."""
        result, dtype = torch.promote_types(x.dtype, self.g.dtype), working_dtype(x, self.g)
        w_a, w_m = (w.to(dtype) for w in self.weights())
        return inalu(x.to(dtype), w_a, w_m, torch.sigmoid(self.g).to(dtype)).to(result)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Sum or multiply exactly."""
        w_a, w_m = (w.detach() for w in self.weights())
        return torch.where(per_output(self.g >= 0), exact_sum(x, w_a), exact_product(x, w_m))

    def penalty(
        self, step: Float[Tensor, ""], validation: Float[Tensor, "*pop"]
    ) -> Float[Tensor, "*pop"]:
        """Push every parameter to a magnitude of 20, late in a training that goes well."""
        missing = (OMEGA - self.g.abs()).clamp(min=0).mean(-1)
        for p in (self.w_a, self.m_a, self.w_m, self.m_m):
            missing = missing + (OMEGA - p.abs()).clamp(min=0).mean((-2, -1))
        return torch.where((step > 10_000) & (validation < 1), 0.05 * missing, 0.0)

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """The mean of the two weights' largest distances from -1, 0 and 1; not the gate's."""
        w_a, w_m = self.weights()
        return (sparsity_error(w_a) + sparsity_error(w_m)) / 2

    def round_(self) -> None:
        """Round the weights and the gate."""
        w_a, w_m = (w.detach().round().mT for w in self.weights())
        g = self.g.detach()
        self.load_state_dict(self._state(w_a, w_m, torch.where(g >= 0, FAR, -FAR).to(g)))

    def expression(self) -> str:
        """Read the formula, as `x0 * x1`; an undecided gate reads as a mix of two."""
        require_single(self.population)
        w_a, w_m = self.weights()
        rows = zip(rounded(torch.sigmoid(self.g)), rounded(w_a), rounded(w_m), strict=True)
        return joined(mixture_text(g, sum_text(a), product_text(m)) for g, a, m in rows)

    def _state(self, w_a: Tensor, w_m: Tensor, g: Tensor) -> dict[str, Tensor]:
        a, m = nac_state(w_a), nac_state(w_m)
        return {
            "w_a": a["w_hat"],
            "m_a": a["m_hat"],
            "w_m": m["w_hat"],
            "m_m": m["m_hat"],
            "g": g,
        }
