r"""NPU, the neural power unit: a product of complex powers of the inputs its gates let in.

    g_i = clamp(\hat g_i, 0, 1)
    r_i = g_i (|x_i| + \epsilon) + 1 - g_i         k_i = \pi g_i [x_i < 0]
    y_j = \exp(\sum_i w^re_ij \ln r_i - w^im_ij k_i) \cos(\sum_i w^re_ij k_i + w^im_ij \ln r_i)
    penalty = \beta(t) \sum_p |p|, over all parameters p

It is the real part of the product of x_i^w_i with w = w^re + i w^im.

Heim, Pevný & Šmídl, Neural Power Units, NeurIPS 2020. https://arxiv.org/abs/2006.01681

Where this differs from the paper, and why:

- \beta grows tenfold every 10,000 steps, from 1e-7 to 1e-5 for products and from 1e-9 to 1e-7 for
  quotients, as in the original benchmark (Mistry, Farrahi & Hare, A Primer for Neural Arithmetic
  Logic Modules, JMLR 2022). The constructor's defaults are those of products.
- \epsilon is float32's, 1.19e-7, in every dtype: it is a part of the model.
- No parameter is clamped after an update; a gate outside [0, 1] moves by its penalty alone.
- The output is held at the dtype's largest number less a factor 1e6.
"""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..names import choose
from ._base import Recipe, Unit
from ._math import (
    bounded_exp,
    exact_product,
    finite_gradient,
    npu_parts,
    selection,
    sparsity_error,
    tenfold,
    weighed,
    weighted_sum,
    working_dtype,
)
from ._text import joined, power_text, require_single, rounded


def npu(
    x: Float[Tensor, "*batch in"],
    w_re: Float[Tensor, "*pop in out"],
    w_im: Float[Tensor, "*pop in out"],
    g: Float[Tensor, "*pop in"],
) -> Float[Tensor, "*batch out"]:
    """Multiply the complex powers of the inputs and take the real part."""
    result, dtype = torch.promote_types(x.dtype, g.dtype), working_dtype(x, w_re, w_im, g)
    x, w_re, w_im, g = (finite_gradient(t).to(dtype) for t in (x, w_re, w_im, g))
    w_re, w_im = w_re.mT, w_im.mT
    log_r, k = npu_parts(x, g)
    magnitude = bounded_exp(weighted_sum(log_r, w_re) - weighted_sum(k, w_im))
    return (magnitude * torch.cos(weighted_sum(k, w_re) + weighted_sum(log_r, w_im))).to(result)


class NPU(Unit):
    r"""Neural power unit.

    Args:
        in_features: Numbers in.
        out_features: Numbers out.
        l1_start: \beta, the weight of the penalty, until step 10,000.
        l1_end: \beta grows tenfold every 10,000 steps while it is below this.
        population: Leading shape of the parameters.
        generator: Where the weights are drawn from.
        device: Where the parameters live.
        dtype: Their dtype.

    >>> unit = NPU(2, 1)
    >>> _ = unit.load_state_dict(unit.solution("div"))
    >>> unit.harden()(torch.tensor([[3.0, -4.0]])).item()
    -0.75
    >>> unit.expression()
    'x0 / x1'
    """

    name: ClassVar[str] = "npu"
    exact: ClassVar[frozenset[str]] = frozenset({"mul", "div"})

    w_re: Float[Tensor, "*pop in out"]
    w_im: Float[Tensor, "*pop in out"]
    g: Float[Tensor, "*pop in"]

    def __init__(
        self,
        in_features: int,
        out_features: int = 1,
        *,
        l1_start: float = 1e-7,
        l1_end: float = 1e-5,
        population: tuple[int, ...] = (),
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        self.l1_start = l1_start
        self.l1_end = l1_end
        self._betas = tenfold(l1_start, l1_end)
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
        """The original benchmark's, with a smaller penalty for quotients."""
        start, end = (1e-9, 1e-7) if operation == "div" else (1e-7, 1e-5)
        return Recipe(rate=5e-3, arguments={"l1_start": start, "l1_end": end})

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """Real powers from Glorot's uniform distribution, and gates half open."""
        w = torch.empty(self.in_features, self.out_features)
        return {
            "w_re": nn.init.xavier_uniform_(w, generator=generator),
            "w_im": torch.zeros_like(w),
            "g": torch.full((self.in_features,), 0.5),
        }

    def solution(self, operation: str) -> dict[str, Tensor]:
        """Powers of one, or of minus one from the second input on, and open gates."""
        choose(operation, sorted(self.exact), "operation")
        return {
            "w_re": selection(operation, self.w_re.mT).mT,
            "w_im": torch.zeros_like(self.w_im),
            "g": torch.ones_like(self.g),
        }

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply the powers of the inputs."""
        return npu(x, self.w_re, self.w_im, self.g)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply and divide by the selected inputs exactly."""
        return exact_product(x, (self.w_re * self.g.unsqueeze(-1)).detach().mT)

    def penalty(
        self, step: Float[Tensor, ""], validation: Float[Tensor, "*pop"]
    ) -> Float[Tensor, "*pop"]:
        """The sum of all magnitudes, with a weight that grows tenfold every 10,000 steps."""
        size = (self.w_re.abs() + self.w_im.abs()).sum((-2, -1)) + self.g.abs().sum(-1)
        return weighed(size, step, self._betas)

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """The mean of both parts' largest distances from -1, 0 and 1; not the gates'."""
        return (sparsity_error(self.w_re) + sparsity_error(self.w_im)) / 2

    def round_(self) -> None:
        """Round powers and gates and drop the imaginary parts."""
        self.w_re.copy_(self.w_re.round().clamp(-1, 1))
        self.w_im.zero_()
        self.g.copy_(self.g.clamp(0, 1).round())

    def expression(self) -> str:
        """Read the product, as `x0 / x1`; with imaginary powers, the complex one's real part."""
        require_single(self.population)
        gates, w_re, w_im = (rounded(t) for t in (self.g.clamp(0, 1), self.w_re.mT, self.w_im.mT))
        return joined(power_text(re, im, gates) for re, im in zip(w_re, w_im, strict=True))
