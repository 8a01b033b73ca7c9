"""Progress: a bar on a terminal, plain lines elsewhere."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

LINE_SECONDS = 5.0
WINDOW_SECONDS = 20.0
"""How far back the rate looks: trainings end and others begin, and the pace changes."""


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
        self.said = self.clock()
        self._past: deque[tuple[float, int]] = deque()
        if self.console.is_terminal and not self.quiet:
            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(30),
                TextColumn("{task.fields[text]}", markup=False),
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
        self._past.append((now, self.work))
        while len(self._past) > 2 and self._past[1][0] < now - WINDOW_SECONDS:
            self._past.popleft()
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
            self.console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)

    @property
    def fraction(self) -> float:
        """The part of the work that is done or no longer needed."""
        return 1 - sum(group.left for group in self.groups) / self.total

    @property
    def text(self) -> str:
        """Members solved, those in training, the rate, and the time left if nobody stops early."""
        words = [f"{self.solved}/{self.members} solved"]
        words += [
            f"{group.live} of {group.name} at {group.step}"
            for group in self.groups
            if group.step and group.live
        ]
        if rate := self._rate():
            left = sum(group.left for group in self.groups) / rate
            words += [f"{short(rate)} member-steps/s"]
            words += [f"at most {timedelta(seconds=round(left))} left"]
        return ", ".join(words)

    def _rate(self) -> float:
        """Member-steps a second of late; 0 until there are two points in time to tell it from.

        What goes before the first point, which is mostly compiling, does not count: it would make
        an hour of half a minute.
        """
        if not self._past:
            return 0.0
        (began, before), (now, work) = self._past[0], self._past[-1]
        return (work - before) / (now - began) if now > began else 0.0


def short(number: float) -> str:
    """A number of three digits with a word for its thousands.

    >>> short(0.25), short(1234.5), short(3_456_789)
    ('0.25', '1.23 thousand', '3.46 million')
    """
    for size, word in ((1e9, " billion"), (1e6, " million"), (1e3, " thousand")):
        if number >= size:
            return f"{number / size:.3g}{word}"
    return f"{number:.3g}"
