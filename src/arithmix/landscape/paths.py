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
    "first": (1.0, 0.0),
    "small": (0.1, -0.1),
    **dict.fromkeys(f"random {i}" for i in range(3)),
}
"""Selectors that trainings start from; without numbers they are drawn between -1 and 1."""
SEEDS = len(STARTS)
"""Those of the first trainings are 0 to SEEDS - 1; as many more, from the same starts, put what is
said of the first to the test."""


@dataclass(frozen=True)
class Paths:
    """The trainings of one task, from every start."""

    step: np.ndarray
    """Steps at which they were noted, the last one after all updates."""
    path: np.ndarray
    """(O0, O1, g) there, `trainings noted 3`."""
    seed: np.ndarray
    test: np.ndarray
    """Where the trainings of the other seeds ended, `trainings 3`."""


def train(tasks: Sequence[Task], steps: int = STEPS, compiled: bool = True) -> list[Paths]:
    """Train every task from every start, all in one population and by the unit's own recipe."""
    device = torch.device("cpu")
    seeds = range(2 * SEEDS)
    members = [
        _unit(task, start, seed)
        for task in tasks
        for start, seed in zip([*STARTS.values()] * 2, seeds, strict=True)
    ]
    theirs = [task for task in tasks for _ in seeds]
    recipe = replace(DMU.recipe(tasks[0].operation), arguments={})
    population = Population(members)
    streams = Streams(list(seeds), 2, recipe.batch, device)
    update = make_update(population, recipe, theirs)
    compiled = compiled and compiler(device) is not None
    runner = Runner(update, recipe, streams, compiled, any_size=False)  # compiles sooner
    live = begin(population, theirs, [seed for _ in tasks for seed in seeds], streams)
    early, evenly = np.geomspace(1, steps + 1, NOTED) - 1, np.linspace(0, steps, NOTED)
    noted = np.unique(np.concatenate([early, evenly]).round().astype(np.int64))
    places: list[np.ndarray] = []
    temperature = members[0].gate_temperature
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"torch\.")
            for start in range(0, steps, streams.steps):
                count = min(streams.steps, steps - start)
                history = runner.run(live, start, count, record=True)
                chosen = noted[(noted >= start) & (noted < start + count)] - start
                some = {name: values[chosen] for name, values in history.items()}
                places.append(_place(some, temperature))
    finally:
        streams.close()
    places.append(_place(live.parameters, temperature)[None])
    path = np.concatenate(places)[:, : len(members)].swapaxes(0, 1)
    path = path.reshape(len(tasks), len(seeds), -1, 3)
    first = np.arange(SEEDS)
    return [Paths(noted, ways[:SEEDS], first, ways[SEEDS:, -1]) for ways in path]


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
