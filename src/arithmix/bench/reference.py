"""The engine's plain twin: one member, one visible loop, torch's own Adam. Slow, easy to trust."""

import numpy as np
import torch
from torch import nn

from ..tasks import OPERATIONS, RANGES, Task
from ..units._base import Unit
from ..units._recipe import Recipe
from .streams import origin


def train(unit: nn.Module, task: Task, seed: int, recipe: Recipe, steps: int) -> None:
    """Train one unit in place for `steps` steps."""
    start = origin(seed, task.inputs)
    rng = np.random.RandomState(start.stream)
    optimiser = torch.optim.Adam(unit.parameters(), lr=recipe.rate)
    dtype = getattr(torch, recipe.dtype)
    unknown = torch.tensor(float("inf"), dtype=dtype)
    for step in range(steps):
        x, y = _batch(rng, task, start.offset, recipe)
        x, y = torch.from_numpy(x).to(dtype), torch.from_numpy(y).to(dtype)
        optimiser.zero_grad()
        if isinstance(unit, Unit):
            loss = unit.loss(x, y) + unit.penalty(torch.tensor(step, dtype=dtype), unknown)
        else:
            loss = nn.functional.mse_loss(unit(x), y)
        loss.backward()
        if recipe.clip_norm is not None:
            nn.utils.clip_grad_norm_(unit.parameters(), recipe.clip_norm)
        if recipe.clip_value is not None:
            nn.utils.clip_grad_value_(unit.parameters(), recipe.clip_value)
        optimiser.step()
        if isinstance(unit, Unit):
            unit.project()


def _batch(
    rng: np.random.RandomState, task: Task, offset: int, recipe: Recipe
) -> tuple[np.ndarray, np.ndarray]:
    low, high = RANGES[task.range].train
    x = rng.uniform(low, high, size=(recipe.batch, task.inputs))
    y = OPERATIONS[task.operation].apply(x[:, offset], x[:, offset + 1])
    if recipe.target_limit is not None:
        x[np.abs(y) > recipe.target_limit] = high
        y = OPERATIONS[task.operation].apply(x[:, offset], x[:, offset + 1])
    return x, y[:, None]
