"""The one training loop: a population, many steps at a time, until its ruler needs no more."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from ..measure.rulers import Ruler
from ..measure.verdict import FirstRun
from ..records.row import Curve
from ..tasks import Task
from ..units._population import Population, State
from ..units._recipe import Recipe
from .alone import Alone, PlainRunner
from .exam import Exam
from .restart import Redraw, Stalls, start_again
from .runner import Runner
from .step import Live, begin, make_update, padded
from .streams import Streams


@dataclass(frozen=True)
class Outcome:
    """What became of one member."""

    member: int
    status: str
    """stopped: solved, and in need of no more steps; trained: to the end; diverged: not finite."""
    steps: int
    """Updates made."""
    curve: Curve
    parameters: dict[str, np.ndarray]
    """As they were after these updates."""


Watch = Callable[[int, int], None]
"""Told how many steps are done, and how many members are still in training."""


def train(
    members: Sequence[nn.Module],
    tasks: Sequence[Task],
    seeds: Sequence[int],
    recipe: Recipe,
    ruler: Ruler,
    *,
    streams: Streams,
    compiled: bool = False,
    watch: Watch = lambda step, live: None,
    redraw: Redraw | None = None,
    alone: bool = False,
) -> Iterator[list[Outcome]]:
    """Train members of one unit side by side; yield them as they finish.

    Args:
        members: Modules of one class and settings, at their starting parameters.
        tasks: The task of each; all with the same number of inputs.
        seeds: The seed of each, all among the seeds of `streams`.
        recipe: How they are trained.
        ruler: What is looked at, and whether a solved member stops.
        streams: The numbers.
        compiled: Whether to compile the update.
        watch: Called after each stretch of steps.
        redraw: Draws new parameters for a member, where the recipe has members start again.
        alone: There is one member, which can't be stacked: train it in plain torch.
    """
    population: Population | Alone
    runner: Runner | PlainRunner
    if alone:
        population = Alone(members[0].to(streams.device), seeds[0])
        runner = PlainRunner(population, recipe, tasks[0], streams)
    else:
        population = Population(members)
        runner = Runner(make_update(population, recipe, tasks), recipe, streams, compiled)
    live = begin(population, tasks, seeds, streams)
    stalls = Stalls(recipe.restart, len(members)) if recipe.restart and redraw else None
    book = _Book(population, tasks, seeds, recipe, ruler, streams.device, compiled and not alone)
    places = {member: member for member in range(len(members))}  # where each one in training is
    start = 0
    while places:
        final = start == recipe.steps
        if final or start % ruler.grid == 0:
            index = torch.tensor(list(places.values()), device=streams.device)
            state = {key: value[index] for key, value in (live.parameters | live.constants).items()}
            live.validation[index] = book.write(state, dict.fromkeys(places, start))
        steps = min(ruler.grid - start % ruler.grid, recipe.steps - start)
        if runner.stretch is not None:
            steps = min(steps, runner.stretch)
        if final:
            history = {key: value[None] for key, value in live.parameters.items()}
        else:
            again: list[int] = []
            if stalls is not None and redraw is not None:
                errors = live.validation.tolist()
                known = {member: errors[place] for member, place in places.items()}
                steps, again = stalls.first(known, start, steps)
            history = runner.run(live, start, steps, record=ruler.patience is not None)
            for member in again:
                assert redraw is not None
                start_again(live, places[member], redraw(member))
        age, alive = live.age.tolist(), live.alive.tolist()
        then = _Stretch(live, history, places, start).state
        ends = {m: min(start + max(steps, 1), age[place] + 1) for m, place in places.items()}
        found = book.search(ends, then) if ruler.patience is not None else {}
        leaving: list[Outcome] = []
        if found:
            state = then(found)
            book.write(state, found)
            for i, (member, step) in enumerate(found.items()):
                leaving.append(book.outcome(member, "stopped", step, population.trained(state, i)))
        for member, place in places.items():
            if member not in found and (final or not alive[place]):
                status = "trained" if alive[place] else "diverged"
                last = population.trained(live.parameters, place)
                leaving.append(book.outcome(member, status, age[place], last))
        if leaving:
            yield leaving
            for outcome in leaving:
                del places[outcome.member]
            if places and len(padded(list(places))) < len(live.alive):
                live = live.take(list(places.values()))
                places = {member: place for place, member in enumerate(places)}
        start += steps
        watch(start, len(places))


@dataclass(frozen=True)
class _Stretch:
    """Some steps of a population, with its parameters before each."""

    live: Live
    history: State
    places: dict[int, int]
    start: int

    def state(self, at: dict[int, int]) -> State:
        """Parameters and constants of each member of `at` at its step there."""
        device = self.live.alive.device
        place = torch.tensor([self.places[member] for member in at], device=device)
        step = torch.tensor([step - self.start for step in at.values()], device=device)
        constants = {key: value[place] for key, value in self.live.constants.items()}
        return {key: value[step, place] for key, value in self.history.items()} | constants


class _Book:
    """What is known of each member: its errors and sparsity at the steps that were looked at."""

    def __init__(
        self,
        population: Population | Alone,
        tasks: Sequence[Task],
        seeds: Sequence[int],
        recipe: Recipe,
        ruler: Ruler,
        device: torch.device,
        compiled: bool,
    ) -> None:
        self._population = population
        dtype = getattr(torch, recipe.dtype)
        self._exam = Exam(population, tasks, seeds, dtype, device, compiled)
        self._thresholds = [ruler.threshold(task) for task in tasks]
        self._searches = [FirstRun(ruler.patience or 0) for _ in tasks]
        self._points: list[dict[int, tuple[float, float, float]]] = [{} for _ in tasks]

    def write(self, state: State, at: dict[int, int]) -> torch.Tensor:
        """Look at everything of each member at its step in `at`; return the validation errors."""
        members = list(at)
        validation = self._exam.errors(state, members, "validation")
        test = self._exam.errors(state, members, "test")
        sparsity = self._population.sparsity(state)
        values = zip(at.items(), validation.tolist(), test.tolist(), sparsity.tolist(), strict=True)
        for (member, step), *point in values:
            self._points[member][step] = (point[0], point[1], point[2])
        return validation

    def search(
        self, ends: dict[int, int], then: Callable[[dict[int, int]], State]
    ) -> dict[int, int]:
        """Look on for each member's first run of hits before its end; return those found."""
        unknown = float("nan")
        while True:
            asked: dict[int, int] = {}
            for member, end in ends.items():
                search, points = self._searches[member], self._points[member]
                while (step := search.next(end)) is not None and step in points:
                    search.tell(points[step][1] < self._thresholds[member])
                if step is not None:
                    asked[member] = step
            if not asked:
                break
            errors = self._exam.errors(then(asked), list(asked), "test").tolist()
            for (member, step), error in zip(asked.items(), errors, strict=True):
                self._points[member][step] = (unknown, error, unknown)
        at = {member: self._searches[member].found for member in ends}
        return {member: step for member, step in at.items() if step is not None}

    def outcome(
        self, member: int, status: str, steps: int, parameters: dict[str, np.ndarray]
    ) -> Outcome:
        """Close a member's page."""
        points = sorted(self._points[member].items())
        validation, test, sparsity = np.array([point for _, point in points], dtype=np.float32).T
        curve = Curve(np.array([step for step, _ in points]), validation, test, sparsity)
        return Outcome(member, status, steps, curve, parameters)
