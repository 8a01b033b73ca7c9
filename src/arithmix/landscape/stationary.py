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
from .net import NEAR, families, gentle, spread
from .newton import EXACT, GENTLE, Rows, look, walk
from .surface import Surface

GRID = (-1.5, -0.5, 0.0, 0.5, 1.5)
GATES = (0.0, 0.15, 0.5, 0.85, 1.0)
STEPS = 12
HOLLOWS = 20
NOTHING = 1e-9
"""A loss below this, beside the mean square of the targets, is none."""
BESIDE = 1e-7
"""How far beside a kink its two slopes are taken."""
SAME = 0.01
"""Points nearer than this are one."""
DEGENERATE = 1e-4
"""An eigenvalue below this, beside the largest, is none: the point is one of many."""
SPARSE = 0.5
"""Of such points in the plane O0 = 1, those that are listed are so far apart."""


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
    place: np.ndarray
    """All places that are listed, `n 3`: the points, and the nets of valleys and plateaus."""
    place_point: np.ndarray
    """Of which point each place is."""


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
    alone = _named(surface, found.take(there), plane=False)
    plane = scouted.plane.take(_there(surface, scouted.plane))
    return _with_net(surface, alone, net), _named(surface, plane, plane=True)


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


def solution(surface: Surface) -> tuple[float, float, float]:
    """The parameters that compute the operation exactly."""
    operation = surface.task.operation
    return 1.0, 1.0 if operation in ("add", "mul") else -1.0, float(operation in ("add", "sub"))


def _named(surface: Surface, rows: Rows, *, plane: bool) -> Points:
    """Points that are alone; in the plane also some of those that are not, far apart."""
    slope = rows.slope()
    sides = _sides(surface, rows, plane)
    names = [
        _name(surface, rows.take(np.array([i])), slope[i], sides[i]) for i in range(len(slope))
    ]
    many = np.array(
        [
            name is not None and name[0] != "solution" and _degenerate(name[1], rows.loss[i])
            for i, name in enumerate(names)
        ],
        dtype=bool,
    )
    radius = np.where(many, SPARSE, SAME)
    kept: list[int] = []
    for i in np.lexsort([slope, radius]):
        apart = (np.abs(rows.point[kept] - rows.point[i]).max(1) > radius[i]).all()
        if names[i] is not None and apart and (plane or not many[i]):
            kept.append(int(i))
    kept.sort(key=lambda i: rows.loss[i])
    named = [name for i in kept if (name := names[i]) is not None]
    return Points(
        point=rows.point[kept],
        kind=np.array([kind for kind, _, _ in named], dtype="U8"),
        loss=rows.loss[kept],
        slope=slope[kept],
        eigenvalues=np.array([curve for _, curve, _ in named]).reshape(-1, 3),
        rest=np.array([rest for _, _, rest in named], dtype=bool),
        place=rows.point[kept],
        place_point=np.arange(len(kept)),
    )


def _with_net(surface: Surface, alone: Points, net: Rows) -> Points:
    """Add valleys and plateaus, each by its lowest place."""
    sides = _sides(surface, net, plane=False)
    slope = net.slope()
    flat = net.curves()[-1]
    kind = np.where(flat.all(1), "plateau", "valley")
    on = ~_across(sides)
    on &= np.abs(net.point[:, None] - alone.point).max(-1).min(1, initial=np.inf) > SAME
    family = families(net.point[on], kind[on])
    (there,) = np.nonzero(on)
    lowest = np.lexsort([net.loss[there], family])
    kept = there[lowest[np.unique(family[lowest], return_index=True)[1]]]
    names = [_name(surface, net.take(np.array([i])), slope[i], sides[i]) for i in kept]
    named = [name for name in names if name is not None]
    joined = [
        (alone.point, net.point[kept]),
        (alone.kind, kind[kept]),
        (alone.loss, net.loss[kept]),
        (alone.slope, slope[kept]),
        (alone.eigenvalues, np.array([curve for _, curve, _ in named]).reshape(-1, 3)),
        (alone.rest, np.array([rest for _, _, rest in named], dtype=bool)),
    ]
    point, kinds, loss, slopes, eigenvalues, rest = map(np.concatenate, joined)
    order = np.argsort(loss, kind="stable")
    rank = np.argsort(order)
    return Points(
        *(values[order] for values in (point, kinds, loss, slopes, eigenvalues, rest)),
        place=np.concatenate([alone.point, net.point[on]]),
        place_point=rank[np.concatenate([alone.place_point, len(alone.loss) + family])],
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


def _across(sides: np.ndarray) -> np.ndarray:
    """Whether the loss falls across a kink, so that no training stays on it."""
    return (sides.prod(-1) > 0).any(-1)


def _name(
    surface: Surface, row: Rows, slope: float, sides: np.ndarray
) -> tuple[str, np.ndarray, bool] | None:
    """Kind, eigenvalues, and whether a training can stay; None on a kink with a slope across."""
    (point,), (free,), (loss,) = row.point, row.free, row.loss
    curves = np.linalg.eigvalsh(row.hessian[0][np.ix_(free, free)])
    largest = np.abs(curves).max(initial=0.0)
    if _across(sides):
        return None
    kinks = [np.copysign(np.inf, right) for left, right in sides if not np.isnan(left * right)]
    curves = np.sort([*curves, *kinks])
    up, down = bool((curves > 0).any()), bool((curves < -DEGENERATE * largest).any())
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
    return bool((sizes <= DEGENERATE * sizes.max(initial=0.0)).any()) or _bare(sizes, loss)


def _bare(curves: np.ndarray, loss: float) -> bool:
    """Whether nothing curves to speak of: around here the output hardly depends on anything."""
    return bool(REACH**2 * np.abs(curves).max(initial=0.0) < GENTLE**2 * loss)
