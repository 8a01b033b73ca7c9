"""Kinds of stationary points, by the Hessian and by the slopes on both sides of a kink."""

from dataclasses import dataclass

import numpy as np

from .arrays import REACH
from .net import families
from .newton import EXACT, GENTLE, Rows, look
from .surface import Surface

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


def solution(surface: Surface) -> tuple[float, float, float]:
    """The parameters that compute the operation exactly."""
    operation = surface.task.operation
    return 1.0, 1.0 if operation in ("add", "mul") else -1.0, float(operation in ("add", "sub"))


def named(surface: Surface, rows: Rows, *, plane: bool) -> Points:
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
    chosen = [name for i in kept if (name := names[i]) is not None]
    return Points(
        point=rows.point[kept],
        kind=np.array([kind for kind, _, _ in chosen], dtype="U8"),
        loss=rows.loss[kept],
        slope=slope[kept],
        eigenvalues=np.array([curve for _, curve, _ in chosen]).reshape(-1, 3),
        rest=np.array([rest for _, _, rest in chosen], dtype=bool),
        place=rows.point[kept],
        place_point=np.arange(len(kept)),
    )


def with_net(surface: Surface, alone: Points, net: Rows) -> Points:
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
    chosen = [name for name in names if name is not None]
    joined = [
        (alone.point, net.point[kept]),
        (alone.kind, kind[kept]),
        (alone.loss, net.loss[kept]),
        (alone.slope, slope[kept]),
        (alone.eigenvalues, np.array([curve for _, curve, _ in chosen]).reshape(-1, 3)),
        (alone.rest, np.array([rest for _, _, rest in chosen], dtype=bool)),
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
