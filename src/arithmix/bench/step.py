"""One update of a population: draw a batch, take the gradient, clip it, move, project.

Everything is per member, so a member's numbers do not depend on its neighbours. Every tensor has a
leading axis of members whose length is a multiple of `LANES`: vector instructions then never treat
the last members differently from the others, and alone equals together to the last bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.func import grad

from ..tasks import OPERATIONS, RANGES, Task
from ..units._population import LANES, Population, State
from ..units._recipe import Recipe
from .streams import Streams, origin

if TYPE_CHECKING:
    from .alone import Alone

BETAS = (0.9, 0.999)
EPSILON = 1e-8


@dataclass(frozen=True)
class Live:
    """The members in training, as tensors with a leading axis of members."""

    parameters: State
    first: State
    """Adam's running mean of the gradient."""
    second: State
    """Adam's running mean of its square."""
    constants: State
    alive: Tensor
    """False once a member has left the finite numbers; it is frozen where it last was."""
    age: Tensor
    """Updates made."""
    validation: Tensor
    """The last known validation error."""
    low: Tensor
    width: Tensor
    stream: Tensor
    operation: Tensor
    offset: Tensor

    def map(self, function: Callable[[Tensor], Tensor]) -> "Live":
        """Apply `function` to every tensor."""

        def over(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: function(tensor) for key, tensor in value.items()}
            return function(value)

        return replace(self, **{f.name: over(getattr(self, f.name)) for f in fields(self)})

    def take(self, places: Sequence[int]) -> "Live":
        """The members at `places`, padded with copies of the last to whole lanes."""
        index = torch.tensor(padded(places), device=self.alive.device)
        return self.map(lambda tensor: tensor[index])


def padded(places: Sequence[int]) -> list[int]:
    """Fill up with the last place to a multiple of `LANES`."""
    return [*places, *[places[-1]] * (-len(places) % LANES)]


def begin(
    population: "Population | Alone", tasks: Sequence[Task], seeds: Sequence[int], streams: Streams
) -> Live:
    """Put a population at step 0, on the device of its numbers, in whole lanes."""
    operations = operation_codes(tasks)
    low, high = np.array([RANGES[task.range].train for task in tasks]).T
    offsets = [origin(seed, task.inputs).offset for task, seed in zip(tasks, seeds, strict=True)]
    members = len(tasks)
    parameters = population.parameters
    dtype = next((v.dtype for v in parameters.values() if v.is_floating_point()), None)
    live = Live(
        parameters=parameters,
        first={key: torch.zeros_like(value) for key, value in parameters.items()},
        second={key: torch.zeros_like(value) for key, value in parameters.items()},
        constants=population.constants,
        alive=torch.ones(members, dtype=torch.bool),
        age=torch.zeros(members, dtype=torch.int64),
        validation=torch.full((members,), float("inf"), dtype=dtype),
        low=torch.from_numpy(low),
        width=torch.from_numpy(high - low),
        stream=torch.tensor([streams.seeds.index(seed) for seed in seeds]),
        operation=torch.tensor([operations[task.operation] for task in tasks]),
        offset=torch.tensor(offsets),
    )
    live = live.map(lambda tensor: tensor.to(streams.device))
    return live if population.lanes == 1 else live.take(range(members))


def operation_codes(tasks: Sequence[Task]) -> dict[str, int]:
    """Number the operations that occur."""
    names = [name for name in OPERATIONS if any(task.operation == name for task in tasks)]
    return {name: code for code, name in enumerate(names)}


def schedule(recipe: Recipe, start: int, steps: int) -> Tensor:
    """Per step what depends on the step alone: itself, Adam's step size, its second correction."""
    t = np.arange(start, start + steps, dtype=np.float64)
    corrections = [1 - beta ** (t + 1) for beta in BETAS]
    table = np.stack([t, recipe.rate / corrections[0], np.sqrt(corrections[1])], -1)
    return torch.from_numpy(table).to(getattr(torch, recipe.dtype))


Draw = Callable[[Live, Tensor], tuple[Tensor, Tensor]]
Update = Callable[[Live, Tensor, Tensor, Tensor, State], None]


