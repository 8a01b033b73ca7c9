"""Train what is missing of a study, and take an interrupt well."""

import signal
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from ..progress import Progress
from ..records.store import Store
from ..study import Study
from ._options import print_line

if TYPE_CHECKING:
    from ..bench.run import Summary


def train(
    study: Study,
    out: Path,
    device: str,
    progress: Progress,
    compiled: bool = True,
    force: bool = False,
) -> "Summary":
    """Train what is missing; an interrupt ends with a word on how to go on."""
    from ..bench.run import run as run_study

    def interrupt(signum: int, frame: object) -> NoReturn:
        # Compiled code may catch what is raised inside it, so the next stretch raises it again.
        progress.interrupted = True
        raise KeyboardInterrupt

    both = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, interrupt) for number in both}
    with Store(out) as store:
        try:
            return run_study(
                study,
                store,
                device=device,
                compiled=compiled,
                force=force,
                progress=progress,
            )
        except KeyboardInterrupt:
            print_line(f"stopped; {_how_to_go_on(out, force)}")
            raise typer.Exit(130) from None
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _how_to_go_on(out: Path, force: bool) -> str:
    if force:
        return (
            f"the rows that were made again are in {out}, the others there are as they were; "
            f"the same command makes all of them again"
        )
    return f"what was finished is in {out}; run the same command again to go on"
