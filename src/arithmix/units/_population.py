"""A population: many members of one unit as one set of tensors with a leading axis."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from ._alike import difference
from ._base import Unit, settings
from ._output import outputs

State = dict[str, Tensor]
LANES = 64
"""Members are trained in multiples of this many; see bench/step.py."""


class Population:
    """Members of one unit that differ in their tensors alone.

    `parameters` are trained; `constants` are not: buffers, and parameters that require no gradient.
    Both have a leading axis of members. A `Unit` knows that axis; any other module is lifted over
    it with `torch.func.vmap`, which refuses random numbers: see `obstacle` for who can't be here.
    """

    lanes = LANES
    together: int | None = None
    """How many members are examined at once; None leaves that to the examination."""

    def __init__(self, members: Sequence[nn.Module]) -> None:
        first = members[0]
        for member in members:
            if type(member) is not type(first) or not _share_settings(first, member):
                raise ValueError("the members of a population share their class and settings")
        stacked, buffers = stack_module_state(list(members))
        trained = {name for name, value in first.named_parameters() if value.requires_grad}
        state = {key: value.detach() for key, value in (stacked | buffers).items()}
        self.parameters: State = {key: state[key] for key in stacked if key in trained}
        self.constants: State = {key: v for key, v in state.items() if key not in trained}
        self._native = isinstance(first, Unit)
        self._sparse = has_sparsity(first)
        self._train = _Call(copy.deepcopy(first).train())
        self._eval = _Call(copy.deepcopy(first).eval())

    def trained(self, state: State, place: int) -> dict[str, np.ndarray]:
        """One member's parameters, for the record."""
        return {key: state[key][place].numpy(force=True).copy() for key in self.parameters}

    def forward(self, state: State, x: Tensor) -> Tensor:
        """Outputs `members batch out`, in evaluation mode."""
        return self._outputs(self._eval, state, x)

    def loss(self, state: State, x: Tensor, y: Tensor) -> Tensor:
        """What each member minimises, in training mode."""
        if self._native:
            return self._train.on(state, "loss", x, y)
        return (self._outputs(self._train, state, x) - y).square().mean((-2, -1))

    def _outputs(self, call: "_Call", state: State, x: Tensor) -> Tensor:
        if self._native:
            return outputs(lambda x: call.on(state, "forward", x), x)
        # By __call__ and not by forward, so that a module's hooks run.
        return vmap(lambda one, x: outputs(lambda x: call.on(one, "__call__", x), x))(state, x)

    def penalty(self, state: State, step: Tensor, validation: Tensor) -> Tensor:
        """What is added to each member's loss."""
        if self._native:
            return self._train.on(state, "penalty", step, validation)
        return torch.zeros_like(validation)

    def project(self, state: State) -> State:
        """The parameters brought back into their domain."""
        if self._native:
            self._train.on(state, "project")
        return state

    def sparsity(self, state: State) -> Tensor:
        """Each member's distance from a discrete solution; NaN where the unit has no word on it."""
        if self._sparse:
            return self._eval.on(state, "sparsity")
        some = next(iter(state.values()))
        return torch.full((some.shape[0],), float("nan"), device=some.device)


def _share_settings(one: nn.Module, other: nn.Module) -> bool:
    """Whether two members differ in their tensors alone; a unit's settings are its public ones."""
    if isinstance(one, Unit):
        return settings(one) == settings(other)
    return difference(one, other) is None


def has_sparsity(module: nn.Module) -> bool:
    """Whether a module says how far its parameters are from discrete ones."""
    return isinstance(module, Unit) and type(module).sparsity is not Unit.sparsity


class _Call(nn.Module):
    """Calls any method of a unit with other tensors in the place of its own."""

    def __init__(self, unit: nn.Module) -> None:
        super().__init__()
        self.unit = unit

    def forward(self, method: str, *arguments: Any) -> Any:
        return getattr(self.unit, method)(*arguments)

    def on(self, state: State, method: str, *arguments: Any) -> Any:
        named = {f"unit.{key}": value for key, value in state.items()}
        return functional_call(self, named, (method, *arguments))
