r"""Unified: one unit for all four operations, which mixes the losses of structures, not outputs.

    \pi = softmax(\theta)            over discrete structures s, as x0 + x1, x3 / x1 or 3 x2
    \ell_s = \ln clamp(mean (f_s(x) - y)^2 / mean y^2, 10^{-12}, 10^{12})
    loss = \sum_s \pi_s \ell_s

The loss is linear in \pi: it has no saddle between two operations, whatever the ranges. There is
one initialisation, \theta = 0, and one recipe; neither is told the operation. Every loss is exact,
from Gram matrices of the batch in float64 (`_structures.py`); docs/theory.md has the argument.

This unit is this package's own; it has no paper. What to know about it:

- \theta moves along the natural gradient, \ell_s - \sum_t \pi_t \ell_t: that of the softmax has
  a factor \pi_s, with which a structure that was unlucky in a few batches hardly comes back.
- No \theta_s falls more than 40 below the largest, for the same reason.
- The soft output is the mean of what the structures compute, \sum_s \pi_s f_s(x). In evaluation an
  output whose best structure has \pi above 0.99 is computed by that structure alone: a quotient
  that has no part in the answer is infinite somewhere, however small its \pi.
- `error` is the unit's own account of \ln loss, moved towards the loss by the same optimiser. It
  has no part in the output. A formula whose relative error is above 1e-5 reads as "about".
"""

import math
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..dag._math import rounded
from ..names import choose
from ._base import Recipe, Unit
from ._math import FAR, finite_gradient, per_output
from ._structures import PAIRS, Structures
from ._text import joined, require_single

FLOOR = 1e-12
"""A scale-free loss below which a structure is exact: float32 data leave about 1e-14."""
DEEPEST = 40.0
DECIDED = 0.99
EXACT = 1e-5
MODES = ("soft", "straight", "hard")


