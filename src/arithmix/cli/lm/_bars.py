"""Bars for long work that is counted."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bars(*names: str) -> Iterator[list[Callable[[int, int], None]]]:
    """A bar for each name, with its rate and the time left, on the standard error.

    Gives a function for each bar that is told how much is done, of how much.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Left

    console = Console(file=sys.stderr)
    columns = (TextColumn("{task.description}"), BarColumn(30), MofNCompleteColumn(), Left())
    with Progress(*columns, console=console, disable=not console.is_terminal) as shown:
        tasks = [shown.add_task(name, total=None) for name in names]

        def mover(task) -> Callable[[int, int], None]:
            return lambda done, of: shown.update(task, completed=done, total=of)

        yield [mover(task) for task in tasks]
