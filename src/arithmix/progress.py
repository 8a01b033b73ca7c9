"""Progress: a bar on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

LINE_SECONDS = 5.0


@dataclass
class _Group:
    """Members that go through their steps side by side."""

    name: str
    members: int
    steps: int
    live: int
    step: int = 0

    @property
    def left(self) -> int:
        """Member-steps to make, if no member stops early."""
        return self.live * (self.steps - self.step)


@dataclass
class Progress:
    """Follows groups of members through their steps.

    Args:
        console: Where it is shown; a bar if that is a terminal.
        quiet: Show nothing.
    """

    console: Console
    quiet: bool = False
    interrupted: bool = False
    """Ask for an end at the next advance."""
    clock: Callable[[], float] = time.monotonic
    _bars: Bars | None = field(default=None, init=False)

    def begin(self, name: str, groups: Sequence[tuple[str, int, int]]) -> None:
        """Begin groups, each with its name, its members and the most steps that they make."""
        self.name = name
        self.groups = [_Group(*group, live=group[1]) for group in groups]
        self.members = sum(group.members for group in self.groups)
        self.total = sum(group.left for group in self.groups)
        self.solved = self.work = 0
        self.began = self.said = self.clock()
        if self.console.is_terminal and not self.quiet:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(30),
                TextColumn("{task.fields[text]}"),
            )
            self._bars = Bars(*columns, console=self.console, transient=True)
            self._bars.start()
            self._task = self._bars.add_task(name, total=1.0, text="")

    def solve(self, count: int) -> None:
        """Count members as solved."""
        self.solved += count

    def advance(self, place: int, step: int, live: int) -> None:
        """All members in training of one group, `live` of them after it, have come to `step`."""
        if self.interrupted:
            raise KeyboardInterrupt
        group = self.groups[place]
        self.work += (step - group.step) * group.live
        group.step, group.live = step, live
        now = self.clock()
        if self._bars is not None:
            self._bars.update(self._task, completed=self.fraction, text=self.text)
        elif not self.quiet and now - self.said >= LINE_SECONDS:
            self.say(f"{self.name}: {self.text}")
            self.said = now

    def close(self) -> None:
        """End what was begun."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None

    def say(self, text: str) -> None:
        """Print a line of its own."""
        if not self.quiet:
            self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    @property
    def fraction(self) -> float:
        """The part of the work that is done or no longer needed."""
        return 1 - sum(group.left for group in self.groups) / self.total

    @property
    def text(self) -> str:
        """Members solved, those in training, the rate, and the time left if nobody stops early."""
        seconds = max(self.clock() - self.began, 1e-9)
        rate = self.work / seconds
        left = sum(group.left for group in self.groups) / rate if rate else 0.0
        words = [f"{self.solved}/{self.members} solved"]
        words += [
            f"{group.live} of {group.name} at {group.step}"
            for group in self.groups
            if group.step and group.live
        ]
        words += [f"{rate / 1e6:.2f} M member-steps/s"]
        words += [f"at most {timedelta(seconds=round(left))} left"]
        return ", ".join(words)
