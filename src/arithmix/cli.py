"""The command line."""

import re
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console

from .measure.rulers import RULERS
from .names import choose
from .progress import Progress
from .records.shipped import shipped
from .records.store import Store
from .report.table import FORMS, Table, write
from .studies import experiment, experiments
from .studies._published import published
from .studies._rows import judged, of_study
from .study import Study
from .tasks import OPERATIONS, RANGES, Task

if TYPE_CHECKING:
    from .bench.run import Summary

app = typer.Typer(
    help="Neural arithmetic units, and the benchmark that judges them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

DATABASE = Path("arithmix.db")
StudyName = Annotated[
    str, typer.Argument(metavar="STUDY", help="A study; `arithmix list` names them.")
]
Database = Annotated[Path, typer.Option("--db", help="The file of records.")]
Format = Annotated[str, typer.Option("--format", help="terminal, markdown, latex or csv.")]
Units = Annotated[str | None, typer.Option(help="Units, as dmu,dmu[gate=single],my_file:MyUnit.")]
Operations = Annotated[str | None, typer.Option(help="Operations, as add,mul.")]
Ranges = Annotated[str | None, typer.Option(help="Ranges, as sym,p20.")]
Device = Annotated[str, typer.Option(help="cpu, cuda, or auto for cuda if it is there.")]
Seeds = Annotated[str | None, typer.Option(help="Seeds, as 0-24 or 0,3,7.")]


@app.command()
def run(
    study: StudyName,
    units: Units = None,
    operations: Operations = None,
    ranges: Ranges = None,
    seeds: Seeds = None,
    device: Device = "auto",
    out: Annotated[Path, typer.Option("--out", "--db", help="The file of records.")] = DATABASE,
    eager: Annotated[bool, typer.Option("--eager", help="Do not compile.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Make rows that are there again.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say only the result.")] = False,
) -> None:
    """Train what is missing of a study. Interrupted, the same command goes on where it stopped."""
    asked = _narrow(study, units, operations, ranges, seeds)
    progress = Progress(Console(), quiet)
    summary = _train(asked, out, _device(device), progress, not eager, force)
    _print(f"trained {summary.trained}, records in {out}")
    _print(f"solved {summary.solved}/{summary.members}")


@app.command()
def status(db: Database = DATABASE) -> None:
    """Show what the records hold, and how much of each study that is."""
    with Store(db, create=False) as store:
        rows = list(store.rows())
        made = store.provenances()
    lines = []
    for name, one in experiments().items():
        study = one.study()
        there = of_study(rows, study)
        ended = {
            key: sum(r.status == key for r in there) for key in ("stopped", "trained", "diverged")
        }
        words = ", ".join(f"{count} {key}" for key, count in ended.items() if count)
        lines.append([name, f"{len(there)}/{study.members}", words or "-"])
    tables = [Table(f"{db}: {len(rows)} rows", ["study", "members", "how they ended"], lines)]
    facts = sorted({key for one, _ in made for key in one})
    tables.append(
        Table(
            "Made with",
            ["rows", *facts],
            [[str(n), *(f.get(k, "-") for k in facts)] for f, n in made],
        )
    )
    write(tables, "terminal", _console())


@app.command()
def table(
    study: StudyName,
    units: Units = None,
    operations: Operations = None,
    ranges: Ranges = None,
    seeds: Seeds = None,
    add: Annotated[
        str | None, typer.Option(help="Units to train, where missing, and show beside the others.")
    ] = None,
    device: Device = "auto",
    db: Database = DATABASE,
    form: Format = "terminal",
) -> None:
    """Show a study's tables beside the published ones, from records and from shipped results."""
    asked = _narrow(study, units, operations, ranges, seeds)
    choose(form, FORMS, "format")
    if add is not None:
        more = _narrow(study, add, operations, ranges, seeds)
        _train(more, db, _device(device), Progress(Console(stderr=True)))
        asked = replace(asked, entries=asked.entries + more.entries)
    rows = shipped(study)
    if db.exists() or not rows:
        with Store(db, create=False) as store:
            rows += store.rows()
    rows = of_study(rows, asked)
    if not rows:
        raise ValueError(
            f"{db} has no rows of this part of {study}; `arithmix run {study}` makes them"
        )
    write(experiment(study).tables(rows, asked), form, _console())
    if form == "terminal":
        solved = sum(one.verdict.solved for one in judged(rows, RULERS[asked.ruler]))
        _print(f"solved {solved}/{asked.members}")


@app.command()
def thresholds(form: Format = "terminal") -> None:
    """Show the thresholds of both rulers, the DMU paper's beside ours."""
    paper = published()["dmu_thresholds"]
    lines, ratios = [], []
    for name in RANGES:
        cells = [name]
        for operation in OPERATIONS:
            ours, theirs = RULERS["dmu"].threshold(Task(operation, name)), paper[name][operation]
            ratios.append(ours / theirs)
            cells += [f"{ours:.3e}", f"{theirs:.2e}"]
        lines.append(cells)
    header = ["range"]
    for operation in OPERATIONS:
        header += [operation, "paper"]
    note = f"ours / paper's between {min(ratios):.3f} and {max(ratios):.3f}"
    primer = [
        [name, *(f"{RULERS['primer'].threshold(Task(o, name)):.4e}" for o in OPERATIONS)]
        for name in RANGES
    ]
    tables = [
        Table(f"Ruler dmu: {RULERS['dmu'].about}", header, lines, note),
        Table(f"Ruler primer: {RULERS['primer'].about}", ["range", *OPERATIONS], primer),
    ]
    write(tables, form, _console())


@app.command(name="list")
def list_() -> None:
    """List units, studies, operations, ranges and rulers."""
    from .units import units

    def first_line(text: str | None) -> str:
        return (text or "").strip().partition("\n")[0]

    known = [
        [name, " ".join(o for o in OPERATIONS if o in unit.exact), first_line(_module_doc(unit))]
        for name, unit in units().items()
    ]
    studies = [
        [name, str(one.study().members), one.study().ruler, one.study().about]
        for name, one in experiments().items()
    ]
    places = [
        [name, _interval(r.train), " or ".join(map(_interval, r.test))]
        for name, r in RANGES.items()
    ]
    tables = [
        Table("Units", ["unit", "exact", "what it is"], known),
        Table("Studies", ["study", "members", "ruler", "what it is"], studies),
        Table(
            "Operations", ["operation", "sign"], [[o.name, o.symbol] for o in OPERATIONS.values()]
        ),
        Table("Ranges", ["range", "trained on", "tested on"], places),
        Table("Rulers", ["ruler", "rule"], [[r.name, r.about] for r in RULERS.values()]),
    ]
    write(tables, "terminal", _console())


@app.command()
def export(
    to: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv or .parquet file.")],
    db: Database = DATABASE,
) -> None:
    """Write all rows, with their curves, to CSV or Parquet."""
    from .records.export import export as write_rows

    with Store(db, create=False) as store:
        count = write_rows(store.rows(), to)
    _print(f"wrote {count} rows to {to}")


def main() -> None:
    """Run the command line; a mistake of the caller's is one sentence and exit code 2."""
    try:
        app()
    except ValueError as error:
        typer.echo(f"arithmix: {error}", err=True)
        sys.exit(2)


def _train(
    study: Study,
    out: Path,
    device: str,
    progress: Progress,
    compiled: bool = True,
    force: bool = False,
) -> "Summary":
    """Train what is missing; an interrupt ends with a word on how to go on."""
    from .bench.run import run as run_study

    def interrupt(signum: int, frame: object) -> NoReturn:
        # Compiled code may catch what is raised inside it, so the next stretch raises it again.
        progress.interrupted = True
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    with Store(out) as store:
        try:
            return run_study(
                study,
                store,
                device=device,
                compiled=compiled,
                force=force,
                progress=progress,
            )
        except KeyboardInterrupt:
            _print(f"stopped; what was finished is in {out}; the same command goes on from there")
            raise typer.Exit(130) from None


def _console() -> Console:
    """A terminal as it is; a file or pipe wide enough that no cell is cut."""
    console = Console()
    return console if console.is_terminal else Console(width=200)


def _print(text: str) -> None:
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def _narrow(
    name: str, units: str | None, operations: str | None, ranges: str | None, seeds: str | None
) -> Study:
    study = experiment(name).study()
    labels = None
    if units is not None:
        from .units._spec import parse

        labels = [parse(text).label for text in _split(units, "units", r",(?![^\[]*\])")]
    return study.narrow(
        labels,
        _split(operations, "operations") if operations is not None else None,
        _split(ranges, "ranges") if ranges is not None else None,
        _seeds(seeds) if seeds is not None else None,
    )


def _split(text: str, what: str, separator: str = ",") -> list[str]:
    words = [word.strip() for word in re.split(separator, text) if word.strip()]
    if not words:
        raise ValueError(f"--{what} names nothing; leave it out for all {what}")
    return words


def _seeds(text: str) -> list[int]:
    seeds: list[int] = []
    for word in _split(text, "seeds"):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last or last >= 2**32:
            raise ValueError(f"seeds are written as 0-24 or 0,3,7, below 2^32; {word!r} came")
        seeds += range(first, last + 1)
    return list(dict.fromkeys(seeds))


def _device(name: str) -> str:
    import torch

    there = torch.cuda.is_available()
    choose(name, ("auto", "cpu", "cuda"), "device")
    if name == "cuda" and not there:
        raise ValueError("torch sees no CUDA device here; use --device cpu")
    return name if name != "auto" else ("cuda" if there else "cpu")


def _module_doc(cls: type) -> str | None:
    return sys.modules[cls.__module__].__doc__


def _interval(interval: tuple[float, float]) -> str:
    return f"[{interval[0]:g}, {interval[1]:g})"
