r"""G-NALU, the golden ratio NALU: a NALU with the golden ratio as the base of its functions.

    \sigma_\phi(z) = 1 / (1 + \phi^{-z}) = \sigma(z \ln\phi),    \phi = (1 + \sqrt 5) / 2
    \tanh_\phi(z) = (\phi^{2z} - 1) / (\phi^{2z} + 1) = \tanh(z \ln\phi)
    w_ji = \tanh_\phi(\hat w_ji) \sigma_\phi(\hat m_ji)
    a_j = \sum_i w_ji x_i                     m_j = \exp \sum_i w_ji \ln(|x_i| + 10^{-7})
    g_j = \sigma_\phi(\sum_i G_ji x_i)        y_j = g_j a_j + (1 - g_j) m_j

It is the NALU with \hat w, \hat m and G scaled by \ln\phi = 0.481, and loses signs as that does.

Rana, Malhi & Främling, Exploring Numerical Calculations with CalcNet, ICTAI 2019.

Where this differs from the paper, and why:

- The functions are written with the usual base and a scaled argument: powers of \phi overflow.
- So is the product: \phi to the power of a logarithm of base \phi is the number itself.
- The draws are the NALU's, not rescaled, as in the original benchmark.
"""

import math
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..names import choose
from ._base import Unit
from ._math import (
    FAR,
    draw_nac,
    exact_product,
    exact_sum,
    finite_gradient,
    nac_state,
    nac_weight,
    selection,
    sparsity_error,
)
from ._text import gated_text, joined, require_single, rounded
from .nalu import gate_logit, nalu

LN_PHI = math.log((1 + math.sqrt(5)) / 2)


def gnalu(
    x: Float[Tensor, "*batch in"],
    w_hat: Float[Tensor, "*pop out in"],
    m_hat: Float[Tensor, "*pop out in"],
    g: Float[Tensor, "*pop out in"],
) -> Float[Tensor, "*batch out"]:
    """A NALU with the golden ratio in its gate and weights."""
    w_hat, m_hat, g = (LN_PHI * finite_gradient(t) for t in (w_hat, m_hat, g))
    return nalu(x, w_hat, m_hat, g)


class GNALU(Unit):
    """Golden ratio neural arithmetic logic unit.

    >>> unit = GNALU(2, 1)
    >>> _ = unit.load_state_dict(unit.solution("div"))
    >>> unit.harden()(torch.tensor([[3.0, 4.0]])).item()
    0.75
    >>> unit.expression()
    'abs(x0) / abs(x1)'
    """

    name: ClassVar[str] = "gnalu"
    exact: ClassVar[frozenset[str]] = frozenset({"add", "sub", "mul", "div"})
    signed: bool = False

    w_hat: Float[Tensor, "*pop out in"]
    m_hat: Float[Tensor, "*pop out in"]
    g: Float[Tensor, "*pop out in"]

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """A NAC, and then a gate from Glorot's uniform distribution."""
        drawn = draw_nac(self.in_features, self.out_features, generator)
        g = torch.empty(self.out_features, self.in_features)
        return drawn | {"g": nn.init.xavier_uniform_(g, generator=generator)}

    def solution(self, operation: str) -> dict[str, Tensor]:
        """Weights of -1 and 1 to the last bit, and a gate that is decided for positive inputs."""
        choose(operation, sorted(self.exact), "operation")
        far = FAR if operation in ("add", "sub") else -FAR
        return nac_state(selection(operation, self.w_hat)) | {"g": torch.full_like(self.g, far)}

    def weights(self) -> Float[Tensor, "*pop out in"]:
        """The weights of both paths."""
        return nac_weight(LN_PHI * self.w_hat, LN_PHI * self.m_hat)

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Mix sum and product."""
        return gnalu(x, self.w_hat, self.m_hat, self.g)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Sum or multiply exactly, as the gate says for each sample."""
        w = self.weights().detach()
        additive = gate_logit(x, self.g.detach()) >= 0
        return torch.where(additive, exact_sum(x, w), exact_product(x.abs(), w))

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """The largest distance of a weight from -1, 0 and 1; the gate is not looked at."""
        return sparsity_error(self.weights())

    def round_(self) -> None:
        """Round the weights; the gate is rounded for each sample, by `hard`."""
        self.load_state_dict(nac_state(self.weights().detach().round()) | {"g": self.g.detach()})

    def expression(self) -> str:
        """Read the formula, as `x0 + x1`; a gate that depends on the inputs is shown."""
        require_single(self.population)
        gate = "step" if self.hardened else "sigmoid_phi"
        rows = zip(rounded(self.g), rounded(self.weights()), strict=True)
        return joined(gated_text(g, w, gate) for g, w in rows)
