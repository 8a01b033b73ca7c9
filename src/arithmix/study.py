"""A study: units x tasks x seeds, as data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .names import choose
from .tasks import OPERATIONS, RANGES, Task


@dataclass(frozen=True)
class Study:
    """What is to be trained, and under which ruler."""

    name: str
    about: str
    entries: tuple[tuple[str, Task], ...]
    """Pairs of a unit, as written on the command line, and a task."""
    seeds: tuple[int, ...]
    ruler: str

    @property
    def units(self) -> tuple[str, ...]:
        """The units, each once."""
        return tuple(dict.fromkeys(unit for unit, _ in self.entries))

    @property
    def members(self) -> int:
        """How many trainings it is."""
        return len(self.entries) * len(self.seeds)

    def narrow(
        self,
        units: Sequence[str] | None = None,
        operations: Sequence[str] | None = None,
        ranges: Sequence[str] | None = None,
        seeds: Sequence[int] | None = None,
    ) -> "Study":
        """The part that is asked for; a unit that is not in the study gets all its tasks."""
        entries = list(self.entries)
        if units is not None:
            tasks = list(dict.fromkeys(task for _, task in entries))
            own = set(self.units)
            entries = [(unit, task) for unit, task in entries if unit in units]
            entries += [(u, task) for u in dict.fromkeys(units) if u not in own for task in tasks]
        if operations is not None:
            asked = {choose(name, OPERATIONS, "operation") for name in operations}
            entries = [(unit, task) for unit, task in entries if task.operation in asked]
        if ranges is not None:
            asked = {choose(name, RANGES, "range") for name in ranges}
            entries = [(unit, task) for unit, task in entries if task.range in asked]
        if not entries:
            raise ValueError(f"nothing of the study {self.name} is left by these options")
        return replace(
            self, entries=tuple(entries), seeds=tuple(seeds) if seeds is not None else self.seeds
        )
