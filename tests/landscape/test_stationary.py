import numpy as np
import pytest

from arithmix.landscape.newton import GENTLE
from arithmix.landscape.stationary import scout, search, solution
from arithmix.landscape.surface import Surface
from arithmix.tasks import Task

ENDS = {"sub n10": [], "mul p01": [[-0.03, -0.02, 0.4]]}


@pytest.fixture(scope="module", params=ENDS)
def found(request):
    surface = Surface(Task(*request.param.split()))
    return surface, *search(surface, np.array(ENDS[request.param]).reshape(-1, 3), scout(surface))


def around(point, radius, held):
    """Places at `radius` from a point; a gate that is held stays."""
    steps = np.random.default_rng(0).normal(size=(200, 3))
    steps[:, held] = 0
    return point + radius * steps / np.linalg.norm(steps, axis=1, keepdims=True)


def test_the_solution_is_listed_once_and_first(found):
    surface, points, plane = found
    for each in (points, plane):
        assert each.kind[0] == "solution"
        assert list(each.kind).count("solution") == 1
        assert each.point[0] == pytest.approx(solution(surface), abs=0.01)


def test_the_loss_is_level_at_every_place(found):
    surface, points, _ = found
    start = list(points.kind).index("solution") != points.place_point
    place, kind = points.place[start], points.kind[points.place_point[start]]
    assert {"valley", "plateau"} <= set(kind)
    for point, what in zip(place, kind, strict=True):
        # With some builds of numpy a walk comes to a kink within its rounding, as 4e-47.
        held = np.array([*(np.abs(point[:2]) < 1e-12), point[2] in (0, 1)])
        steps = 1e-5 * np.eye(3)[~held]
        loss = surface.values(np.array([point, *(point + steps), *(point - steps)]))
        ahead, behind = loss[1:].reshape(2, -1)
        fall = 0.05 / 2e-5 * np.linalg.norm(ahead - behind)
        ring = around(point, 0.05, held)
        wall = surface.values(np.stack([ring, 2 * point - ring])).mean(0).max() - loss[0]
        part = 1.1 * GENTLE if what in ("valley", "plateau") else 1e-3
        assert fall < part * max(loss[0], wall)


def test_kinds_are_what_a_walk_around_shows(found):
    surface, points, _ = found
    seen = set()
    for i, kind in enumerate(points.kind):
        curves = points.eigenvalues[i]
        if kind not in ("minimum", "saddle", "maximum") or np.isinf(curves).any():
            continue
        loss = surface.values(around(points.point[i], 1e-3, np.zeros(3, dtype=bool)))
        higher, lower = (loss > points.loss[i]).any(), (loss < points.loss[i]).any()
        assert (higher, lower) == (kind != "maximum", kind != "minimum")
        seen.add(str(kind))
    assert {"minimum", "saddle"} <= seen


def test_points_differ_and_rise(found):
    _, points, _ = found
    assert (np.diff(points.loss) >= 0).all()
    apart = np.abs(points.point[:, None] - points.point).max(-1) + np.eye(len(points.point))
    assert apart.min() > 0.01


def test_a_kink_can_hold_a_training():
    surface = Surface(Task("mul", "n20"))
    points, _ = search(surface, np.array([[0.2, 0.01, 1e-9]]), scout(surface))
    (on,) = np.nonzero((np.abs(points.point - [0.228, 0, 0]) < 0.01).all(1))
    assert len(on) == 1
    assert np.isposinf(points.eigenvalues[on[0]]).any()
    assert points.kind[on[0]] == "plateau"
    assert points.rest[on[0]]
    beside = [[points.point[on[0], 0], side, 0.0] for side in (-0.01, 0.01)]
    assert (surface.values(np.array(beside)) > points.loss[on[0]]).all()


def test_an_end_in_a_valley_is_listed():
    surface, end = Surface(Task("sub", "neg")), np.array([[-1.414, 1.039, 1e-9]])
    points, _ = search(surface, end, scout(surface))
    near = np.abs(points.place - end).max(1)
    assert near.min() < 0.05
    assert points.kind[points.place_point[near.argmin()]] == "valley"
