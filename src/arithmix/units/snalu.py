r"""sNALU, the signed NALU: a NALU with one gate for all inputs, and a product with a sign.

    w_ij = \tanh(\hat w_ij) \sigma(\hat m_ij)
    a_j = \sum_i w_ij x_i
    m_j = \exp \sum_i w_ij \ln(|x_i| + 10^{-8})
    y_j = \sigma(g) a_j + (1 - \sigma(g)) m_j \prod_i sign(x_i)

The sign is that of all inputs, selected or not, and 0 where one of them is 0.

Wilhelm, snalu.pytorch. https://github.com/FlorianWilhelm/snalu.pytorch

Where this differs from that code, and why:

- That trains two layers for up to 600,000 steps of Adam at a rate of 1e-4, on one data set. The
  recipe is one layer, the steps and fresh batches of the other units, and a rate of 1e-3: rate
  times steps, which is how far Adam can go, is nearly the same.
- A sum or a product that overflows is held near the dtype's largest number.
"""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..names import choose
from ._base import Recipe, Unit
from ._math import (
    FAR,
    bounded,
    bounded_exp,
    bounded_product,
    exact_product,
    exact_sum,
    finite_gradient,
    nac_state,
    nac_weight,
    per_output,
    selection,
    sparsity_error,
    weighted_sum,
    working_dtype,
)
from ._text import joined, mixture_text, product_text, require_single, rounded, sum_text

EPSILON = 1e-8


def snalu(
    x: Float[Tensor, "*batch in"],
    w_hat: Float[Tensor, "*pop in out"],
    m_hat: Float[Tensor, "*pop in out"],
    g: Float[Tensor, "*pop 1 1"],
) -> Float[Tensor, "*batch out"]:
    """Mix a sum and a signed product with the same weights."""
    result, dtype = torch.promote_types(x.dtype, g.dtype), working_dtype(x, g)
    x, w_hat, m_hat, g = (finite_gradient(t).to(dtype) for t in (x, w_hat, m_hat, g))
    w, gate = nac_weight(w_hat, m_hat).mT, per_output(torch.sigmoid(g.squeeze(-1)))
    a = bounded(weighted_sum(x, w))
    m = bounded_exp(weighted_sum((x.abs() + EPSILON).log(), w))
    return (gate * a + (1 - gate) * (sign_of_all(x) * m)).to(result)


def sign_of_all(x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch 1"]:
    """The product of the signs of all inputs."""
    return bounded_product(x.sign()).unsqueeze(-1)


class SNALU(Unit):
    """Signed neural arithmetic logic unit.

    >>> unit = SNALU(2, 1)
    >>> _ = unit.load_state_dict(unit.solution("div"))
    >>> unit.harden()(torch.tensor([[3.0, -4.0]])).item()
    -0.75
    >>> unit.expression()
    'x0 / x1'
    """

    name: ClassVar[str] = "snalu"
    exact: ClassVar[frozenset[str]] = frozenset({"add", "sub", "mul", "div"})

    w_hat: Float[Tensor, "*pop in out"]
    m_hat: Float[Tensor, "*pop in out"]
    g: Float[Tensor, "*pop 1 1"]

    @classmethod
    def recipe(cls, operation: str, inputs: int = 2) -> Recipe:
        """One draw, at a rate for fewer steps than the original's."""
        return Recipe(rate=1e-3, draws=1)

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """Glorot's uniform distribution, for the gate first."""
        shapes = {"g": (1, 1)} | dict.fromkeys(
            ("w_hat", "m_hat"), (self.in_features, self.out_features)
        )
        return {
            key: nn.init.xavier_uniform_(torch.empty(shape), generator=generator)
            for key, shape in shapes.items()
        }

    def solution(self, operation: str) -> dict[str, Tensor]:
        """Weights of -1 and 1 and a gate of 0 or 1, to the last bit."""
        choose(operation, sorted(self.exact), "operation")
        far = FAR if operation in ("add", "sub") else -FAR
        w = selection(operation, self.w_hat.mT).mT
        return nac_state(w) | {"g": torch.full_like(self.g, far)}

    def weights(self) -> Float[Tensor, "*pop out in"]:
        """The weights of both the sum and the product."""
        return nac_weight(self.w_hat, self.m_hat).mT

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Mix sum and product."""
        return snalu(x, self.w_hat, self.m_hat, self.g)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Sum or multiply exactly."""
        w, linear = self.weights().detach(), per_output(self.g.squeeze(-1) >= 0)
        product = sign_of_all(x) * exact_product(x.abs(), w)
        return torch.where(linear, exact_sum(x, w), product)

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """The largest distance of a weight from -1, 0 and 1; the gate is not looked at."""
        return sparsity_error(self.weights())

    def round_(self) -> None:
        """Round the weights and the gate."""
        g, w = self.g.detach(), self.weights().detach().round().mT
        self.load_state_dict(nac_state(w) | {"g": torch.where(g >= 0, FAR, -FAR).to(g)})

    def expression(self) -> str:
        """Read the formula, as `x0 * x1`; an undecided gate reads as a mix of two."""
        require_single(self.population)
        gate = torch.sigmoid(self.g).item()
        rows = rounded(self.weights())
        return joined(mixture_text(gate, sum_text(w), _signed_product(w)) for w in rows)


def _signed_product(w: list[float]) -> str:
    """Powers of one and minus one have their sign with them; others lose it."""
    if all(abs(power) == 1 for power in w):
        return product_text(w)
    names = [f"x{i}" for i in range(len(w))]
    magnitude = product_text(w, [f"abs({name})" for name in names])
    return " * ".join([magnitude, *(f"sign({name})" for name in names)])
