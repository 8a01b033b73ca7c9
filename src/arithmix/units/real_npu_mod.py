r"""Modified RealNPU, the RealNPU made for division: clamped, and pushed to discrete parameters.

    g_i = clamp(\hat g_i, 0, 1)
    r_i = g_i (|x_i| + \epsilon) + 1 - g_i         k_i = \pi g_i [x_i < 0]
    y_j = \exp(\sum_i w_ij \ln r_i) \cos(\sum_i w_ij k_i),    w_ij in [-1, 1]

    penalty = \beta(t) \sum_p |p| + s(t) (mean |1 - |w|| + mean min(|g|, |1 - g|))
    s(t) = clamp((t - t0) / (t1 - t0), 0, 1)

A power is pushed to -1 or 1 and never to 0: leaving an input out is the gate's part.

Mistry, Farrahi & Hare, Learning Division with Neural Arithmetic Logic Modules, 2021, after Heim,
Pevný & Šmídl, Neural Power Units, NeurIPS 2020. https://arxiv.org/abs/2110.05177

Where this differs from the paper, and why:

- \beta, which is 1e-9 and grows tenfold at steps 10,000 and 20,000, and the ramp from step 40,000
  to 50,000 are those of the paper's code for two inputs. With ten it has 50,000 to 75,000.
- \epsilon is float32's, 1.19e-7, in every dtype: it is a part of the model.
- The output is held at the dtype's largest number less a factor 1e6.
"""

import math
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..names import choose
from ._base import Recipe, Unit
from ._math import exact_product, ramp, real_npu, selection, sparsity_error, tenfold, weighed
from ._text import joined, power_text, require_single, rounded


class ModifiedRealNPU(Unit):
    r"""Real neural power unit, modified for division.

    Args:
        in_features: Numbers in.
        out_features: Numbers out.
        l1_start: \beta, the weight of the magnitudes, until step 10,000.
        l1_end: \beta grows tenfold every 10,000 steps while it is below this.
        weight: The weight of the distances from discrete at the end of their ramp.
        ramp_start: The step at which these begin to count.
        ramp_end: The step from which they have their full weight.
        population: Leading shape of the parameters.
        generator: Where the weights are drawn from.
        device: Where the parameters live.
        dtype: Their dtype.

    >>> unit = ModifiedRealNPU(2, 1)
    >>> _ = unit.load_state_dict(unit.solution("div"))
    >>> unit.harden()(torch.tensor([[3.0, -4.0]])).item()
    -0.75
    >>> unit.expression()
    'x0 / x1'
    """

    name: ClassVar[str] = "real_npu_mod"
    exact: ClassVar[frozenset[str]] = frozenset({"div"})

    w: Float[Tensor, "*pop in out"]
    g: Float[Tensor, "*pop in"]

    def __init__(
        self,
        in_features: int,
        out_features: int = 1,
        *,
        l1_start: float = 1e-9,
        l1_end: float = 1e-7,
        weight: float = 1.0,
        ramp_start: int = 40_000,
        ramp_end: int = 50_000,
        population: tuple[int, ...] = (),
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if ramp_end <= ramp_start:
            raise ValueError(f"ramp_end must be after ramp_start={ramp_start}; got {ramp_end}")
        self.l1_start = l1_start
        self.l1_end = l1_end
        self.weight = weight
        self.ramp_start = ramp_start
        self.ramp_end = ramp_end
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
        """The paper's, for two inputs."""
        if inputs == 2:
            return Recipe(rate=5e-3)
        late = {"ramp_start": 50_000, "ramp_end": 75_000}
        return Recipe(rate=5e-3, steps=100_000, arguments=late)

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """Powers from Glorot's distribution, never wider than [-0.5, 0.5], and gates half open."""
        r = min(0.5, math.sqrt(6 / (self.in_features + self.out_features)))
        w = torch.empty(self.in_features, self.out_features).uniform_(-r, r, generator=generator)
        return {"w": w, "g": torch.full((self.in_features,), 0.5)}

    def solution(self, operation: str) -> dict[str, Tensor]:
        """Powers of minus one from the second input on, and open gates."""
        choose(operation, sorted(self.exact), "operation")
        return {"w": selection(operation, self.w.mT).mT, "g": torch.ones_like(self.g)}

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply the powers of the inputs."""
        return real_npu(x, self.w, self.g)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Multiply and divide by the selected inputs exactly."""
        return exact_product(x, (self.w * self.g.unsqueeze(-1)).detach().mT)

    def penalty(
        self, step: Float[Tensor, ""], validation: Float[Tensor, "*pop"]
    ) -> Float[Tensor, "*pop"]:
        """All magnitudes, with little weight, and late the distances from discrete."""
        size = self.w.abs().sum((-2, -1)) + self.g.abs().sum(-1)
        powers = (1 - self.w.abs()).abs().mean((-2, -1))
        gates = torch.minimum(self.g.abs(), (1 - self.g).abs()).mean(-1)
        scale = self.weight * ramp(step, self.ramp_start, self.ramp_end)
        return weighed(size, step, self._betas) + scale * (powers + gates)

    def project(self) -> None:
        """Clamp the powers to [-1, 1] and the gates to [0, 1]."""
        with torch.no_grad():
            self.w.clamp_(-1, 1)
            self.g.clamp_(0, 1)

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """The largest distance of a power from -1, 0 and 1; the gates are not looked at."""
        return sparsity_error(self.w)

    def round_(self) -> None:
        """Round powers and gates."""
        self.w.copy_(self.w.round().clamp(-1, 1))
        self.g.copy_(self.g.clamp(0, 1).round())

    def expression(self) -> str:
        """Read the product, as `x0 / x1`."""
        require_single(self.population)
        gates, real = rounded(self.g.clamp(0, 1)), [0.0] * self.in_features
        return joined(power_text(w, real, gates) for w in rounded(self.w.mT))
