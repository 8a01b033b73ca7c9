"""Stationary points of a landscape: found from many starts, and named by the Hessian.

A training moves in (O0, O1) and the gate's logits. In logits the ends g = 0 and g = 1 are flat, so
a point where the gradient in O vanishes is stationary there whatever the slope in g: a plateau. On
a range with negative numbers the loss has a kink at O0 = 0 and at O1 = 0; a point on it is
stationary if the slopes on its two sides differ in sign. So the search runs on faces, where each
coordinate is free or held at such a place. A floor that falls by less than `GENTLE` within `REACH`,
and curves less than `FLAT` of what it curves across, is a valley.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from .arrays import REACH
from .newton import EXACT, FLAT, Rows, look, walk
from .surface import Surface

GENTLE = 1e-2
GRID = (-1.5, -0.5, 0.0, 0.5, 1.5)
GATES = (0.0, 0.15, 0.5, 0.85, 1.0)
STEPS = 16
HOLLOWS = 20
NEAR = 3.0
"""Valleys farther out than this are listed only where a training ended."""
NOTHING = 1e-9
"""A loss below this, beside the mean square of the targets, is none."""
BESIDE = 1e-7
"""How far beside a kink its two slopes are taken."""
SAME = 0.01
"""Points nearer than this are one."""
SPARSE = 0.5
"""Of a line or sheet of stationary points, those that no training came to are so far apart."""


@dataclass(frozen=True)
class Points:
    """Stationary points (O0, O1, g), the lowest loss first."""

    point: np.ndarray
    kind: np.ndarray
    loss: np.ndarray
    slope: np.ndarray
    """The largest relative fall of the loss within `REACH`, to first order."""
    eigenvalues: np.ndarray
    """Of the Hessian, rising: infinite for a kink, NaN for a coordinate that is held."""
    rest: np.ndarray
    """Whether no small move lowers the loss, so that a training can stay there."""


def search(surface: Surface, ends: np.ndarray) -> tuple[Points, Points]:
    """Find stationary points from starts on a grid and from where trainings ended.

    Args:
        surface: The loss.
        ends: Further starts `n 3`.

    Returns:
        Those of (O0, O1, g), and those of (O1, g) in the plane O0 = 1.
    """
    low, low_free = _faces(surface, _hollows(surface))
    near, near_free = _faces(surface, ends)
    whole, whole_free = _grid(surface, GRID)
    plane, plane_free = _grid(surface, (1.0,))
    plane_free[:, 0] = False
    point = np.concatenate([near, low, whole, plane])
    free = np.concatenate([near_free, low_free, whole_free, plane_free])
    down = np.arange(len(point)) < len(near) + len(low)
    found = walk(surface, point, free, np.where(down, "down", "any"), STEPS)
    there = (found.slope() < EXACT) | (found.loss < NOTHING * surface.scale)
    flat_too = np.arange(len(point)) >= len(point) - len(plane)
    # A valley's floor is looked for below the ends, and below what the other starts came to.
    left = ~there & ~flat_too & (np.abs(found.point) < NEAR).all(1)
    begin = np.concatenate([near, found.point[left]])
    begin_free = np.concatenate([near_free, found.free[left]])
    floor = walk(surface, begin, begin_free, np.full(len(begin), "floor"), STEPS // 2)
    valley = (floor.slope(flat_too=False) < EXACT) & (floor.slope() < GENTLE)
    of_end = np.concatenate([np.arange(len(point)) < len(near), np.arange(len(begin)) < len(near)])
    kept = np.concatenate([there & ~flat_too, valley])
    all_ = found.join(floor).take(kept)
    return (
        _named(surface, all_, of_end[kept], False),
        _named(surface, found.take(there & flat_too), np.zeros(1, dtype=bool), True),
    )


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


def solution(surface: Surface) -> tuple[float, float, float]:
    """The parameters that compute the operation exactly."""
    operation = surface.task.operation
    return 1.0, 1.0 if operation in ("add", "mul") else -1.0, float(operation in ("add", "sub"))


def _named(surface: Surface, rows: Rows, of_end: np.ndarray, plane: bool) -> Points:
    slope = rows.slope()
    sides = _sides(surface, rows, plane)
    names = [
        _name(surface, rows.take(np.array([i])), slope[i], sides[i]) for i in range(len(slope))
    ]
    many = np.array(
        [
            name is not None
            and name[0] != "solution"
            and (name[0] == "valley" or _degenerate(name[1], rows.loss[i]))
            for i, name in enumerate(names)
        ],
        dtype=bool,
    )
    radius = np.where(many, np.where(of_end, REACH / 2, SPARSE), SAME)
    kept: list[int] = []
    for i in np.lexsort([slope, radius]):
        apart = (np.abs(rows.point[kept] - rows.point[i]).max(1) > radius[i]).all()
        if names[i] is not None and apart:
            kept.append(int(i))
    kept.sort(key=lambda i: rows.loss[i])
    named = [name for i in kept if (name := names[i]) is not None]
    return Points(
        point=rows.point[kept],
        kind=np.array([kind for kind, _, _ in named], dtype=str),
        loss=rows.loss[kept],
        slope=slope[kept],
        eigenvalues=np.array([curve for _, curve, _ in named]).reshape(-1, 3),
        rest=np.array([rest for _, _, rest in named], dtype=bool),
    )


def _sides(surface: Surface, rows: Rows, plane: bool) -> np.ndarray:
    """Where O0 or O1 is held on a kink, the slopes in it on both sides `n 2 2`; NaN elsewhere."""
    sides = np.full((len(rows.point), 2, 2), np.nan)
    for i in range(plane, 2):
        (on,) = np.nonzero(~rows.free[:, i])
        for j, side in enumerate((-BESIDE, BESIDE)):
            beside = rows.point[on]
            beside[:, i] += side
            if on.size:
                sides[on, i, j] = look(surface, beside, rows.free[on]).gradient[:, i]
    return sides


def _name(
    surface: Surface, row: Rows, slope: float, sides: np.ndarray
) -> tuple[str, np.ndarray, bool] | None:
    """Kind, eigenvalues, and whether a training can stay; None on a kink with a slope across."""
    (point,), (free,), (loss,) = row.point, row.free, row.loss
    curves = np.linalg.eigvalsh(row.hessian[0][np.ix_(free, free)])
    largest = np.abs(curves).max(initial=0.0)
    kinks = []
    for left, right in sides[~np.isnan(sides).any(1)]:
        if left * right > 0:
            return None
        kinks.append(np.copysign(np.inf, right))
    curves = np.sort([*curves, *kinks])
    up, down = bool((curves > 0).any()), bool((curves < -(FLAT**2) * largest).any())
    inward = row.gradient[0, 2] * (-1 if point[2] == 0 else 1)
    rest = not down and (bool(free[2]) or REACH * inward <= EXACT * loss)
    if np.abs(point - solution(surface)).max() < SAME:
        kind, rest = "solution", True
    elif slope > EXACT:
        kind = "valley"
    elif not free[2] or (not kinks and _bare(curves, loss)):
        kind = "plateau"
    elif (np.abs(curves) < EXACT * largest).any():
        kind = "valley"
    else:
        kind = "minimum" if not down else "saddle" if up else "maximum"
    return kind, np.concatenate([curves, np.full(3 - len(curves), np.nan)]), rest


def _degenerate(eigenvalues: np.ndarray, loss: float) -> bool:
    """Whether some direction hardly curves, so that the point is one of many."""
    sizes = np.abs(eigenvalues[np.isfinite(eigenvalues)])
    return bool((sizes <= FLAT**2 * sizes.max(initial=0.0)).any()) or _bare(sizes, loss)


def _bare(curves: np.ndarray, loss: float) -> bool:
    """Whether nothing curves to speak of: around here the output hardly depends on anything."""
    return bool(REACH**2 * np.abs(curves).max(initial=0.0) < GENTLE**2 * loss)