class Unified(Unit):
    """A distribution over arithmetic structures.

    Args:
        in_features: Numbers in.
        out_features: Numbers out.
        mode: "soft" for the mean over structures, "straight" for the best structure with the
            gradients of that mean, "hard" for the best structure and its own gradients.
        population: Leading shape of the parameters.
        generator: Ignored but for the contract: nothing is drawn.
        device: Where the parameters live.
        dtype: Their dtype; the work is done in float64.

    >>> unit = Unified(3, 1)
    >>> _ = unit.load_state_dict(unit.solution("div"))
    >>> unit.eval()(torch.tensor([[3.0, -4.0, 5.0]])).item()
    -0.75
    >>> unit.expression()
    'x0 / x1'
    """

    name: ClassVar[str] = "unified"
    exact: ClassVar[frozenset[str]] = frozenset({"add", "sub", "mul", "div"})

    logits: Float[Tensor, "*pop out structures"]
    error: Float[Tensor, "*pop out"]

    def __init__(
        self,
        in_features: int,
        out_features: int = 1,
        *,
        mode: str = "soft",
        population: tuple[int, ...] = (),
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        self.mode = choose(mode, MODES, "mode")
        super().__init__(
            in_features,
            out_features,
            population=population,
            generator=generator,
            device=device,
            dtype=dtype,
        )
        self._structures = Structures(in_features)

    @classmethod
    def recipe(cls, operation: str, inputs: int = 2) -> Recipe:
        """One for everything."""
        return Recipe(rate=0.5, steps=1000)

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """Every structure alike, and an error as of a unit that answers 0."""
        logits = torch.zeros(self.out_features, Structures(self.in_features).count)
        return {"logits": logits, "error": torch.zeros(self.out_features)}

    def solution(self, operation: str) -> dict[str, Tensor]:
        """The operation on the first two inputs, as decided as training makes it."""
        choose(operation, PAIRS, "operation")
        if self.in_features < 2:
            raise ValueError(f"{operation} needs two inputs; this unit has one")
        logits = torch.full_like(self.logits, -DEEPEST)
        logits[..., self._structures.find(operation)] = 0.0
        return {"logits": logits, "error": torch.full_like(self.error, math.log(FLOOR))}

    def probabilities(self) -> Float[Tensor, "*pop out structures"]:
        """The distribution over structures, in float64; 0 for numbers that are none."""
        return self._log_probabilities().exp()

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """The mean over structures, or the best one alone: see the module's notes and `mode`."""
        if self.mode == "hard":
            return self.hard(x)
        result = torch.promote_types(x.dtype, self.logits.dtype)
        x = finite_gradient(x).double()
        log_p = self._log_probabilities()
        top = log_p.max(-1)
        hard = self._structures.evaluate(x, top.indices)
        rows = x if self.logits.dim() > 2 else x.reshape(-1, self.in_features)
        soft = self._structures.expectation(rows, log_p.exp()).reshape(hard.shape)
        if self.mode == "straight":
            return rounded(hard.detach() + (soft - soft.detach()), result)
        if not self.training:
            soft = torch.where(per_output(top.values > math.log(DECIDED)), hard, soft)
        return rounded(soft, result)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """The best structure alone."""
        result = torch.promote_types(x.dtype, self.logits.dtype)
        best = self._log_probabilities().max(-1).indices
        return rounded(self._structures.evaluate(finite_gradient(x).double(), best), result)

    def objective(
        self, x: Float[Tensor, "*pop batch in"], y: Float[Tensor, "*pop batch out"]
    ) -> Float[Tensor, "*pop"]:
        """The expected log of the scale-free loss, whose gradient in the logits is the natural one.

        An output's loss is its own, and a member's is their mean.
        """
        x, y = finite_gradient(x).double(), y.double()
        scale = y.square().mean(-2).clamp(min=torch.finfo(y.dtype).tiny)
        losses = self._structures.losses(x, y) / scale.unsqueeze(-1)
        losses = losses.clamp(FLOOR, 1 / FLOOR).log()
        p = self.probabilities().detach()
        expected = (p * losses).sum(-1)
        ahead = torch.where(
            self._structures.valid(x.device), losses - expected.unsqueeze(-1), 0.0
        ).detach()
        # Two sums that are zero, for the sake of their gradients.
        moved = ((self.logits - self.logits.detach()) * ahead).sum(-1)
        told = (self.error - self.error.detach()) * (self.error - expected).detach()
        return (expected + moved + told).mean(-1).to(self.logits.dtype)

    def project(self) -> None:
        """The best structure's logit to 0, and none lower than -40."""
        valid = self._structures.valid(self.logits.device)
        with torch.no_grad():
            best = torch.where(valid, self.logits, -torch.inf).amax(-1, keepdim=True)
            self.logits.sub_(best).clamp_(-DEEPEST, 0.0)

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """How much probability is not with the best structure, of the output where it is most."""
        p = self.probabilities()
        rest = p.scatter(-1, p.argmax(-1, keepdim=True), 0.0)  # 1 - p would round to 0
        return rest.sum(-1).amax(-1).to(self.logits.dtype)

    def round_(self) -> None:
        """Give the best structure all the probability."""
        best = self._log_probabilities().argmax(-1, keepdim=True)
        self.logits.fill_(-FAR).scatter_(-1, best, 0.0)

    def expression(self) -> str:
        """Read the formula; "about" where training saw an error, a mix where it is undecided."""
        require_single(self.population)
        rows = zip(self.probabilities().detach(), self.error.tolist(), strict=True)
        return joined(self._text(p, error) for p, error in rows)

    def _text(self, p: Tensor, error: float) -> str:
        top = p.topk(min(3, self._structures.count))
        names = [self._structures.text(index) for index in top.indices.tolist()]
        if top.values[0] <= DECIDED:
            shares = zip(top.values.tolist(), names, strict=True)
            return f"mix({', '.join(f'{share:.3g}: {name}' for share, name in shares)}, ...)"
        relative = math.exp(error / 2)
        return names[0] if relative <= EXACT else f"about {names[0]} (off by {relative:.1g})"

    def _log_probabilities(self) -> Float[Tensor, "*pop out structures"]:
        valid = self._structures.valid(self.logits.device)
        return torch.where(valid, finite_gradient(self.logits).double(), -torch.inf).log_softmax(-1)
