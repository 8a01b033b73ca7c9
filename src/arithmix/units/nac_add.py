r"""NAC+, the neural accumulator: a sum of the inputs with weights that saturate at -1, 0 and 1.

    w_ji = \tanh(\hat w_ji) \sigma(\hat m_ji)
    y_j = \sum_i w_ji x_i

Trask et al., Neural Arithmetic Logic Units, NeurIPS 2018. https://arxiv.org/abs/1808.00508

Where this differs from the paper, and why:

- The paper does not say how \hat w and \hat m start. The draw is that of Madsen & Johansen, Neural
  Arithmetic Units, ICLR 2020, by which the weights have Glorot's variance. For two inputs and one
  output it is [-9.47, 9.47], and most weights start saturated; the original benchmark has it so.
- A sum that overflows is held at the dtype's largest number.
"""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..names import choose
from ._base import Unit
from ._math import (
    bounded,
    draw_nac,
    exact_sum,
    finite_gradient,
    nac_state,
    nac_weight,
    selection,
    sparsity_error,
    weighted_sum,
    working_dtype,
)
from ._text import joined, require_single, rounded, sum_text


def nac_add(
    x: Float[Tensor, "*batch in"],
    w_hat: Float[Tensor, "*pop out in"],
    m_hat: Float[Tensor, "*pop out in"],
) -> Float[Tensor, "*batch out"]:
    """Sum the inputs with the weights tanh(w_hat) sigmoid(m_hat)."""
    result, dtype = torch.promote_types(x.dtype, w_hat.dtype), working_dtype(x, w_hat, m_hat)
    x, w_hat, m_hat = (finite_gradient(t).to(dtype) for t in (x, w_hat, m_hat))
    return bounded(weighted_sum(x, nac_weight(w_hat, m_hat))).to(result)


class NACAdd(Unit):
    """Neural accumulator.

    >>> unit = NACAdd(2, 1)
    >>> _ = unit.load_state_dict(unit.solution("sub"))
    >>> unit(torch.tensor([[3.0, -4.0]])).item()
    7.0
    >>> unit.expression()
    'x0 - x1'
    """

    name: ClassVar[str] = "nac_add"
    exact: ClassVar[frozenset[str]] = frozenset({"add", "sub"})

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
        """The weights of the sum."""
        return nac_weight(self.w_hat, self.m_hat)

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Sum the weighted inputs."""
        return nac_add(x, self.w_hat, self.m_hat)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Sum the selected inputs exactly."""
        return exact_sum(x, self.weights().detach())

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """The largest distance of a weight from -1, 0 and 1."""
        return sparsity_error(self.weights())

    def round_(self) -> None:
        """Round the weights to -1, 0 and 1."""
        self.load_state_dict(nac_state(self.weights().detach().round()))

    def expression(self) -> str:
        """Read the sum, as `x0 - x1`."""
        require_single(self.population)
        return joined(sum_text(row) for row in rounded(self.weights()))
