"""From a study to its records: what is missing is trained, what is there is left alone."""

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from ..measure.rulers import RULERS
from ..measure.verdict import judge
from ..progress import Progress
from ..records.provenance import provenance
from ..records.row import Asked
from ..records.source import Code, code
from ..records.store import Store
from ..study import Study
from ..units._population import LANES
from .asked import asks
from .job import Advanced, Event, Finished, Job, Said, kind, obstacle
from .runner import compiler
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
        force: Make the study's rows again; each replaces the old one when it is ready.
        processes: How many do the work; None chooses by the work there is.
        progress: What the user sees.
    """
    where = torch.device(device)
    name = torch.cuda.get_device_name(where) if where.type == "cuda" else where.type
    ruler = RULERS[study.ruler]
    with_compiler = compiler(where) if compiled else None
    how = "eager, as asked" if not compiled else "eager, no compiler was found"
    how = f"compiled with {with_compiler}" if with_compiler else how

    asked = asks(study)
    there = set() if force else store.keys()
    missing = [ask for ask in asked if ask.key not in there]
    if missing:
        for line in _covered(ask.unit for ask in missing if ":" in ask.unit):
            progress.say(line)
        jobs = _jobs(missing, ruler.name, device, with_compiler is not None, progress.say)
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
                    made = provenance(device=name, mode=event.mode)
                    store.add(event.rows, made, replace=force)
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


def _jobs(
    asked: Sequence[Asked],
    ruler: str,
    device: str,
    compiled: bool,
    say: Callable[[str], None] = lambda text: None,
) -> list[Job]:
    """One job for each kind of member; the kind hangs on the unit, the operation and the inputs.

    Members of a user's own unit that can't be trained side by side are a job each.
    """
    kinds: dict[tuple[str, str, int], str] = {}
    groups: dict[str, list[Asked]] = {}
    for ask in asked:
        those = (ask.unit, ask.operation, ask.inputs)
        if those not in kinds:
            kinds[those] = kind(ask)
        groups.setdefault(kinds[those], []).append(ask)
    jobs: list[Job] = []
    apart: dict[tuple[str, str], int] = {}
    for those in groups.values():
        why = obstacle(those)
        if why is None:
            jobs.append(Job(tuple(those), ruler, device, compiled))
        else:
            jobs += [Job((ask,), ruler, device, False, alone=True) for ask in those]
            apart[those[0].unit, why] = apart.get((those[0].unit, why), 0) + len(those)
    for (unit, why), count in apart.items():
        times = _slower(count, compiled)
        cost = f", which takes about {times} times as long as side by side" if times > 1 else ""
        say(f"{unit}: {why}, so its {count} members are trained one by one{cost}")
    return jobs


def _slower(members: int, compiled: bool) -> int:
    """How many times as long members take one by one as side by side.

    Up to whole lanes a population costs what one member of it does, and then more. Measured with a
    net of 17 parameters: 4, 43 and 57 times for 4, 36 and 225 members against a compiled
    population, 1, 11 and 31 times against an eager one.
    """
    return min(members, LANES) if compiled else max(1, min(members, 2 * LANES) // 3)


def _covered(units: Iterable[str]) -> Iterator[str]:
    """By which files users' own units are known: when one of these changes, they are new units."""
    here = Path.cwd()
    known: dict[Code, list[str]] = {}
    for unit in dict.fromkeys(units):
        known.setdefault(code(unit.partition(":")[0]), []).append(unit)
    for made_of, those in known.items():
        shown = [p.relative_to(here) if p.is_relative_to(here) else p for p in made_of.files]
        others = ", ".join([*made_of.unseen, "installed packages", "files that it reads"])
        yield (
            f"{', '.join(those)}: trained again when {' or '.join(map(str, shown))} changes; "
            f"not looked at: {others}"
        )


def _split(job: Job, parts: int) -> list[Job]:
    """Share a job out, in whole lanes; no number depends on who else is in a population."""
    size = LANES * math.ceil(len(job.asked) / parts / LANES)
    starts = range(0, len(job.asked), size)
    return [dataclasses.replace(job, asked=job.asked[i : i + size]) for i in starts]
