"""Progress: a bar on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

LINE_SECONDS = 5.0


@dataclass
class Progress:
    """Follows the members of one group through their steps.

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

    def start(self, name: str, members: int, steps: int) -> None:
        """Begin a group of `members`, each of at most `steps` steps."""
        self.name, self.members, self.steps = name, members, steps
        self.live, self.step, self.solved, self.work = members, 0, 0, 0
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

    def advance(self, step: int, live: int) -> None:
        """All members in training, `live` of them after it, have come to `step`."""
        if self.interrupted:
            raise KeyboardInterrupt
        self.work += (step - self.step) * self.live
        self.step, self.live = step, live
        now = self.clock()
        if self._bars is not None:
            self._bars.update(self._task, completed=self.fraction, text=self.text)
        elif not self.quiet and now - self.said >= LINE_SECONDS:
            self.say(f"{self.name}: {self.text}")
            self.said = now

    def close(self) -> None:
        """End the group."""
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
        return 1 - self.live * (self.steps - self.step) / (self.members * self.steps)

    @property
    def text(self) -> str:
        """Members solved, the step, the rate, and the time left if no member stops early."""
        seconds = max(self.clock() - self.began, 1e-9)
        rate = self.work / seconds
        left = self.live * (self.steps - self.step) / rate if rate else 0.0
        return (
            f"{self.solved}/{self.members} solved, step {self.step}, {self.live} in training, "
            f"{rate / 1e6:.2f} M member-steps/s, at most {timedelta(seconds=round(left))} left"
        )
