"""Verdicts: solved or not, at which step, how sparse. Pure functions of a curve and a ruler."""

from dataclasses import dataclass

import numpy as np

from ..records.row import Curve
from ..tasks import Task
from .rulers import Ruler


@dataclass(frozen=True)
class Verdict:
    """What a ruler says of one training."""

    solved: bool
    step: int | None
    """When it was first below the threshold or, with patience, below it for long enough."""
    judged: int
    """The step of the judged row."""
    error: float
    """Test error at the judged row."""
    sparsity: float
    """Sparsity error at the judged row."""


def judge(curve: Curve, ruler: Ruler, task: Task) -> Verdict:
    """Hold a training's curve against a ruler."""
    threshold = ruler.threshold(task)
    if ruler.patience is not None:
        return _first_run(curve, threshold, ruler.patience)
    return _best_validation(curve, threshold, ruler.grid)


def _best_validation(curve: Curve, threshold: float, grid: int) -> Verdict:
    # The last row counts wherever a training ends, on the grid or off it.
    rows = np.flatnonzero((curve.step % grid == 0) | (curve.step == curve.step[-1]))
    validation, test = curve.validation[rows], curve.test[rows]
    known = np.flatnonzero(~np.isnan(validation))
    best = known[np.argmin(validation[known])] if known.size else rows.size - 1
    under = np.flatnonzero(test < threshold)
    return Verdict(
        solved=bool(test[best] < threshold),
        step=int(curve.step[rows[under[0]]]) if under.size else None,
        judged=int(curve.step[rows[best]]),
        error=float(test[best]),
        sparsity=float(curve.sparsity[rows[best]]),
    )


def _first_run(curve: Curve, threshold: float, patience: int) -> Verdict:
    """Every step of a run was looked at, whatever was left out between runs."""
    hit = curve.test < threshold
    follows = np.diff(curve.step, prepend=curve.step[:1] - 2) == 1
    place = np.arange(hit.size)
    begun = np.maximum.accumulate(np.where(hit & follows, 0, np.where(hit, place, place + 1)))
    ends = np.flatnonzero(place - begun + 1 >= patience)
    at = int(ends[0]) if ends.size else hit.size - 1
    return Verdict(
        solved=bool(ends.size),
        step=int(curve.step[at]) if ends.size else None,
        judged=int(curve.step[at]),
        error=float(curve.test[at]),
        sparsity=float(curve.sparsity[at]),
    )


class FirstRun:
    """Finds the end of the first run of `length` consecutive hits, looking at few steps.

    It looks at the last step of a possible run first: a miss there rules out every run across it,
    so a stretch without hits costs one look in `length` steps, yet no run is overlooked.

    >>> hits = [step >= 250 for step in range(1000)]
    >>> search, looks = FirstRun(100), 0
    >>> while (step := search.next(1000)) is not None:
    ...     search.tell(hits[step])
    ...     looks += 1
    >>> search.found, looks
    (349, 103)
    """

    def __init__(self, length: int) -> None:
        self.length = length
        self.found: int | None = None
        self._start = 0  # no run begins earlier
        self._known = 0  # all steps from _start up to here are hits
        self._top = -1  # the last step of the stretch being looked at
        self._probe: int | None = None

    def next(self, end: int) -> int | None:
        """The step to look at next, before `end`; None if there is none, or the run is found."""
        if self._probe is None and self.found is None:
            self._top = min(self._start + self.length, end) - 1
            if self._top >= self._known:
                self._probe = self._top
        return self._probe

    def tell(self, hit: bool) -> None:
        """Say whether that step was a hit."""
        assert self._probe is not None
        if hit and self._probe > self._known:
            self._probe -= 1
            return
        if not hit:
            self._start = self._probe + 1
        self._probe, self._known = None, self._top + 1
        if self._known - self._start == self.length:
            self.found = self._top
