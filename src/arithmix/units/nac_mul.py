r"""NAC•, the multiplicative neural accumulator: a product of powers of the inputs' magnitudes.

    w_ji = \tanh(\hat w_ji) \sigma(\hat m_ji)
    y_j = \exp \sum_i w_ji \ln(|x_i| + 10^{-7})

It is the log path of the NALU by itself. Its outputs are positive: signs are lost.

Trask et al., Neural Arithmetic Logic Units, NeurIPS 2018. https://arxiv.org/abs/1808.00508

Where this differs from the paper, and why:

- 10^{-7} is the original benchmark's; the paper leaves its \epsilon open. A quotient by 0 is thus
  at most 10^7 times the dividend.
- The draw is the same as that of NAC+ (`nac_add.py`).
- The output is held at the dtype's largest number less a factor 1e6.
"""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..names import choose
from ._base import Unit
from ._math import (
    bounded_exp,
    draw_nac,
    exact_product,
    finite_gradient,
    nac_state,
    nac_weight,
    selection,
    sparsity_error,
    weighted_sum,
    working_dtype,
)
from ._text import joined, product_text, require_single, rounded

EPSILON = 1e-7


def nac_mul(
    x: Float[Tensor, "*batch in"],
    w_hat: Float[Tensor, "*pop out in"],
    m_hat: Float[Tensor, "*pop out in"],
) -> Float[Tensor, "*batch out"]:
    """Multiply magnitudes to the powers tanh(w_hat) sigmoid(m_hat)."""
    result, dtype = torch.promote_types(x.dtype, w_hat.dtype), working_dtype(x, w_hat, m_hat)
    x, w_hat, m_hat = (finite_gradient(t).to(dtype) for t in (x, w_hat, m_hat))
    return bounded_exp(weighted_sum((x.abs() + EPSILON).log(), nac_weight(w_hat, m_hat))).to(result)


class NACMul(Unit):
    """Multiplicative neural accumulator.

    >>> unit = NACMul(2, 1)
    >>> _ = unit.load_state_dict(unit.solution("div"))
    >>> unit(torch.tensor([[3.0, -4.0]])).round(decimals=4).item()
    0.75
    >>> unit.expression()
    'abs(x0) / abs(x1)'
    """

    name: ClassVar[str] = "nac_mul"
    exact: ClassVar[frozenset[str]] = frozenset({"mul", "div"})
    signed: bool = False

    w_hat: Float[Tensor, "*pop out in"]
    m_hat: Float[Tensor, "*pop out in"]

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """Both uniform, by which the weights have Glorot's variance."""
        return draw_nac(self.in_features, self.out_features, generator)

    def solution(self, operation: str) -> dict[str, Tensor]:
        """Weights of one, or of minus one from the second input on, to the last bit."""
        choose(operation, sorted(self.exact), "operation")
        return nac_state(selection(operation, self.w_hat))

    def weights(self) -> Float[Tensor, "*pop out in"]:
        """The powers of the inputs."""
        return nac_weight(self.w_hat, self.m_hat)

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply the powers of magnitudes."""
        return nac_mul(x, self.w_hat, self.m_hat)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply and divide by the selected magnitudes exactly."""
        return exact_product(x.abs(), self.weights().detach())

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """The largest distance of a weight from -1, 0 and 1."""
        return sparsity_error(self.weights())

    def round_(self) -> None:
        """Round the weights to -1, 0 and 1."""
        self.load_state_dict(nac_state(self.weights().detach().round()))

    def expression(self) -> str:
        """Read the product, as `abs(x0) / abs(x1)`."""
        require_single(self.population)
        names = [f"abs(x{i})" for i in range(self.in_features)]
        return joined(product_text(row, names) for row in rounded(self.weights()))
