"""Errors of members on the fixed validation and test sets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..tasks import Task
from ..units._population import LANES, Population, State
from .fresh import compiled_anew
from .streams import fixed_set, origin

if TYPE_CHECKING:
    from .alone import Alone

SPLITS = ("validation", "test")


class Exam:
    """The two fixed sets of every task in a population, on the device.

    Members are examined a fixed number at a time, so that an error does not depend on who else is.

    Args:
        population: Whose members are examined.
        tasks: The task of each member.
        seeds: The seed of each, which says where the operands stand.
        dtype: What the sets are rounded to.
        device: Where they are kept.
        compiled: Whether to compile the examination.
    """

    def __init__(
        self,
        population: "Population | Alone",
        tasks: Sequence[Task],
        seeds: Sequence[int],
        dtype: torch.dtype,
        device: torch.device,
        compiled: bool = False,
    ) -> None:
        inputs = tasks[0].inputs
        # Ten thousand samples of a hundred inputs are four megabytes a member; a GPU wants many.
        many = 16 if device.type == "cuda" else 1
        self._together = population.together or max(4, 2 * many * LANES // inputs)
        ranges = list(dict.fromkeys(task.range for task in tasks))
        offsets = [origin(seed, inputs).offset for seed in seeds]
        kinds = {(t, o): seed for t, o, seed in zip(tasks, offsets, seeds, strict=True)}
        order = {kind: place for place, kind in enumerate(kinds)}
        self._range = torch.tensor([ranges.index(t.range) for t in tasks], device=device)
        self._kind = torch.tensor([order[kind] for kind in zip(tasks, offsets, strict=True)])
        self._kind = self._kind.to(device)
        self._sets: dict[str, tuple[Tensor, Tensor]] = {}
        for split in SPLITS:
            x: dict[str, Tensor] = {}
            y: list[Tensor] = []
            for (task, _), seed in kinds.items():
                inputs_, targets = fixed_set(task, split, seed)
                x[task.range] = torch.from_numpy(inputs_).to(dtype).mT.contiguous()
                y.append(torch.from_numpy(targets).to(dtype))
            stacked = torch.stack([x[name] for name in ranges]), torch.stack(y)
            self._sets[split] = (stacked[0].to(device), stacked[1].to(device))

        def error(state: State, x: Tensor, y: Tensor, range_: Tensor, kind: Tensor) -> Tensor:
            wrong = population.forward(state, x[range_].mT) - y[kind]
            return wrong.square().mean((-2, -1))

        # A GPU computes this as fast as it is; compiling would take longer than all examinations.
        compiled = compiled and device.type == "cpu"
        self._error = compiled_anew(error, dynamic=False) if compiled else error

    @torch.no_grad()
    def errors(self, state: State, members: Sequence[int], split: str) -> Tensor:
        """Mean squared errors of `members`, whose tensors are stacked in `state` in that order."""
        x, y = self._sets[split]
        who = torch.tensor(members, device=x.device)
        errors = []
        for begin in range(0, len(members), self._together):
            places = torch.arange(begin, begin + self._together, device=x.device)
            places.clamp_(max=len(members) - 1)
            some = {key: value[places] for key, value in state.items()}
            one = who[places]
            errors.append(self._error(some, x, y, self._range[one], self._kind[one]))
        return torch.cat(errors)[: len(members)]
