"""Members by unit, operation and range, and what can be said of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..measure.rulers import RULERS
from ..measure.stats import wilson
from ..records.row import Row
from ..studies._rows import Judged
from ..tasks import OPERATIONS, RANGES

SEEDS = 25
"""Trainings that a cell of the benchmark has."""
Cells = dict[tuple[str, str, str], list[Judged]]
"""Members by unit, operation and range."""


@dataclass(frozen=True)
class Rate:
    """How many members were solved, and between what the true rate lies."""

    solved: int
    trained: int

    @property
    def percent(self) -> float:
        """Success in percent."""
        return 100 * self.solved / self.trained if self.trained else 0.0

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval, in percent."""
        low, high = wilson(self.solved, self.trained)
        return 100 * low, 100 * high

    @property
    def whole(self) -> bool:
        """Whether every member was solved."""
        return self.solved == self.trained > 0

    @property
    def text(self) -> str:
        """The rate with its interval, as `88.9% [84, 92]`."""
        return f"{self.short}% {self.within}"

    @property
    def short(self) -> str:
        """The rate alone: 0 and 100 whole, others to a tenth."""
        return f"{self.percent:.1f}" if 0 < self.percent < 100 else f"{self.percent:.0f}"

    @property
    def within(self) -> str:
        """The interval alone, as `[84, 92]`."""
        low, high = self.interval
        return f"[{low:.0f}, {high:.0f}]"


def rate(members: Iterable[Judged]) -> Rate:
    """The rate of these members."""
    solved = [one.verdict.solved for one in members]
    return Rate(sum(solved), len(solved))


def operations_of(cells: Cells) -> list[str]:
    """The operations that there are members of."""
    there = {operation for _, operation, _ in cells}
    return [operation for operation in OPERATIONS if operation in there]


def units_of(cells: Cells, operation: str | None = None) -> list[str]:
    """The units with members, the DMU first and then by falling success."""
    there = {u for u, o, _ in cells if operation in (None, o)}
    return sorted(there, key=lambda u: (u != "dmu", -rate(members(cells, u, operation)).percent, u))


def members(cells: Cells, unit: str, operation: str | None = None) -> list[Judged]:
    """All members of a unit, on one operation or on all."""
    asked = OPERATIONS if operation is None else (operation,)
    return [one for o in asked for r in RANGES for one in cells.get((unit, o, r), [])]


def by_range(cells: Cells, unit: str, operation: str) -> dict[str, Rate]:
    """The rate of a unit on each range it was trained on."""
    return {r: rate(cells[unit, operation, r]) for r in RANGES if (unit, operation, r) in cells}


def split(cells: Cells, unit: str, operation: str) -> bool:
    """Whether some ranges are always solved and the others never.

    An interval over all ranges would speak of chance then, where there is none.
    """
    rates = by_range(cells, unit, operation).values()
    kinds = {one.whole for one in rates if one.solved in (0, one.trained)}
    return kinds == {True, False} and all(one.solved in (0, one.trained) for one in rates)


def pooled(cells: Cells, unit: str, operation: str) -> str:
    """The rate over all ranges with its interval, or with how many are solved if they split."""
    one = rate(members(cells, unit, operation))
    if split(cells, unit, operation):
        rates = by_range(cells, unit, operation)
        whole = sum(one.whole for one in rates.values())
        return f"{one.short} [{whole} of {len(rates)} ranges]"
    return f"{one.short} {one.within}" if one.trained else ""


def excess(failed: Sequence[Judged], ruler: str) -> float:
    """The median of errors over their threshold; infinite if it is not a number."""
    limits = np.array([RULERS[ruler].threshold(one.row.asked.task) for one in failed])
    ratios = np.array([one.verdict.error for one in failed]) / limits
    return float(np.median(np.where(np.isfinite(ratios), ratios, np.inf)))


def gate_logit(row: Row) -> float | None:
    """The logit of the DMU's linear side, from one or two; None if it isn't there."""
    values = np.ravel(row.parameters.get("gate", []))
    if not 1 <= values.size <= 2 or not np.isfinite(values).all():
        return None
    return float(values[0] - values[1] if values.size == 2 else values[0])
