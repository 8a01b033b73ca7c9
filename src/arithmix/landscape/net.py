"""Valleys and plateaus are whole lines and sheets of places: a net of places on each of them."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from .arrays import REACH
from .newton import GENTLE, Rows, walk
from .surface import Surface

MOST = 2000
"""Places in the net of a landscape."""
NEAR = 3.0
"""Selectors beyond this are followed only from where a training ended."""
AROUND = 1.0
"""And so far."""
ONWARD = 30
"""Steps of twice `REACH` that are followed downhill from where a training ended."""


def spread(surface: Surface, ends: Rows, seeds: Rows) -> Rows:
    """Follow gentle ground from places on it, a step of `REACH` at a time.

    First downhill from the ends of trainings, as longer trainings would go; then around there;
    then from the other places too.

    Args:
        surface: The loss.
        ends: Places on gentle ground next to where trainings ended.
        seeds: Other such places.

    Returns:
        The net: one place in each cube of `REACH` that was reached.
    """
    net = _Net(surface, ends)
    front = net.kept
    for _ in range(ONWARD):
        front = net.follow(*_downhill(front))
    net.fill(2 * MOST // 3)
    net.put(seeds)
    net.fill(MOST)
    return net.kept.take(np.arange(min(MOST, len(net.kept.point))))


def gentle(surface: Surface, rows: Rows) -> Rows:
    """Those on gentle ground, by the true height of its walls.

    The curvature at a point may overrate it: the sign of a sum turns within T = 1e-4.
    """
    rows = rows.take(rows.gentle())
    rise = surface.values(rows.walls()).mean(0) - rows.loss
    fall = REACH * np.linalg.norm(rows.moving()[0], axis=1)
    return rows.take(fall < GENTLE * np.maximum(rows.loss, rise))


class _Net:
    def __init__(self, surface: Surface, ends: Rows) -> None:
        self.surface, self.ends = surface, ends.point
        self.kept = ends.take(np.zeros(0, dtype=np.int64))
        self.taken: set[tuple[int, ...]] = set()
        self.tried: set[tuple[int, ...]] = set()
        self.put(ends)

    def put(self, rows: Rows) -> Rows:
        """Keep what is in cubes that are not taken, and return it."""
        rows = rows.take(_new(rows.point, self.taken))
        self.kept = self.kept.join(rows)
        return rows

    def follow(self, point: np.ndarray, free: np.ndarray) -> Rows:
        """Keep the gentle ground at, or just below, these places."""
        found = walk(self.surface, point, free, np.full(len(point), "floor"), 3)
        near = np.abs(found.point - point).max(1) < REACH
        return self.put(gentle(self.surface, found.take(near)))

    def fill(self, most: int) -> None:
        """Go on from all places, in all gentle directions, until there are `most`."""
        front = self.kept
        while len(front.point) > 0 and len(self.kept.point) < most:
            ahead, free = _ahead(front)
            (inside,) = np.nonzero(self._inside(ahead))
            chosen = inside[_new(ahead[inside], self.tried)]
            front = self.follow(ahead[chosen], free[chosen])

    def _inside(self, point: np.ndarray) -> np.ndarray:
        apart = np.full(len(point), np.inf)
        if len(self.ends):
            apart, _ = KDTree(self.ends).query(point, p=np.inf)
        return (np.abs(point[:, :2]) < NEAR).all(1) | (apart < AROUND)


def families(point: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """Number the connected parts of a net: neighbours of one kind have one number."""
    if not len(point):
        return np.zeros(0, dtype=np.int64)
    pairs = KDTree(point).query_pairs(2.1 * REACH, p=np.inf, output_type="ndarray")
    pairs = pairs[kind[pairs[:, 0]] == kind[pairs[:, 1]]]
    graph = coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(len(point), len(point)))
    return connected_components(graph, directed=False)[1]


def _downhill(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """A step along the gentle directions, the way the loss falls."""
    _, vector, along, flat = rows.curves()
    way = -np.einsum("nij,nj->ni", vector, np.where(flat, along, 0)) * rows.free
    size = np.abs(way).max(1, keepdims=True)
    falls = size[:, 0] > 0
    return _stepped(rows.point[falls], rows.free[falls], 2 * way[falls] / size[falls])


def _ahead(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """A step to both sides along every gentle direction."""
    _, vector, _, flat = rows.curves()
    ways = vector.swapaxes(1, 2) * rows.free[:, None]
    size = np.abs(ways).max(-1)
    which, axis = np.nonzero(flat & (size > 0.1))
    way = ways[which, axis] / size[which, axis, None]
    twice = np.concatenate([which, which])
    return _stepped(rows.point[twice], rows.free[twice], np.concatenate([way, -way]))


def _stepped(point: np.ndarray, free: np.ndarray, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places a step on; a gate that reaches its end is held there."""
    ahead, free = point + REACH * way, free.copy()
    ahead[:, 2] = ahead[:, 2].clip(0, 1)
    free[:, 2] &= (ahead[:, 2] > 0) & (ahead[:, 2] < 1)
    return ahead, free


def _new(point: np.ndarray, cubes: set[tuple[int, ...]]) -> np.ndarray:
    """The first places in cubes that are not taken, which they take."""
    found = []
    for i, cube in enumerate(map(tuple, np.floor(point / REACH).astype(int).tolist())):
        if cube not in cubes:
            cubes.add(cube)
            found.append(i)
    return np.array(found, dtype=np.int64)
