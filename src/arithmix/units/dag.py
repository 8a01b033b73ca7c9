r"""DAG, the DMU as a program: each output is a plan whose steps are DMUs on all slots so far.

    O = \tanh(o), masked        G = \sigma(g / T_G)        y = execute((O, G), x)

dag/execute.py has the steps and dag/predict.py the same with a head for other features. The logits
(o, g) are the bias, to which a linear or a small nonlinear map of the inputs is added where `head`
asks for one.

Curry, The Domain Mixed Unit: A New Neural Arithmetic Layer, 2025, section "Extensibility".

Where this differs from the paper, and why:

- The paper predicts O and G from the input. An operation does not depend on its operands, so here
  that is an option: `head="linear"` or `head="mlp"`.
- The paper gives no ranges of O and no recipe: O lies in [-1, 1] and starts anywhere in it, and the
  recipe is the DMU's without its small gradient norm.
"""

import math
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..dag.execute import execute
from ..dag.plan import Plan
from ..dag.predict import GATE_TEMPERATURE, decode, logits_of
from ..names import choose
from ._base import Recipe, Unit
from ._math import FAR, discreteness, finite_gradient, weighted_sum, working_dtype
from ._text import joined, require_single

HEADS = ("none", "linear", "mlp")


class DAG(Unit):
    """A differentiable arithmetic program.

    Args:
        in_features: Numbers in.
        out_features: Numbers out, each with a plan of its own.
        depth: Steps of each plan.
        head: "none" for a plan that does not depend on the inputs, "linear" or "mlp" for one that
            they predict.
        hidden: Width of the hidden layer of "mlp".
        temperature: T, the width around zero in which the sign of a sum turns.
        gate_temperature: T_G, which sharpens the gates.
        population: Leading shape of the parameters.
        generator: Where they are drawn from.
        device: Where the parameters live.
        dtype: Their dtype.

    >>> unit = DAG(2, 1, depth=2)
    >>> _ = unit.load_state_dict(unit.solution("div"))
    >>> unit.harden()(torch.tensor([[3.0, -4.0]])).item()
    -0.75
    >>> unit.expression()
    'x0 / x1'
    """

    name: ClassVar[str] = "dag"
    exact: ClassVar[frozenset[str]] = frozenset({"add", "sub", "mul", "div"})

    bias: Float[Tensor, "*pop out logits"]
    weight: Float[Tensor, "*pop logits features"]
    inner: Float[Tensor, "*pop hidden in"]

    def __init__(
        self,
        in_features: int,
        out_features: int = 1,
        *,
        depth: int = 1,
        head: str = "none",
        hidden: int = 16,
        temperature: float = 1e-4,
        gate_temperature: float = GATE_TEMPERATURE,
        population: tuple[int, ...] = (),
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        for key, value in (("temperature", temperature), ("gate_temperature", gate_temperature)):
            if not value > 0:
                raise ValueError(f"{key} must be positive; got {value}")
        for key, value in (("depth", depth), ("hidden", hidden)):
            if value < 1:
                raise ValueError(f"{key} must be 1 at least; got {value}")
        self.depth = depth
        self.head = choose(head, HEADS, "head")
        self.hidden = hidden
        self.temperature = temperature
        self.gate_temperature = gate_temperature
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
        """The DMU's rate and its limit of targets."""
        return Recipe(rate=1e-2, clip_norm=1.0, target_limit=1e5)

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """O anywhere in [-0.76, 0.76], undecided gates, and a head that says little."""
        size = logits_of(self.in_features, self.depth, select=False)
        bias = torch.empty(self.out_features, size).uniform_(-1, 1, generator=generator)
        bias[:, -self.depth :] = 0.0
        drawn = {"bias": bias}
        wide = {"none": 0, "linear": self.in_features, "mlp": self.hidden}[self.head]
        if self.head == "mlp":
            r = 1 / math.sqrt(self.in_features)
            inner = torch.empty(wide, self.in_features)
            drawn["inner"] = inner.uniform_(-r, r, generator=generator)
        if wide:
            weight = torch.empty(self.out_features * size, wide)
            drawn["weight"] = weight.uniform_(-0.01, 0.01, generator=generator)
        return drawn

    def solution(self, operation: str) -> dict[str, Tensor]:
        """The operation in the first step, handed on by the others, to the last bit."""
        choose(operation, sorted(self.exact), "operation")
        slots = self.in_features + self.depth
        o = torch.zeros(self.depth, slots)
        o[0, : self.in_features] = -FAR if operation in ("sub", "div") else FAR
        o[0, 0] = FAR
        for n in range(1, self.depth):
            o[n, self.in_features + n - 1] = FAR
        g = torch.full((self.depth,), -FAR)
        g[0] = FAR if operation in ("add", "sub") else -FAR
        bias = torch.cat([o.flatten(), g]).expand_as(self.bias).to(self.bias)
        others = {k: torch.zeros_like(p) for k, p in self.named_parameters() if k != "bias"}
        return {"bias": bias, **others}

    def plan(self, x: Float[Tensor, "*batch in"] | None = None) -> Plan:
        """The plan of each output, at the inputs `x` where a head looks at them."""
        logits = finite_gradient(self.bias)
        if x is not None:
            logits = logits if logits.dim() == 2 else logits.unsqueeze(-3)
            if self.head != "none":
                seen = torch.asinh(x) if self.head == "linear" else self._hidden(x)
                size = self.bias.shape[-1]
                more = weighted_sum(seen, self.weight.to(seen.dtype))
                logits = logits + more.unflatten(-1, (self.out_features, size))
        logits = logits.to(working_dtype(logits))
        return decode(logits, self.in_features, self.depth, False, self.gate_temperature)

    def _hidden(self, x: Tensor) -> Tensor:
        return torch.tanh(weighted_sum(torch.asinh(x), self.inner))

    def _run(self, plan: Plan, x: Tensor) -> Tensor:
        result = torch.promote_types(x.dtype, self.bias.dtype)
        return execute(plan, x.unsqueeze(-2), temperature=self.temperature).to(result)

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Run the plans."""
        x = finite_gradient(x)
        return self._run(self.plan(x), x)

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Run the plans, rounded, exactly."""
        x = finite_gradient(x)
        return self._run(self.plan(x).harden(), x)

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """The largest distance of O from -1, 0 and 1 and of G from 0 and 1, without the head."""
        plan = self.plan()
        rows = discreteness(plan.O).amax((-3, -2, -1))
        return torch.maximum(rows, torch.minimum(plan.G, 1 - plan.G).amax((-2, -1)))

    def round_(self) -> None:
        """Round O and G; those of a head are rounded for each sample, by `hard`."""
        if self.head == "none":
            hard = self.plan().harden()
            rows, gates = FAR * hard.O.flatten(-2), FAR * (2 * hard.G - 1)
            self.bias.copy_(torch.cat([rows, gates], -1))

    def expression(self) -> str:
        """Read the formula, as `x0 * x1`; a head is not looked at."""
        require_single(self.population)
        plan = self.plan()
        return joined(plan[i].expression() for i in range(self.out_features))
