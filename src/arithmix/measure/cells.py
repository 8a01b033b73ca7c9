"""Cells: the members of one unit on one task, and what a ruler says of them together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..records.row import Row
from ..tasks import Task
from .rulers import Ruler
from .stats import Interval, wilson
from .verdict import judge


@dataclass(frozen=True)
class Cell:
    """Members of one unit on one task under one ruler."""

    unit: str
    task: Task
    ruler: str
    members: int
    solved: int
    interval: Interval
    """Of the rate, Wilson's at 95%."""
    step: float | None
    """Mean over solved members; None without any."""
    sparsity: float | None
    """Mean over solved members; None without any, or where the unit has none."""
    error: float
    """Mean test error of all."""


def cells(rows: Iterable[Row], ruler: Ruler) -> list[Cell]:
    """Rows counted by unit and task, in the order in which these first come."""
    groups: dict[tuple[str, Task], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.asked.unit, row.asked.task), []).append(row)
    return [_cell(unit, task, those, ruler) for (unit, task), those in groups.items()]


def _cell(unit: str, task: Task, rows: Sequence[Row], ruler: Ruler) -> Cell:
    verdicts = [judge(row.curve, ruler, task) for row in rows]
    solved = [one for one in verdicts if one.solved]
    return Cell(
        unit=unit,
        task=task,
        ruler=ruler.name,
        members=len(rows),
        solved=len(solved),
        interval=wilson(len(solved), len(rows)),
        step=_mean([one.step for one in solved if one.step is not None]),
        sparsity=_mean([one.sparsity for one in solved]),
        error=float(np.mean([one.error for one in verdicts])),
    )


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values and not np.isnan(values).all() else None
