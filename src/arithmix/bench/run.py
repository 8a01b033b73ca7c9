"""From a study to its records: what is missing is trained, what is there is left alone."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ..measure.rulers import RULERS, Ruler
from ..measure.verdict import judge
from ..progress import Progress
from ..records.provenance import provenance
from ..records.row import Asked
from ..records.store import Store
from ..study import Study
from ..tasks import Task
from ..units._spec import Spec, parse
from .job import Advanced, Event, Finished, Job, Said, kind, recipe_of
from .runner import compiler
from .step import LANES
from .workers import how_many, work


@dataclass(frozen=True)
class Summary:
    """What a run did."""

    members: int
    solved: int
    """Among all members of the study, those that were there before included."""
    trained: int


def run(
    study: Study,
    store: Store,
    *,
    device: str = "cpu",
    compiled: bool = True,
    force: bool = False,
    processes: int | None = None,
    progress: Progress,
) -> Summary:
    """Train what the store does not have of a study.

    Args:
        study: What is wanted.
        store: Where rows are kept.
        device: cpu or cuda.
        compiled: Compile the update if a compiler is there.
        force: Forget the study's rows first and make them again.
        processes: How many do the work; None chooses by the work there is.
        progress: What the user sees.
    """
    where = torch.device(device)
    name = torch.cuda.get_device_name(where) if where.type == "cuda" else where.type
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
        jobs = _jobs(missing, ruler.name, device, with_compiler is not None)
        count = processes or how_many(jobs, where)
        jobs = [part for job in jobs for part in _split(job, math.ceil(count / len(jobs)))]
        count = min(count, len(jobs))
        with_ = f", {count} processes" if count > 1 else ""
        progress.say(
            f"{study.name}: {len(missing)} of {len(asked)} members to train ({name}, {how}{with_})"
        )
        progress.begin(study.name, [(job.name, len(job.asked), job.steps) for job in jobs])
        number = {id(job): place for place, job in enumerate(jobs)}

        def handle(job: Job, event: Event | None) -> None:
            match event:
                case Advanced():
                    progress.advance(number[id(job)], event.step, event.live)
                case Finished():
                    store.add(event.rows, provenance(device=name, mode=event.mode))
                    progress.solve(event.solved)
                case Said():
                    progress.say(event.text)
                case None:
                    progress.advance(number[id(job)], job.steps, 0)

        try:
            work(jobs, count, handle)
        finally:
            progress.close()
    keys = {ask.key for ask in asked}
    verdicts = [judge(r.curve, ruler, r.asked.task) for r in store.rows() if r.asked.key in keys]
    return Summary(len(asked), sum(verdict.solved for verdict in verdicts), len(missing))


def asks(study: Study, ruler: Ruler) -> list[Asked]:
    """Everything that a study asks, in its order."""
    specs = {text: parse(text) for text in study.units}
    return [
        _ask(specs[text], task, seed, ruler) for text, task in study.entries for seed in study.seeds
    ]


def _ask(spec: Spec, task: Task, seed: int, ruler: Ruler) -> Asked:
    return Asked(
        unit=spec.label,
        operation=task.operation,
        range=task.range,
        inputs=task.inputs,
        seed=seed,
        stop=ruler.name if ruler.patience else "",
        grid=ruler.grid,
        recipe=dataclasses.asdict(recipe_of(spec, task)),
        source=spec.source,
    )


def _jobs(asked: Sequence[Asked], ruler: str, device: str, compiled: bool) -> list[Job]:
    """One job for each kind of member; the kind hangs on the unit, the operation and the inputs."""
    kinds: dict[tuple[str, str, int], str] = {}
    groups: dict[str, list[Asked]] = {}
    for ask in asked:
        those = (ask.unit, ask.operation, ask.inputs)
        if those not in kinds:
            kinds[those] = kind(ask)
        groups.setdefault(kinds[those], []).append(ask)
    return [Job(tuple(those), ruler, device, compiled) for those in groups.values()]


def _split(job: Job, parts: int) -> list[Job]:
    """Share a job out, in whole lanes; no number depends on who else is in a population."""
    size = LANES * math.ceil(len(job.asked) / parts / LANES)
    starts = range(0, len(job.asked), size)
    return [dataclasses.replace(job, asked=job.asked[i : i + size]) for i in starts]
