"""Real trainings of the DMU with a learnable selector, and the way they take."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from ..bench.runner import Runner, compiler
from ..bench.step import begin, make_update
from ..bench.streams import Streams
from ..tasks import Task
from ..units._population import Population, State
from ..units.dmu import DMU

STEPS = 20_000
NOTED = 80
"""Steps noted at equal distances, and as many at distances that grow."""
STARTS: dict[str, tuple[float, float] | None] = {
    "add": (1.0, 1.0),
    "sub": (1.0, -1.0),
    "half": (0.5, 0.5),
    "small": (0.1, -0.1),
    "random 0": None,
    "random 1": None,
    "random 2": None,
}
"""Selectors that trainings start from; without numbers they are drawn between -1 and 1."""


@dataclass(frozen=True)
class Paths:
    """The trainings of one task, from every start."""

    step: np.ndarray
    """Steps at which they were noted, the last one after all updates."""
    path: np.ndarray
    """(O0, O1, g) there, `trainings noted 3`."""
    end: np.ndarray
    """Where they settle, `trainings 3`: the mean over the last tenth of their steps. Adam at a
    constant rate goes on shaking by up to 0.05 about such a place."""
    seed: np.ndarray


def train(tasks: Sequence[Task], steps: int = STEPS, compiled: bool = True) -> list[Paths]:
    """Train every task from every start, all in one population and by the unit's own recipe."""
    device = torch.device("cpu")
    seeds = np.arange(len(STARTS))
    members = [
        _unit(task, start, int(seed))
        for task in tasks
        for start, seed in zip(STARTS.values(), seeds, strict=True)
    ]
    theirs = [task for task in tasks for _ in STARTS]
    recipe = replace(DMU.recipe(tasks[0].operation), arguments={})
    population = Population(members)
    streams = Streams(list(map(int, seeds)), 2, recipe.batch, device)
    update = make_update(population, recipe, theirs)
    runner = Runner(update, recipe, streams, compiled and compiler(device) is not None)
    live = begin(population, theirs, [int(seed) for _ in tasks for seed in seeds], streams)
    early, evenly = np.geomspace(1, steps + 1, NOTED) - 1, np.linspace(0, steps, NOTED)
    noted = np.unique(np.concatenate([early, evenly]).round().astype(np.int64))
    settled = steps - max(1, steps // 10)
    places: list[np.ndarray] = []
    last: list[np.ndarray] = []
    temperature = members[0].gate_temperature
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"torch\.")
            for start in range(0, steps, streams.steps):
                count = min(streams.steps, steps - start)
                history = runner.run(live, start, count, record=True)
                every = _place(history, temperature)
                places.append(every[noted[(noted >= start) & (noted < start + count)] - start])
                last.append(every[max(0, settled - start) :].sum(0))
    finally:
        streams.close()
    places.append(_place(live.parameters, temperature)[None])
    shape = (len(tasks), len(STARTS))
    path = np.concatenate(places)[:, : len(members)].swapaxes(0, 1).reshape(*shape, -1, 3)
    end = (np.sum(last, 0) / (steps - settled))[: len(members)].reshape(*shape, 3)
    return [Paths(noted, *both, seeds) for both in zip(path, end, strict=True)]


def _unit(task: Task, start: tuple[float, float] | None, seed: int) -> DMU:
    drawn = np.random.default_rng(seed).uniform(-1, 1, 2)
    arguments: dict[str, Any] = dict(DMU.recipe(task.operation).arguments)
    arguments["selector"] = torch.tensor([start or tuple(drawn)])
    return DMU(2, learn_selector=True, **arguments)


def _place(state: State, temperature: float) -> np.ndarray:
    """(O0, O1, g) of parameters `... members 1 2`."""
    logits = state["gate"].double() / temperature
    g = torch.sigmoid(logits[..., 0, :1] - logits[..., 0, 1:])
    return torch.cat([state["selector"][..., 0, :].double(), g], -1).numpy()
