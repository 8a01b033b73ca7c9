"""`arithmix landscape`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..names import choose
from ..records.provenance import provenance
from ..records.store import Store
from ..table import write
from ..tasks import OPERATIONS, RANGES, Task
from ._options import DATABASE, Database, console, need, print_line

FORMATS = ("png", "svg", "pdf", "html")


def landscape(
    operation: Annotated[
        str | None, typer.Argument(metavar="OPERATION", help="add, sub, mul or div.")
    ] = None,
    range_: Annotated[str | None, typer.Argument(metavar="RANGE", help="A range, as sym.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every operation on every range.")] = False,
    db: Database = DATABASE,
    out: Annotated[
        Path | None,
        typer.Option("-o", help="A picture: .png, .svg, .pdf or .html; with --all a folder."),
    ] = None,
    form: Annotated[
        str, typer.Option("--pictures", help="With --all, the pictures' format.")
    ] = "png",
) -> None:
    """Show the DMU's loss over its selector and gate, and where trainings end on it."""
    tasks = _tasks(operation, range_, all_)
    pictures = _pictures(tasks, out, all_, choose(form, FORMATS, "format"))
    from ..landscape.make import landscapes
    from ..landscape.tables import said, summary, tables

    notes = Console(stderr=True)
    made = []
    with Store(db) as store:
        where = provenance(device="cpu")
        with notes.status(f"training {len(tasks)} tasks with a learnable selector"):
            for number, one in enumerate(landscapes(tasks, pictures), 1):
                store.keep(one.name, one.arrays, where)
                made.append(one)
                if all_ and number % 6 == 0:
                    notes.print(f"{number} of {len(tasks)} landscapes")
    made.sort(key=lambda one: tasks.index(one.task))
    write(summary(made) if all_ else tables(made[0]), "terminal", console())
    print_line(said(made))
    picture = f", {'pictures' if all_ else 'picture'} in {out}" if out else ""
    print_line(f"kept in {db}{picture}")


def _tasks(operation: str | None, range_: str | None, all_: bool) -> list[Task]:
    if all_:
        if operation is not None:
            raise ValueError(f"--all is every operation on every range; got {operation!r} as well")
        return [Task(one, other) for one in OPERATIONS for other in RANGES]
    if operation is None or range_ is None:
        raise ValueError("name an operation and a range, as `arithmix landscape sub sym`, or --all")
    return [Task(operation, range_)]


def _pictures(tasks: list[Task], out: Path | None, all_: bool, form: str) -> dict[Task, Path]:
    if out is None:
        return {}
    if not all_:
        form = choose(out.suffix.removeprefix("."), FORMATS, "format")
    if form == "html":
        need("plotly", "report")
    else:
        need("matplotlib", "figures")
    if not all_:
        out.parent.mkdir(parents=True, exist_ok=True)
        return {tasks[0]: out}
    out.mkdir(parents=True, exist_ok=True)
    return {task: out / f"{task.operation}-{task.range}.{form}" for task in tasks}
