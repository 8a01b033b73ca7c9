r"""Heads that predict a plan from features, and a DAG: a head and the run of its plan.

    O = \tanh(o)        G = \sigma(g / T_G)        S = softmax(s / T_G)

o, g and s are what a linear map or a small network makes of the features. Slots that are not there
yet are masked out of O.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ._math import finite_gradient
from .execute import execute
from .plan import Plan, allowed

GATE_TEMPERATURE = 0.1


def logits_of(inputs: int, depth: int, select: bool) -> int:
    """How many numbers describe a plan: O, G and, with `select`, S."""
    slots = inputs + depth
    return depth * slots + depth + (slots if select else 0)


def decode(
    logits: Float[Tensor, "*plans logits"],
    inputs: int,
    depth: int,
    select: bool = False,
    gate_temperature: float = GATE_TEMPERATURE,
) -> Plan:
    """The soft plan that logits describe."""
    slots = inputs + depth
    sizes = [depth * slots, depth, slots if select else 0]
    o, g, s = logits.split(sizes, -1)
    rows = torch.tanh(o).unflatten(-1, (depth, slots))
    return Plan(
        rows * allowed(depth, slots, logits.device),
        torch.sigmoid(g / gate_temperature),
        (s / gate_temperature).softmax(-1) if select else None,
        checked=False,
    )


class Head(nn.Module):
    """Predicts a plan from features.

    Args:
        features: Numbers in.
        inputs: Inputs of the plan.
        depth: Its steps.
        hidden: Width of a hidden layer; None is a linear head.
        select: Predict S too, instead of reading the last slot.
        gate_temperature: T_G, which sharpens G and S.
        device: Where the parameters live.
        dtype: Their dtype.
    """

    def __init__(
        self,
        features: int,
        inputs: int,
        depth: int,
        *,
        hidden: int | None = None,
        select: bool = False,
        gate_temperature: float = GATE_TEMPERATURE,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if depth < 1 or inputs < 1 or not gate_temperature > 0:
            raise ValueError(
                f"a plan needs an input, a step and a positive temperature; "
                f"got inputs={inputs}, depth={depth} and gate_temperature={gate_temperature}"
            )
        self.inputs = inputs
        self.depth = depth
        self.select = select
        self.gate_temperature = gate_temperature
        out = logits_of(inputs, depth, select)
        wide = hidden or features
        last = nn.Linear(wide, out, device=device, dtype=dtype)
        if hidden is None:
            self.map: nn.Module = last
        else:
            first = nn.Linear(features, hidden, device=device, dtype=dtype)
            self.map = nn.Sequential(first, nn.GELU(), last)

    def forward(self, features: Float[Tensor, "*batch features"]) -> Plan:
        """Predict a plan for each row of features."""
        logits = self.map(features)
        return decode(logits, self.inputs, self.depth, self.select, self.gate_temperature)


class DAG(nn.Module):
    """An arithmetic program that features choose and numbers go through.

    Args:
        in_features: Numbers that are computed with.
        depth: Steps of the program.
        features: Numbers that the program depends on; None is the inputs themselves.
        hidden: Width of the head's hidden layer; None is a linear head.
        select: Predict which slot is the result, instead of reading the last.
        temperature: T, the width around zero in which the sign of a soft sum turns.
        gate_temperature: T_G, which sharpens the gates.
        device: Where the parameters live.
        dtype: Their dtype.

    >>> dag = DAG(4, depth=3, features=8, hidden=32)
    >>> dag(torch.rand(5, 4), torch.rand(5, 8)).shape
    torch.Size([5])
    """

    def __init__(
        self,
        in_features: int,
        depth: int,
        *,
        features: int | None = None,
        hidden: int | None = None,
        select: bool = False,
        temperature: float = 1e-4,
        gate_temperature: float = GATE_TEMPERATURE,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.temperature = temperature
        self.head = Head(
            features or in_features,
            in_features,
            depth,
            hidden=hidden,
            select=select,
            gate_temperature=gate_temperature,
            device=device,
            dtype=dtype,
        )

    def forward(
        self,
        x: Float[Tensor, "*batch in"],
        features: Float[Tensor, "*batch features"] | None = None,
    ) -> Float[Tensor, "*batch"]:
        """Run the plan that the features predict, which are `x` itself if none are given."""
        x = finite_gradient(x)
        plan = self.plan(x if features is None else features)
        return execute(plan, x, temperature=self.temperature)

    def plan(self, features: Float[Tensor, "*batch features"]) -> Plan:
        """The plan that features predict; `harden()` and `expression()` of it make it readable."""
        return self.head(features)
