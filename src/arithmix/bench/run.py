"""From a study to its records: what is missing is trained, what is there is left alone."""

import dataclasses
from dataclasses import dataclass

import torch
from torch import nn
from torch._dynamo.exc import TorchDynamoException

from ..measure.rulers import RULERS, Ruler
from ..measure.verdict import judge
from ..progress import Progress
from ..records.provenance import provenance
from ..records.row import Asked, Row
from ..records.store import Store
from ..study import Study
from ..tasks import Task
from ..units._base import Recipe, Unit, settings
from ..units._spec import Spec, parse
from .engine import train
from .runner import compiler
from .streams import Streams


@dataclass(frozen=True)
class Summary:
    """What a run did."""

    members: int
    solved: int
    """Among all members of the study, those that were there before included."""
    trained: int


@dataclass(frozen=True)
class _Place:
    """A member to be trained."""

    asked: Asked
    spec: Spec
    recipe: Recipe
    module: nn.Module

    @property
    def group(self) -> str:
        """Equal for members that can be trained side by side."""
        recipe = dataclasses.replace(self.recipe, arguments={})
        return repr(
            (self.asked.unit, self.asked.inputs, recipe, sorted(settings(self.module).items()))
        )


def run(
    study: Study,
    store: Store,
    *,
    device: str = "cpu",
    compiled: bool = True,
    force: bool = False,
    progress: Progress,
) -> Summary:
    """Train what the store does not have of a study.

    Args:
        study: What is wanted.
        store: Where rows are kept.
        device: cpu or cuda.
        compiled: Compile the update if a compiler is there.
        force: Forget the study's rows first and make them again.
        progress: What the user sees.
    """
    where = torch.device(device)
    ruler = RULERS[study.ruler]
    with_compiler = compiler(where) if compiled else None
    how = "eager, as asked" if not compiled else "eager, no compiler was found"
    how = f"compiled with {with_compiler}" if with_compiler else how

    asked = asks(study, ruler)
    if force:
        store.remove(ask.key for ask in asked)
    there = store.keys()
    missing = [ask for ask in asked if ask.key not in there]
    if missing:
        progress.say(
            f"{study.name}: {len(missing)} of {len(asked)} members to train ({_name(where)}, {how})"
        )
    groups: dict[str, list[_Place]] = {}
    for ask in missing:
        place = _place(ask)
        groups.setdefault(place.group, []).append(place)
    streams: Streams | None = None
    try:
        for places in groups.values():
            seeds = sorted({place.asked.seed for place in places})
            shape = (seeds, places[0].asked.inputs, places[0].recipe.batch)
            if streams is None or streams.made_for != shape:
                if streams is not None:
                    streams.close()
                streams = Streams(*shape, where)
            _train_group(places, ruler, store, streams, with_compiler is not None, progress)
    finally:
        if streams is not None:
            streams.close()
    keys = {ask.key for ask in asked}
    verdicts = [judge(r.curve, ruler, r.asked.task) for r in store.rows() if r.asked.key in keys]
    return Summary(len(asked), sum(verdict.solved for verdict in verdicts), len(missing))


def asks(study: Study, ruler: Ruler) -> list[Asked]:
    """Everything that a study asks, in its order."""
    specs = {text: parse(text) for text in study.units}
    return [
        _ask(specs[text], task, seed, ruler) for text, task in study.entries for seed in study.seeds
    ]


def _recipe(spec: Spec, task: Task) -> Recipe:
    """The unit's recipe, with the arguments that were written over those that it has."""
    recipe = spec.recipe(task.operation, task.inputs)
    return dataclasses.replace(recipe, arguments={**recipe.arguments, **spec.arguments})


def _ask(spec: Spec, task: Task, seed: int, ruler: Ruler) -> Asked:
    return Asked(
        unit=spec.label,
        operation=task.operation,
        range=task.range,
        inputs=task.inputs,
        seed=seed,
        stop=ruler.name if ruler.patience else "",
        grid=ruler.grid,
        recipe=dataclasses.asdict(_recipe(spec, task)),
        source=spec.source,
    )


def _place(asked: Asked) -> _Place:
    spec = parse(asked.unit)
    recipe = _recipe(spec, asked.task)
    try:
        dtype = getattr(torch, recipe.dtype)
        module = spec.build(asked.inputs, asked.operation, asked.seed, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{asked.unit} can't be made: {error}") from error
    return _Place(asked, spec, recipe, module)


def _train_group(
    places: list[_Place],
    ruler: Ruler,
    store: Store,
    streams: Streams,
    compiled: bool,
    progress: Progress,
) -> None:
    first = places[0].asked
    try:
        try:
            _train(places, ruler, store, streams, compiled, progress)
        except TorchDynamoException as error:
            progress.say(f"{first.unit} can't be compiled and runs eagerly: {_first_line(error)}")
            _train(places, ruler, store, streams, False, progress)
    except (TypeError, RuntimeError) as error:
        where = f"{first.operation} {first.range}"
        raise ValueError(
            f"{first.unit} can't be trained on {where}: {_first_line(error)}"
        ) from error
    finally:
        progress.close()


def _train(
    places: list[_Place],
    ruler: Ruler,
    store: Store,
    streams: Streams,
    compiled: bool,
    progress: Progress,
) -> None:
    recipe, unit = places[0].recipe, places[0].asked.unit
    operations = "/".join(dict.fromkeys(place.asked.operation for place in places))
    origin = provenance(device=_name(streams.device), mode="compiled" if compiled else "eager")
    progress.start(f"{unit} {operations}", len(places), recipe.steps)
    outcomes = train(
        [place.module for place in places],
        [place.asked.task for place in places],
        [place.asked.seed for place in places],
        recipe,
        ruler,
        streams=streams,
        compiled=compiled,
        watch=progress.advance,
        redraw=_Redraw(places) if recipe.restart else None,
    )
    for finished in outcomes:
        rows = []
        for outcome in finished:
            parameters = {key: value.tolist() for key, value in outcome.parameters.items()}
            asked = places[outcome.member].asked
            rows.append(Row(asked, outcome.status, outcome.steps, outcome.curve, parameters))
        store.add(rows, origin)
        progress.solve(sum(judge(r.curve, ruler, r.asked.task).solved for r in rows))


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


def _name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
