import numpy as np
import pytest
import torch

from arithmix.landscape.frozen import along_the_gate
from arithmix.landscape.stationary import solution
from arithmix.landscape.surface import Surface
from arithmix.tasks import OPERATIONS, RANGES, Task
from arithmix.units.dmu import PAPER_LOG_LIMIT, dmu

CELLS = [Task(operation, range_) for operation in OPERATIONS for range_ in RANGES]


def some_points(count=12):
    rng = np.random.default_rng(0)
    return np.column_stack([rng.uniform(-2, 2, (count, 2)), rng.uniform(0.1, 0.9, count)])


@pytest.mark.parametrize("task", CELLS, ids=lambda t: f"{t.operation}-{t.range}")
def test_the_loss_is_nothing_at_the_solution_alone(task):
    surface = Surface(task)
    exact = np.array([solution(surface)])
    assert surface.values(exact)[0] < 1e-7 * surface.scale
    assert (surface.values(some_points()) > 1e-5 * surface.scale).all()


@pytest.mark.parametrize("task", [Task("sub", "n20"), Task("mul", "p01"), Task("add", "sym")])
def test_the_loss_is_the_mean_over_the_range(task):
    point = np.array([1.2, 0.7 if task.range == "sym" else -1.1, 0.6])
    low, high = RANGES[task.range].train
    x = torch.from_numpy(np.random.default_rng(1).uniform(low, high, (400_000, 2)))
    gate = torch.tensor([[point[2], 1 - point[2]]])
    y = dmu(x, torch.from_numpy(point[None, :2]), gate, log_limit=PAPER_LOG_LIMIT)[:, 0]
    wrong = (y - OPERATIONS[task.operation].apply(x[:, 0], x[:, 1])).square()
    error = float(wrong.std()) / len(x) ** 0.5
    assert abs(float(wrong.mean()) - Surface(task).values(point[None])[0]) < 5 * error


@pytest.mark.parametrize("task", CELLS, ids=lambda t: f"{t.operation}-{t.range}")
def test_the_loss_is_that_of_the_units_own_function(task):
    surface, point = Surface(task), torch.from_numpy(some_points() * [3, 3, 1])
    point[0, 2], point[1, 2], point[2, 0] = 0, 1, 9
    for signs in surface._signs:
        turn = signs.expand(len(point), 2)
        u, v, weight = surface._split(point[:, :2] * turn)
        x = torch.stack([turn[:, :1] * u, turn[:, 1:] * v], -1)
        gate = torch.stack([point[:, 2], 1 - point[:, 2]], -1)[:, None]
        y = dmu(x, point[:, None, :2], gate, log_limit=PAPER_LOG_LIMIT)[..., 0]
        wrong = y - OPERATIONS[task.operation].apply(x[..., 0], x[..., 1])
        loss = surface._part(point, turn, surface._split)
        torch.testing.assert_close(loss, (weight * wrong.square()).sum(-1), rtol=1e-12, atol=0)


@pytest.mark.parametrize("task", [Task("sub", "p11"), Task("add", "n01"), Task("div", "p20")])
def test_more_nodes_change_little(task):
    few, many = (Surface(task, nodes).values(some_points()) for nodes in (6, 20))
    np.testing.assert_allclose(few, many, rtol=5e-3)


@pytest.mark.parametrize("task", [Task("sub", "n10"), Task("mul", "sym")])
def test_derivatives_match_differences(task):
    surface, point, step = Surface(task), some_points(), 1e-5
    loss, gradient, hessian = surface.derivatives(point)
    np.testing.assert_allclose(loss, surface.values(point), rtol=1e-12)
    for i, shift in enumerate(step * np.eye(3)):
        ahead, behind = (surface.derivatives(point + side * shift) for side in (1, -1))
        size = np.abs(gradient).max(1) + 1e-9
        assert (np.abs((ahead[0] - behind[0]) / (2 * step) - gradient[:, i]) < 1e-5 * size).all()
        size = np.abs(hessian).max((1, 2))[:, None]
        assert (np.abs((ahead[1] - behind[1]) / (2 * step) - hessian[:, i]) < 1e-4 * size).all()


def test_equal_operands_may_change_places():
    surface, point = Surface(Task("add", "n20")), some_points()
    np.testing.assert_allclose(
        surface.values(point), surface.values(point[:, [1, 0, 2]]), rtol=1e-2
    )


def test_the_gate_alone_can_have_a_second_minimum():
    product = along_the_gate(Surface(Task("mul", "n01")), (1.0, 1.0))
    assert len(product.minima) == 2  # the paper's mix of one part linear to four parts log
    assert product.minima == pytest.approx([0.0, 0.19], abs=0.02)
    assert not product.convex_g
    easy = along_the_gate(Surface(Task("add", "pos")), (1.0, 1.0))
    assert easy.minima == pytest.approx([1.0])
    assert easy.convex_g
    assert not easy.convex_logit  # no curve that is bounded on a whole line is
