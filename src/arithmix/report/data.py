"""What the report is made of: rows, their verdicts, and where they come from."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path

import numpy as np

from ..landscape.arrays import Landscape
from ..lm.evaluation import Evaluation
from ..measure.rulers import RULERS
from ..records.row import Row
from ..records.shipped import shipped
from ..records.store import Store
from ..studies import experiments
from ..studies._rows import judged
from ..tasks import OPERATIONS, RANGES
from .cells import Cells


@dataclass(frozen=True)
class Source:
    """Facts under which rows were made."""

    where: str
    rows: int
    facts: dict[str, str]


@dataclass(frozen=True)
class Data:
    """Rows, each the one answer to its question, and what can be asked of them."""

    rows: list[Row]
    sources: list[Source] = field(default_factory=list)
    kept: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    """Arrays that commands left in the store, by name."""
    evaluations: Sequence[Evaluation] = ()
    """Of language models, as `arithmix lm eval` wrote them."""
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


Select = Callable[[Iterable[Row]], list[Row]]
"""Chooses the rows that answer for the units as they are now, each question once."""


def gather(db: Path | None, select: Select, *, own: bool = False, lm: Sequence[Path] = ()) -> Data:
    """Read a store and, unless only its `own` rows are asked for, what comes with the package.

    Of two rows with one key, that of the store is taken. `lm` names files of evaluations.
    """
    evaluations = [Evaluation.load(path) for path in lm]
    places: dict[str, tuple[str, Row]] = {}
    kept: dict[str, dict[str, np.ndarray]] = {}
    if not own:
        for study in experiments():
            where = f"comes with the package ({study})"
            places |= {row.asked.key: (where, row) for row in shipped(study)}
    if db is not None:
        with Store(db, create=False) as store:
            places |= {row.asked.key: (db.name, row) for row in store.rows()}
            kept = store.kept("landscape/")
    rows = select(row for _, row in places.values())
    return Data(rows, _sources(places.values()), kept, evaluations)


def _sources(places: Iterable[tuple[str, Row]]) -> list[Source]:
    """The rows counted by where they come from and under what they were made."""
    counts = Counter((where, json.dumps(row.made)) for where, row in places)
    return [Source(where, count, json.loads(made)) for (where, made), count in counts.items()]
