import numpy as np
import pytest

from arithmix.landscape.arrays import REACH
from arithmix.landscape.net import MOST, NEAR, ONWARD, families, gentle, spread
from arithmix.landscape.newton import look

STEEP = 40.0


class Gutter:
    """A straight valley: the line O0 + O1 = 1 at g = 0.5, on a tilt, with walls like a parabola."""

    def __init__(self, tilt=0.0):
        self.tilt = tilt

    def values(self, point):
        return self.derivatives(point.reshape(-1, 3))[0].reshape(point.shape[:-1])

    def derivatives(self, point):
        off, up = point[:, 0] + point[:, 1] - 1, point[:, 2] - 0.5
        loss = 1 + STEEP * (off**2 + up**2) - self.tilt * point[:, 0]
        slope = np.stack([2 * STEEP * off - self.tilt, 2 * STEEP * off, 2 * STEEP * up], -1)
        bend = np.zeros((len(point), 3, 3))
        bend[:, :2, :2] = bend[:, 2, 2] = 2 * STEEP
        bend[:, 2, 2] = 2 * STEEP
        return loss, slope, bend


class Plain(Gutter):
    """A plateau: the loss is the same everywhere."""

    def derivatives(self, point):
        return np.ones(len(point)), np.zeros((len(point), 3)), np.zeros((len(point), 3, 3))


def rows(surface, *points):
    point = np.array(points, dtype=float).reshape(-1, 3)
    return look(surface, point, np.ones(point.shape, dtype=bool))


def to_line(place, first):
    """How far the valley's line is from the nearest place, for each O0 in `first`."""
    line = np.stack([first, 1 - first, np.full_like(first, 0.5)], -1)
    return np.abs(line[:, None] - place).max(-1).min(1)


def test_a_valley_is_followed_to_both_ends():
    surface = Gutter()
    net = spread(surface, rows(surface), rows(surface, [0.2, 0.8, 0.5]))
    assert np.abs(net.point[:, :2].sum(1) - 1).max() < 1e-3
    assert np.abs(net.point[:, :2]).max() < NEAR
    # O1 = 1 - O0 leaves the square at O0 = -2.
    assert to_line(net.point, np.linspace(-1.95, 2.95, 500)).max() <= REACH
    assert (families(net.point, np.full(len(net.point), "valley")) == 0).all()


def test_beyond_the_square_a_valley_is_followed_downhill_from_an_end():
    surface = Gutter(tilt=1e-2)
    net = spread(surface, rows(surface, [5, -4, 0.5]), rows(surface))
    down = 5 + 2 * REACH * ONWARD
    assert to_line(net.point, np.linspace(5, down - REACH, 300)).max() <= 1.01 * REACH
    assert to_line(net.point, np.array([5 - 1.2, down + 1.2])).min() > REACH


def test_a_valley_that_falls_steeply_is_none():
    surface = Gutter(tilt=1.0)
    assert not rows(surface, [0.2, 0.8, 0.5]).gentle().any()


def test_walls_are_as_high_as_they_are():
    class Ditch(Gutter):
        """Its walls bend as much as a gutter's, but only within 1e-3."""

        def values(self, point):
            off = np.abs(point[..., 0] + point[..., 1] - 1).clip(max=1e-3)
            return 1e-3 + STEEP * off**2

        def derivatives(self, point):
            loss, slope, bend = super().derivatives(point)
            return loss - 1 + 1e-3 + self.tilt * point[:, 0], slope, bend

    surface = Ditch(tilt=1e-3)
    here = rows(surface, [0.5, 0.5, 0.5])
    assert here.gentle().all()
    assert not len(gentle(surface, here).point)
    assert len(gentle(Gutter(tilt=1e-3), rows(Gutter(tilt=1e-3), [0.5, 0.5, 0.5])).point) == 1


def test_a_plateau_is_filled_up_to_a_number():
    surface = Plain()
    net = spread(surface, rows(surface), rows(surface, [0, 0, 0.5]))
    assert len(net.point) == MOST
    cubes = np.unique(np.floor(net.point / REACH), axis=0)
    assert len(cubes) == MOST
    assert net.point[:, 2].min() >= 0
    assert net.point[:, 2].max() <= 1


@pytest.mark.parametrize(("kinds", "parts"), [("aaaa", 2), ("aabb", 2), ("abab", 4)])
def test_families_are_neighbours_of_one_kind(kinds, parts):
    point = np.array([[0, 0, 0], [0.05, 0, 0], [1, 0, 0], [1.05, 0, 0]])
    assert len(np.unique(families(point, np.array(list(kinds))))) == parts