def make_draw(recipe: Recipe, tasks: Sequence[Task]) -> Draw:
    """Make the function from uniform numbers to the inputs and targets of a step's batch."""
    names = list(operation_codes(tasks))
    inputs = tasks[0].inputs
    dtype = getattr(torch, recipe.dtype)

    def target(live: Live, a: Tensor, b: Tensor) -> Tensor:
        y = OPERATIONS[names[-1]].apply(a, b)
        for code, name in enumerate(names[:-1]):
            y = torch.where(live.operation[:, None] == code, OPERATIONS[name].apply(a, b), y)
        return y

    def draw(live: Live, numbers: Tensor) -> tuple[Tensor, Tensor]:
        low, width = live.low[:, None, None], live.width[:, None, None]
        x = low + width * numbers[live.stream]  # members in batch
        if inputs == 2:
            a, b = x[:, 0], x[:, 1]
        else:
            member = torch.arange(x.shape[0], device=x.device)
            a, b = x[member, live.offset], x[member, live.offset + 1]
        y = target(live, a, b)
        if recipe.target_limit is not None:
            high = (low + width)[:, 0]
            fine = y.abs() <= recipe.target_limit
            x = torch.where(fine[:, None], x, high[:, None])
            y = torch.where(fine, y, target(live, high, high))
        return x.to(dtype).mT, y.to(dtype)[:, :, None]

    return draw


def make_update(population: Population, recipe: Recipe, tasks: Sequence[Task]) -> Update:
    """Make the function that moves a population by one step, in place."""
    draw = make_draw(recipe, tasks)

    def clip(gradients: State) -> State:
        if recipe.clip_norm is not None:
            norms = [torch.linalg.vector_norm(_rows(g), dim=1) for g in gradients.values()]
            norm = torch.linalg.vector_norm(torch.stack(norms, -1), dim=-1)
            scale = (recipe.clip_norm / (norm + 1e-6)).clamp(max=1.0)
            gradients = {key: g * _like(scale, g) for key, g in gradients.items()}
        if recipe.clip_value is not None:
            bound = recipe.clip_value
            gradients = {key: g.clamp(-bound, bound) for key, g in gradients.items()}
        return gradients

    def update(live: Live, numbers: Tensor, table: Tensor, i: Tensor, history: State) -> None:
        step, size, correction = table.index_select(0, i)[0].unbind()
        for key, past in history.items():
            past.index_copy_(0, i, live.parameters[key][None])
        x, y = draw(live, numbers.index_select(0, i)[0])

        def objective(parameters: State) -> tuple[Tensor, Tensor]:
            state = {**parameters, **live.constants}
            loss = population.loss(state, x, y)
            loss = loss + population.penalty(state, step, live.validation)
            return loss.sum(), loss

        gradients, loss = grad(objective, has_aux=True)(live.parameters)
        gradients = clip(gradients)
        first, second, moved = {}, {}, {}
        for key, g in gradients.items():
            first[key] = live.first[key].lerp(g, 1 - BETAS[0])
            second[key] = (live.second[key] * BETAS[1]).addcmul(g, g, value=1 - BETAS[1])
            spread = second[key].sqrt() / correction + EPSILON
            moved[key] = live.parameters[key] + (-size * first[key]) / spread
        moved = population.project({**moved, **live.constants})
        alive = live.alive & loss.isfinite()
        for key in gradients:
            alive = alive & _rows(moved[key].isfinite()).all(1)
        for old, new in ((live.parameters, moved), (live.first, first), (live.second, second)):
            for key in gradients:
                old[key].copy_(torch.where(_like(alive, new[key]), new[key], old[key]))
        live.age.add_(alive.to(torch.int64))
        live.alive.copy_(alive)
        i.add_(1)

    return update


def _rows(tensor: Tensor) -> Tensor:
    """Everything of a member in one line, also where that is a single number."""
    return tensor.flatten(1) if tensor.dim() > 1 else tensor[:, None]


def _like(per_member: Tensor, tensor: Tensor) -> Tensor:
    """Give a value per member as many axes as `tensor`."""
    return per_member.reshape(-1, *[1] * (tensor.dim() - 1))
