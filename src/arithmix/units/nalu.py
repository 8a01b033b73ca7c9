r"""NALU, the neural arithmetic logic unit: its inputs gate a sum and a product of powers.

    w_ji = \tanh(\hat w_ji) \sigma(\hat m_ji)
    a_j = \sum_i w_ji x_i                     m_j = \exp \sum_i w_ji \ln(|x_i| + 10^{-7})
    g_j = \sigma(\sum_i G_ji x_i)             y_j = g_j a_j + (1 - g_j) m_j

Products and quotients lose their signs. The gate has no bias, so that inputs of the other sign turn
it around: a solution is one for positive inputs.

Trask et al., Neural Arithmetic Logic Units, NeurIPS 2018. https://arxiv.org/abs/1808.00508

Where this differs from the paper, and why:

- 10^{-7} is the original benchmark's; the paper leaves its \epsilon open.
- \hat w and \hat m are drawn as in NAC+ (`nac_add.py`), and G from Glorot's distribution.
- Sums and products that overflow are held at large numbers, and the gate looks at no input beyond
  10^{30}.
"""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..names import choose
from ._base import Unit
from ._math import (
    FAR,
    bounded,
    bounded_exp,
    draw_nac,
    exact_product,
    exact_sum,
    finite_gradient,
    nac_state,
    nac_weight,
    selection,
    sparsity_error,
    weighted_sum,
    working_dtype,
)
from ._text import gated_text, joined, require_single, rounded

EPSILON = 1e-7


def nalu(
    x: Float[Tensor, "*batch in"],
    w_hat: Float[Tensor, "*pop out in"],
    m_hat: Float[Tensor, "*pop out in"],
    g: Float[Tensor, "*pop out in"],
) -> Float[Tensor, "*batch out"]:
    """Mix the sum and the product with the weights tanh(w_hat) sigmoid(m_hat)."""
    result, dtype = torch.promote_types(x.dtype, g.dtype), working_dtype(x, w_hat, m_hat, g)
    x, w_hat, m_hat, g = (finite_gradient(t).to(dtype) for t in (x, w_hat, m_hat, g))
    w = nac_weight(w_hat, m_hat)
    a = bounded(weighted_sum(x, w))
    m = bounded_exp(weighted_sum((x.abs() + EPSILON).log(), w))
    gate = torch.sigmoid(gate_logit(x, g))
    return (gate * a + (1 - gate) * m).to(result)


def gate_logit(
    x: Float[Tensor, "*batch in"], g: Float[Tensor, "*pop out in"]
) -> Float[Tensor, "*batch out"]:
    """What the gate sees of the inputs; no difference of two infinities."""
    return weighted_sum(x.clamp(-1e30, 1e30), g)


class NALU(Unit):
    """Neural arithmetic logic unit.

    >>> unit = NALU(2, 1)
    >>> _ = unit.load_state_dict(unit.solution("div"))
    >>> unit.harden()(torch.tensor([[3.0, 4.0]])).item()
    0.75
    >>> unit.expression()
    'abs(x0) / abs(x1)'
    """

    name: ClassVar[str] = "nalu"
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
        return nac_weight(self.w_hat, self.m_hat)

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Mix sum and product."""
        return nalu(x, self.w_hat, self.m_hat, self.g)

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
        gate = "step" if self.hardened else "sigmoid"
        rows = zip(rounded(self.g), rounded(self.weights()), strict=True)
        return joined(gated_text(g, w, gate) for g, w in rows)
