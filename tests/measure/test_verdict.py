"""Verdicts from curves of which not every step was looked at."""

import numpy as np
import pytest

from arithmix.measure.rulers import Ruler
from arithmix.measure.verdict import FirstRun, judge
from arithmix.records.row import Curve
from arithmix.tasks import Task

TASK = Task("add", "sym")
RULER = Ruler("some", "20 in a row", lambda task: 0.5, patience=20)


def looked_at(hits, stretch):
    """The curve that the engine keeps: what its search saw, a stretch of steps at a time."""
    search, seen = FirstRun(20), {}
    for end in [*range(stretch, hits.size, stretch), hits.size]:
        while (step := search.next(end)) is not None:
            seen[step] = hits[step]
            search.tell(bool(hits[step]))
        if search.found is not None:
            break
    step = np.array(sorted(seen))
    error = np.where(hits[step], 0.1, 1.0).astype(np.float32)
    return Curve(step, error, error, error), search.found


def first_run(hits):
    for end in range(20, hits.size + 1):
        if hits[end - 20 : end].all():
            return end - 1
    return None


@pytest.mark.parametrize("stretch", [50, 97, 1000])
@pytest.mark.parametrize("seed", range(40))
def test_the_verdict_is_the_searchs_wherever_stretches_end(seed, stretch):
    rng = np.random.RandomState(seed)
    # Runs of hits of all lengths, with a miss here and there, as of an error that swings.
    hits = np.repeat(rng.rand(100) < 0.6, rng.randint(1, 25, size=100))
    curve, found = looked_at(hits, stretch)
    verdict = judge(curve, RULER, TASK)
    assert verdict.step == found == first_run(hits)
    assert verdict.solved == (found is not None)


def test_steps_that_were_not_looked_at_break_a_run():
    step = np.r_[0:15, 16:36]
    error = np.zeros(step.size, dtype=np.float32)
    assert judge(Curve(step, error, error, error), RULER, TASK).step == 35
    assert not judge(Curve(step[:30], *[error[:30]] * 3), RULER, TASK).solved


def test_the_judged_row_is_that_of_best_validation():
    step = np.arange(5) * 1000
    validation = np.array([4.0, 1.0, 0.5, 2.0, np.nan])
    test = np.array([4.0, 0.1, 3.0, 0.1, 0.1])
    ruler = Ruler("some", "best row", lambda task: 0.5)
    verdict = judge(Curve(step, validation, test, test), ruler, TASK)
    assert (verdict.judged, verdict.error, verdict.solved, verdict.step) == (2000, 3.0, False, 1000)


def test_the_last_row_is_judged_wherever_the_training_ends():
    ruler = Ruler("some", "best row", lambda task: 0.5)
    step = np.array([0, 1000, 1500])
    error = np.array([4.0, 2.0, 1e-13], dtype=np.float32)
    verdict = judge(Curve(step, error, error, error), ruler, TASK)
    assert (verdict.judged, verdict.solved, verdict.step) == (1500, True, 1500)
    short = judge(Curve(np.array([0, 500]), *[error[[0, 2]]] * 3), ruler, TASK)
    assert (short.judged, short.solved, short.step) == (500, True, 500)


def test_rows_between_that_no_rule_asked_for_are_not_judged():
    ruler = Ruler("some", "best row", lambda task: 0.5)
    step = np.array([0, 999, 1000])
    unknown, error = np.array([4.0, np.nan, 2.0]), np.array([4.0, 0.1, 2.0])
    assert not judge(Curve(step, unknown, error, error), ruler, TASK).solved
