"""What the report is made of: rows, their verdicts, and where they come from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path

import numpy as np

from ..landscape.arrays import Landscape
from ..measure.rulers import RULERS
from ..measure.stats import wilson
from ..records.row import Row
from ..records.shipped import made_with, shipped
from ..records.store import Store
from ..studies import experiments
from ..studies._rows import Judged, judged
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


@dataclass(frozen=True)
class Source:
    """Facts under which rows were made."""

    where: str
    rows: str
    facts: dict[str, str]


@dataclass(frozen=True)
class Data:
    """Rows, each the one answer to its question, and what can be asked of them."""

    rows: list[Row]
    sources: list[Source] = field(default_factory=list)
    kept: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    """Arrays that commands left in the store, by name."""
    _cells: dict[tuple[str, int], Cells] = field(default_factory=dict, repr=False)

    @cached_property
    def main(self) -> list[Row]:
        """The rows that are not of an ablation alone."""
        kinds: dict[bool, set] = {True: set(), False: set()}
        for one in experiments().values():
            kinds[hasattr(one, "ABLATION")] |= set(one.study().entries)
        aside = kinds[True] - kinds[False]
        return [row for row in self.rows if (row.asked.unit, row.asked.task) not in aside]

    @cached_property
    def inputs(self) -> list[int]:
        """The numbers of inputs that whole trainings were made with."""
        return sorted({row.asked.inputs for row in self.main if not row.asked.stop})

    @cached_property
    def landscapes(self) -> list[Landscape]:
        """Those that are kept, in the order of operations and ranges."""
        names = {field.name for field in fields(Landscape)}
        made = [Landscape.of(one) for one in self.kept.values() if names <= one.keys()]
        places = [(operation, range_) for operation in OPERATIONS for range_ in RANGES]
        return sorted(made, key=lambda one: places.index((one.task.operation, one.task.range)))

    @cached_property
    def units(self) -> list[str]:
        """Every unit that is not of an ablation alone, by name."""
        return sorted({row.asked.unit for row in self.main})

    def cells(self, ruler: str, inputs: int = 2) -> Cells:
        """Members under a ruler: those it stopped, or, if it stops none, those trained whole."""
        if (ruler, inputs) not in self._cells:
            stop = ruler if RULERS[ruler].patience else ""
            rows = [r for r in self.main if r.asked.stop == stop and r.asked.inputs == inputs]
            cells: Cells = {}
            for one in judged(rows, RULERS[ruler]):
                asked = one.row.asked
                cells.setdefault((asked.unit, asked.operation, asked.range), []).append(one)
            self._cells[ruler, inputs] = cells
        return self._cells[ruler, inputs]


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
    """The middle of errors over their threshold; infinite if it is not a number."""
    limits = np.array([RULERS[ruler].threshold(one.row.asked.task) for one in failed])
    ratios = np.array([one.verdict.error for one in failed]) / limits
    return float(np.median(np.where(np.isfinite(ratios), ratios, np.inf)))


def gate_logit(row: Row) -> float | None:
    """The logit of the DMU's linear side, from one or two; None if it isn't there."""
    values = np.ravel(row.parameters.get("gate", []))
    if not 1 <= values.size <= 2 or not np.isfinite(values).all():
        return None
    return float(values[0] - values[1] if values.size == 2 else values[0])


def gather(db: Path | None, *, own: bool = False) -> Data:
    """Read a store and, unless only its `own` rows are asked for, what comes with the package.

    Of two answers to one question the later is kept.
    """
    rows: list[Row] = []
    sources: list[Source] = []
    kept: dict[str, dict[str, np.ndarray]] = {}
    if not own:
        for study in experiments():
            found = shipped(study)
            rows += found
            made = made_with(study)
            count = f"{len(found)} together" if len(made) > 1 else str(len(found))
            sources += [Source(f"comes with the package ({study})", count, one) for one in made]
    if db is not None:
        with Store(db, create=False) as store:
            rows += store.rows()
            kept = store.kept("landscape/")
            sources += [Source(db.name, str(n), facts) for facts, n in store.provenances()]
    last = {(r.asked.unit, r.asked.task, r.asked.seed, r.asked.stop): r for r in rows}
    return Data(list(last.values()), sources, kept)
