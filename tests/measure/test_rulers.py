import numpy as np
import pytest

from arithmix.measure.rulers import RULERS, dmu_threshold, primer_threshold
from arithmix.measure.stats import beta_mean, fisher, gamma_mean, wilson
from arithmix.measure.verdict import judge
from arithmix.records.row import Curve
from arithmix.studies._published import published
from arithmix.tasks import OPERATIONS, RANGES, Task


@pytest.mark.parametrize("range_", RANGES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_dmu_thresholds_are_the_papers(operation, range_):
    printed = published()["dmu_thresholds"][range_][operation]
    assert dmu_threshold(Task(operation, range_)) == pytest.approx(printed, rel=0.05)


@pytest.mark.parametrize(
    ("range_", "add", "mul", "div"),
    [
        ("p20", 3.6667e-7, 3.4844e-4, 4.6666e-10),
        ("sym", 6.6667e-9, 1.2018e-7, 5.7777e-10),
        ("n10", 5.7292e-9, 9.3921e-8, 8.3732e-10),
        ("n01", 5.3800e-10, 8.7615e-10, 1.4800e-9),
        ("p11", 5.5680e-9, 8.8565e-8, 8.2665e-10),
    ],
)
def test_the_primers_thresholds_are_the_closed_forms(range_, add, mul, div):
    for operation, value in (("add", add), ("sub", add), ("mul", mul), ("div", div)):
        assert primer_threshold(Task(operation, range_)) == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize("inputs", [2, 10, 100])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_primers_thresholds_are_what_sampling_gives(operation, inputs):
    task, eps = Task(operation, "pos", inputs), 1e-5
    x = np.random.RandomState(0).uniform(2, 6, (200_000, inputs))
    a, b, rest = x[:, 0], x[:, 1], x[:, 2:]
    idle = np.prod(1 - eps * rest, axis=1)
    error = {
        "add": eps * x.sum(1),
        "sub": eps * x.sum(1),
        "mul": (1 - eps) ** 2 * a * b * idle - a * b,
        "div": (1 - eps) / (1 + eps) * a / b * idle - a / b,
    }[operation]
    assert primer_threshold(task) == pytest.approx((error**2).mean(), rel=0.02)


def curve(validation, test, step=None):
    n = len(test)
    steps = np.arange(n) * 1000 if step is None else np.array(step)
    return Curve(steps, np.array(validation), np.array(test), np.arange(n) / 100)


def test_the_primer_judges_the_row_of_best_validation():
    task, under, over = Task("add", "pos"), 1e-10, 1.0
    verdict = judge(curve([3.0, 1.0, 2.0], [over, over, under]), RULERS["primer"], task)
    assert not verdict.solved and verdict.step == 2000 and verdict.sparsity == 0.01
    verdict = judge(curve([3.0, 1.0, 2.0], [under, under, over]), RULERS["primer"], task)
    assert verdict.solved and verdict.step == 0
    nan = float("nan")
    assert not judge(curve([nan, nan], [nan, nan]), RULERS["primer"], task).solved


def test_the_dmu_rule_wants_a_hundred_steps_in_a_row():
    task, n = Task("add", "pos"), 300
    test = np.full(n, 1e-10)
    test[[0, 120]] = 1.0
    verdict = judge(curve(test, test, range(n)), RULERS["dmu"], task)
    assert verdict.solved and verdict.step == 100
    test[[60]] = 1.0
    assert judge(curve(test, test, range(n)), RULERS["dmu"], task).step == 220
    test[[200]] = 1.0
    assert not judge(curve(test, test, range(n)), RULERS["dmu"], task).solved


def test_intervals_hold_the_mean_as_often_as_they_say():
    rng = np.random.RandomState(0)
    inside = 0
    for _ in range(200):
        low, high = gamma_mean(rng.gamma(4.0, 250.0, 25))
        inside += low <= 1000 <= high
    assert 178 <= inside <= 200
    inside = 0
    for _ in range(100):
        low, high = beta_mean(rng.beta(2.0, 8.0, 25) / 2)
        inside += low <= 0.1 <= high
    assert 86 <= inside <= 100


def test_the_beta_interval_is_around_the_mean_and_not_half_of_it():
    x = np.random.RandomState(1).beta(1.0, 1e4, 25) / 2
    low, high = beta_mean(x)
    assert low < x.mean() < high


def test_degenerate_samples_have_intervals_too():
    assert gamma_mean(np.array([5.0, 5.0, 5.0])) == (5.0, 5.0)
    assert beta_mean(np.zeros(4))[0] == pytest.approx(0.0, abs=1e-15)
    assert wilson(0, 25)[0] == 0.0
    assert fisher(3, 3, 25) == 1.0
