"""A population: many members of one unit as one set of tensors with a leading axis."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from ._base import Unit, settings

State = dict[str, Tensor]


class Population:
    """Members of one unit that differ in their tensors alone.

    `parameters` are trained, `constants` (buffers) are not; both have a leading axis of members. A
    `Unit` knows that axis; any other module is lifted over it with `torch.func.vmap`.
    """

    def __init__(self, members: Sequence[nn.Module]) -> None:
        first = members[0]
        for member in members:
            if type(member) is not type(first) or settings(member) != settings(first):
                raise ValueError("the members of a population share their class and settings")
        parameters, constants = stack_module_state(list(members))
        self.parameters: State = {key: value.detach() for key, value in parameters.items()}
        self.constants: State = {key: value.detach() for key, value in constants.items()}
        self._native = isinstance(first, Unit)
        self._train = _Call(copy.deepcopy(first).train())
        self._eval = _Call(copy.deepcopy(first).eval())

    def trained(self, state: State, place: int) -> dict[str, np.ndarray]:
        """One member's parameters, for the record."""
        return {key: state[key][place].numpy(force=True).copy() for key in self.parameters}

    def forward(self, state: State, x: Tensor) -> Tensor:
        """Outputs `members batch out`, in evaluation mode."""
        if self._native:
            return self._eval.on(state, "forward", x)
        return vmap(lambda one, x: self._eval.on(one, "forward", x), randomness="different")(
            state, x
        )

    def loss(self, state: State, x: Tensor, y: Tensor) -> Tensor:
        """What each member minimises, in training mode."""
        if self._native:
            return self._train.on(state, "loss", x, y)
        outputs = vmap(lambda one, x: self._train.on(one, "forward", x), randomness="different")
        return (outputs(state, x) - y).square().mean((-2, -1))

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
        if self._native:
            return self._eval.on(state, "sparsity")
        some = next(iter(state.values()))
        return torch.full((some.shape[0],), float("nan"), device=some.device)


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
