"""Reading records: the rows that answer for the units as they are now."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from ..measure.rulers import RULERS
from ..records.row import Row
from ..records.shipped import shipped
from ..records.store import Store
from ..study import Study


def selected(rows: Iterable[Row]) -> list[Row]:
    """Rows whose key is that of their unit now; what is left out is said beside the output."""
    from ..bench.asked import current

    found = current(rows)
    notes = Console(stderr=True)
    for note in found.notes:
        notes.print(note, markup=False, highlight=False, emoji=False, soft_wrap=True)
    return found.rows


def rows_of(study: Study, db: Path) -> list[Row]:
    """The rows, of a file and of the package, that may answer a study's questions.

    A user's own units are among them although the study does not name them.
    """
    tasks, seeds = {task for _, task in study.entries}, set(study.seeds)
    ruler = RULERS[study.ruler]
    stop = ruler.name if ruler.patience else ""
    found = {row.asked.key: row for row in shipped(study.name)}
    if db.exists() or not found:
        with Store(db, create=False) as store:
            found |= {row.asked.key: row for row in store.rows()}
    return selected(
        row
        for row in found.values()
        if row.asked.task in tasks
        and row.asked.seed in seeds
        and row.asked.stop == stop
        and (row.asked.unit in study.units or is_own(row))
    )


def is_own(row: Row) -> bool:
    """Whether a row is of a user's own unit."""
    return ":" in row.asked.unit


def with_own(study: Study, rows: Iterable[Row]) -> Study:
    """The study with the users' own units that have rows, on the tasks that they have them for."""
    more = dict.fromkeys((row.asked.unit, row.asked.task) for row in rows if is_own(row))
    return replace(study, entries=tuple(dict.fromkeys([*study.entries, *more])))
