"""Finding a study's rows and holding a ruler against them."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..measure.rulers import RULERS, Ruler
from ..measure.verdict import Verdict, judge
from ..records.row import Row
from ..study import Study


@dataclass(frozen=True)
class Judged:
    """A row with its verdict."""

    row: Row
    verdict: Verdict


def of_study(rows: Iterable[Row], study: Study) -> list[Row]:
    """The rows that a study asked for, among rows of which each question has one."""
    ruler = RULERS[study.ruler]
    stop = ruler.name if ruler.patience else ""
    wanted = set(study.entries)
    seeds = set(study.seeds)
    found = {
        (row.asked.unit, row.asked.task, row.asked.seed): row
        for row in rows
        if (row.asked.unit, row.asked.task) in wanted
        and row.asked.seed in seeds
        and row.asked.stop == stop
    }
    return list(found.values())


def judged(rows: Iterable[Row], ruler: Ruler) -> list[Judged]:
    """Every row with what `ruler` says of it."""
    return [Judged(row, judge(row.curve, ruler, row.asked.task)) for row in rows]
