"""A job: members that are trained side by side, from what was asked to their rows."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch._dynamo.exc import TorchDynamoException

from ..measure.rulers import RULERS
from ..measure.verdict import judge
from ..records.row import Asked, Row
from ..units._base import Unit, settings
from ..units._blame import UnitError
from ..units._lend import lent, states
from ..units._obstacle import check
from ..units._obstacle import obstacle as find_obstacle
from ..units._recipe import Recipe
from ..units._spec import parse
from .asked import recipe_of
from .engine import Outcome, train
from .streams import Streams


@dataclass(frozen=True)
class Job:
    """What can be trained as one population."""

    asked: tuple[Asked, ...]
    ruler: str
    device: str
    compiled: bool
    alone: bool = False
    """Its one member can't be stacked and is trained in plain torch."""

    @property
    def name(self) -> str:
        """The unit and the operations, for people."""
        operations = "/".join(dict.fromkeys(ask.operation for ask in self.asked))
        return f"{self.asked[0].unit} {operations}"

    @property
    def steps(self) -> int:
        """The most steps that a member makes."""
        return self.asked[0].recipe["steps"]


@dataclass(frozen=True)
class Advanced:
    """The members of a job, `live` of them still in training, have come to `step`."""

    step: int
    live: int


@dataclass(frozen=True)
class Finished:
    """Rows of a job, how they were trained, and how many of them are solved."""

    rows: list[Row]
    mode: str
    solved: int


@dataclass(frozen=True)
class Said:
    """A word for the user."""

    text: str


Event = Advanced | Finished | Said
Tell = Callable[[Event], None]


class Worker:
    """Does jobs one after another, and keeps the numbers of one for the next."""

    def __init__(self) -> None:
        self._streams: Streams | None = None

    def do(self, job: Job, tell: Tell) -> None:
        """Train a job's members and tell what happens."""
        places = [_place(ask) for ask in job.asked]
        streams = self._numbers(places, torch.device(job.device))
        first = job.asked[0]
        try:
            _train(places, job, streams, job.compiled, tell)
        except _CantCompile as error:
            tell(Said(f"{first.unit} can't be compiled and runs eagerly: {error}"))
            _train(places, job, streams, False, tell)

    def close(self) -> None:
        """Stop working ahead."""
        if self._streams is not None:
            self._streams.close()

    def _numbers(self, places: "list[_Place]", device: torch.device) -> Streams:
        seeds = sorted({place.asked.seed for place in places})
        shape = (seeds, places[0].asked.inputs, places[0].recipe.batch)
        if self._streams is None or self._streams.made_for != shape:
            self.close()
            self._streams = Streams(*shape, device)
        return self._streams


def kind(ask: Asked) -> str:
    """Equal for members that may be trained side by side."""
    place = _place(ask)
    if place.own:
        return repr((ask.unit, ask.operation, ask.inputs, ask.recipe))
    recipe = dataclasses.replace(place.recipe, arguments={})
    return repr((ask.unit, ask.inputs, recipe, sorted(settings(place.module).items())))


def obstacle(asked: Sequence[Asked]) -> str | None:
    """Why members of a user's own unit can't be trained side by side; None if they can.

    Raises:
        UnitError: They can't be trained at all.
    """
    first = asked[0]
    spec = parse(first.unit)
    if not spec.own:
        return None

    def make(place: int) -> nn.Module:
        return _place(asked[place]).module

    recipe = recipe_of(spec, first.task)
    if recipe.restart is not None and not issubclass(spec.cls, Unit):
        raise UnitError(f"{first.unit} has a recipe with restarts, which need an arithmix.Unit")
    generator = torch.Generator().manual_seed(0)
    x = 1 + torch.rand(recipe.batch, first.inputs, generator=generator)
    x = x.to(getattr(torch, recipe.dtype))
    with lent(), spec.blamed("in a first try"):
        check(make(0), x)
        return find_obstacle(make, len(asked), x)


@dataclass(frozen=True)
class _Place:
    """A member to be trained."""

    asked: Asked
    recipe: Recipe
    module: nn.Module
    own: bool
    """Whether it is of a user's own class."""


def _place(asked: Asked) -> _Place:
    spec = parse(asked.unit)
    recipe = recipe_of(spec, asked.task)
    try:
        dtype = getattr(torch, recipe.dtype)
        module = spec.build(asked.inputs, asked.operation, asked.seed, dtype=dtype)
    except UnitError:
        raise
    except (TypeError, ValueError) as error:
        raise ValueError(f"{asked.unit} can't be made: {error}") from error
    return _Place(asked, recipe, module, spec.own)


def _train(places: list[_Place], job: Job, streams: Streams, compiled: bool, tell: Tell) -> None:
    ruler, recipe = RULERS[job.ruler], places[0].recipe
    outcomes = train(
        [place.module for place in places],
        [place.asked.task for place in places],
        [place.asked.seed for place in places],
        recipe,
        ruler,
        streams=streams,
        compiled=compiled,
        watch=lambda step, live: tell(Advanced(step, live)),
        redraw=_Redraw(places) if recipe.restart else None,
        alone=job.alone,
    )
    mode = "alone" if job.alone else "compiled" if compiled else "eager"
    while (finished := _next(outcomes, places[0].asked, compiled)) is not None:
        rows = []
        for outcome in finished:
            parameters = {key: value.tolist() for key, value in outcome.parameters.items()}
            asked = places[outcome.member].asked
            rows.append(Row(asked, outcome.status, outcome.steps, outcome.curve, parameters))
        solved = sum(judge(row.curve, ruler, row.asked.task).solved for row in rows)
        tell(Finished(rows, mode, solved))


class _CantCompile(Exception):
    """What a compiler does not like about a unit, in its words."""


def _next(outcomes: Iterator[list[Outcome]], asked: Asked, compiled: bool) -> list[Outcome] | None:
    """The next members that finish; what goes wrong on the way is put to whom it belongs."""
    spec = parse(asked.unit)
    where = f"{asked.operation} {asked.range}"
    try:
        with spec.blamed(f"in training on {where}"):
            before = states() if spec.own else ()
            found = next(outcomes, None)
            if spec.own and states() != before:
                # In a population it would be another number for each run and each neighbour.
                raise ValueError("its forward pass draws random numbers, but not at its first call")
            return found
    except (UnitError, TorchDynamoException) as error:
        # A user's own unit may make any part of a compiler fail, and run well without.
        if compiled:
            raise _CantCompile(_first_line(error.__cause__ or error)) from error
        raise
    except (TypeError, RuntimeError) as error:
        raise ValueError(
            f"{asked.unit} can't be trained on {where}: {_first_line(error)}"
        ) from error


class _Redraw:
    """Draws on from where a member's seed stands after its first parameters."""

    def __init__(self, places: list[_Place]) -> None:
        self._places = places
        self._generators: dict[int, torch.Generator] = {}

    def __call__(self, member: int) -> dict[str, torch.Tensor]:
        place = self._places[member]
        assert isinstance(place.module, Unit)
        if member not in self._generators:
            generator = torch.Generator().manual_seed(place.asked.seed)
            for _ in range(place.recipe.draws):
                place.module.draw(generator)
            self._generators[member] = generator
        return place.module.draw(self._generators[member])


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
