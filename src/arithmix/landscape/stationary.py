"""Stationary points of a landscape: found from many starts, and named by the Hessian.

A training moves in (O0, O1) and the gate's logits. In logits the ends g = 0 and g = 1 are flat, so
a point where the gradient in O vanishes is stationary there whatever the slope in g: a plateau. On
a range with negative numbers the loss has a kink at O0 = 0 and at O1 = 0; a point on it is
stationary if the slopes on its two sides differ in sign. So the search runs on faces, where each
coordinate is free or held at such a place.

Where the loss changes by less than `GENTLE` within `REACH`, beside the loss itself or the rise of
its walls, a training gets nowhere for long. Such ground goes on as far as it is gentle: a valley
between walls, a plateau without any. They are listed by their lowest place, with a net of places.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from .arrays import REACH
from .kinds import Points, named, solution, with_net
from .net import NEAR, gentle, spread
from .newton import EXACT, Rows, walk
from .surface import Surface

GRID = (-1.5, -0.5, 0.0, 0.5, 1.5)
GATES = (0.0, 0.15, 0.5, 0.85, 1.0)
STEPS = 12
HOLLOWS = 20
NOTHING = 1e-9
"""A loss below this, beside the mean square of the targets, is none."""


@dataclass(frozen=True)
class Scouted:
    """Where starts on a grid came to, without any training."""

    space: Rows
    """In (O0, O1, g)."""
    plane: Rows
    """In (O1, g), with O0 = 1."""


def scout(surface: Surface) -> Scouted:
    """Walk from a grid of starts, and from its hollows."""
    low, low_free = _faces(surface, _hollows(surface))
    whole, whole_free = _grid(surface, GRID)
    plane, plane_free = _grid(surface, (1.0,))
    plane_free[:, 0] = False
    point = np.concatenate([low, whole, plane])
    free = np.concatenate([low_free, whole_free, plane_free])
    which = np.arange(len(point))
    found = walk(surface, point, free, np.where(which < len(low), "down", "any"), STEPS)
    in_plane = which >= len(low) + len(whole)
    return Scouted(found.take(~in_plane), found.take(in_plane))


def search(surface: Surface, ends: np.ndarray, scouted: Scouted) -> tuple[Points, Points]:
    """Find stationary points from what was scouted and from where trainings ended.

    Args:
        surface: The loss.
        ends: Further starts `n 3`.
        scouted: What the same surface's grid came to.

    Returns:
        Those of (O0, O1, g), and those of (O1, g) in the plane O0 = 1.
    """
    near, near_free = _faces(surface, ends)
    walked = walk(surface, near, near_free, np.full(len(near), "down"), STEPS)
    found = walked.join(scouted.space)
    there = _there(surface, found)
    # Gentle ground is looked for below the ends, and below what the other starts came to.
    left = ~there & (np.abs(found.point) < NEAR).all(1)
    begin = np.concatenate([near, found.point[left]])
    begin_free = np.concatenate([near_free, found.free[left]])
    floor = walk(surface, begin, begin_free, np.full(len(begin), "floor"), STEPS // 2)
    of_end = np.arange(len(begin)) < len(near)
    seeds = floor.take(~of_end).join(found.take(there))
    net = spread(surface, gentle(surface, floor.take(of_end)), gentle(surface, seeds))
    alone = named(surface, found.take(there), plane=False)
    plane = scouted.plane.take(_there(surface, scouted.plane))
    return with_net(surface, alone, net), named(surface, plane, plane=True)


def _there(surface: Surface, rows: Rows) -> np.ndarray:
    """Which are at a stationary point, or where there is no loss."""
    return (rows.slope() < EXACT) | (rows.loss < NOTHING * surface.scale)


def _hollows(surface: Surface) -> np.ndarray:
    """The lowest places of a coarse grid that are lower than their neighbours."""
    selector = 2 * np.linspace(-1, 1, 17) * np.abs(np.linspace(-1, 1, 17))  # closer about 0
    grid = np.stack(np.meshgrid(selector, selector, np.linspace(0, 1, 13), indexing="ij"), -1)
    loss = surface.values(grid)
    lower = np.ones(loss.shape, dtype=bool)
    for axis in range(3):
        step = np.diff(loss, axis=axis)
        edge = [(0, 0)] * 3
        lower &= np.pad(step, [*edge[:axis], (0, 1), *edge[axis + 1 :]], constant_values=1) >= 0
        lower &= np.pad(step, [*edge[:axis], (1, 0), *edge[axis + 1 :]], constant_values=-1) <= 0
    return grid[lower][np.argsort(loss[lower])[:HOLLOWS]]


def _grid(surface: Surface, first: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Starts on a grid, and the solution. On a kink, and at an end of the gate, they are held."""
    point = np.array([solution(surface), *product(first, GRID, GATES)])
    free = np.ones(point.shape, dtype=bool)
    free[:, 2] = (point[:, 2] > 0) & (point[:, 2] < 1)
    if surface.signed:
        free[:, :2] &= point[:, :2] != 0
    return point, free


def _faces(surface: Surface, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of trainings, as they are and put onto the faces that they are near."""
    points: list[list[float]] = []
    masks: list[list[bool]] = []
    for end in ends:
        choices = [_places(float(value), i == 2, surface.signed) for i, value in enumerate(end)]
        for choice in product(*choices):
            points.append([value for value, _ in choice])
            masks.append([free for _, free in choice])
    return np.array(points).reshape(-1, 3), np.array(masks, dtype=bool).reshape(-1, 3)


def _places(value: float, gate: bool, signed: bool) -> list[tuple[float, bool]]:
    """Where a coordinate may start, and whether it is free there."""
    at = float(round(value)) if gate else 0.0
    away = abs(value - at)
    held = [(at, False)] if away < 2 * REACH and (gate or signed) else []
    return held if gate and away < 1e-3 else [*held, (value, True)]
