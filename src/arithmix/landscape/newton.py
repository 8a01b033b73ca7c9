"""Newton's method for many starts at once, on faces where some coordinates are held.

Three ways to go from a start, by the eigenvalues of the Hessian: to `any` stationary point nearby,
saddles too, by lowering the gradient; `down` to a minimum; or to the `floor` of a valley, which is
down across it but not along it.
"""

from dataclasses import dataclass

import numpy as np

from .arrays import REACH
from .surface import Surface

EXACT = 1e-5
"""A relative fall of the loss within `REACH` below this is none."""
GENTLE = 1e-2
"""A change of the loss within `REACH` is gentle if it is less than this, beside the loss itself or
beside the rise of the steepest wall."""
FAR = 20.0
"""Selectors beyond this are given up."""
LEAP = 0.3
"""The longest step."""


@dataclass
class Rows:
    """Places (O0, O1, g), one a row, and what is known there."""

    point: np.ndarray
    free: np.ndarray
    """Which coordinates move; the others are held."""
    loss: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray

    def take(self, which: np.ndarray) -> "Rows":
        """Some of the rows."""
        parts = (self.point, self.free, self.loss, self.gradient, self.hessian)
        return Rows(*(part[which] for part in parts))

    def join(self, other: "Rows") -> "Rows":
        """The rows of both."""
        mine, theirs = vars(self).values(), vars(other).values()
        return Rows(*(np.concatenate(pair) for pair in zip(mine, theirs, strict=True)))

    def put(self, which: np.ndarray, rows: "Rows") -> None:
        """Write some of the rows."""
        for name, value in vars(rows).items():
            getattr(self, name)[which] = value

    def moving(self) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian in the free coordinates, with zeros for the others."""
        both = self.free[:, :, None] & self.free[:, None, :]
        return np.where(self.free, self.gradient, 0), np.where(both, self.hessian, 0)

    def curves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Eigenvalues, eigenvectors, the gradient along these, and which of them bend gently."""
        gradient, hessian = self.moving()
        value, vector = np.linalg.eigh(hessian)
        flat = REACH**2 / 2 * np.abs(value) < GENTLE * self.height(value)[:, None]
        return value, vector, np.einsum("nij,ni->nj", vector, gradient), flat

    def height(self, eigenvalues: np.ndarray) -> np.ndarray:
        """What a fall is measured by: the loss, or the rise of its walls if that is more."""
        return np.maximum(self.loss, REACH**2 / 2 * np.abs(eigenvalues).max(1))

    def gentle(self) -> np.ndarray:
        """Whether the loss changes gently here, at least along one line that can be followed."""
        value, vector, along, flat = self.curves()
        fall = REACH * np.linalg.norm(along, axis=1)
        open_ = flat & (np.abs(vector * self.free[:, :, None]).max(1) > 0.1)
        return (fall < GENTLE * self.height(value)) & open_.any(1) & np.isfinite(self.loss)

    def walls(self) -> np.ndarray:
        """Places at `REACH` to both sides, where the loss curves most, `2 n 3`."""
        value, vector, _, _ = self.curves()
        steepest = np.abs(value).argmax(1)[:, None, None]
        step = REACH * np.take_along_axis(vector, steepest, 2)[..., 0]
        both = np.stack([self.point + step, self.point - step])
        both[..., 2] = both[..., 2].clip(0, 1)
        return both

    def slope(self) -> np.ndarray:
        """The largest relative fall of the loss within `REACH`, to first order."""
        size = REACH * np.linalg.norm(self.moving()[0], axis=1)
        return size / np.maximum(self.loss, np.finfo(float).tiny)


def look(surface: Surface, point: np.ndarray, free: np.ndarray) -> Rows:
    """Evaluate the loss and its derivatives; what is not finite counts as flat and high."""
    loss, gradient, hessian = surface.derivatives(point)
    bad = ~(np.isfinite(gradient).all(1) & np.isfinite(hessian).all((1, 2)) & np.isfinite(loss))
    loss[bad], gradient[bad], hessian[bad] = np.inf, 0, 0
    return Rows(point.copy(), free.copy(), loss, gradient, hessian)


def walk(
    surface: Surface, point: np.ndarray, free: np.ndarray, way: np.ndarray, steps: int
) -> Rows:
    """Go from each start its `way` (any, down or floor) until it is there or out of steps.

    On the way down a gate that is pushed beyond 0 or 1 is held there.
    """
    rows = look(surface, point, free)
    damping = np.full(len(point), 1e-3)
    for _ in range(steps):
        there = np.where(way == "floor", rows.gentle(), rows.slope() < EXACT / 100)
        near = (np.abs(rows.point[:, :2]) < FAR).all(1) & np.isfinite(rows.loss)
        (going,) = np.nonzero(~there & near & (damping < 1e2))
        if not going.size:
            break
        now, how = rows.take(going), way[going]
        trial = now.point + _step(now, how, damping[going])
        trial[:, 2] = trial[:, 2].clip(0, 1)
        new = look(surface, trial, now.free)
        lower = new.loss < now.loss
        shorter = np.linalg.norm(new.moving()[0], axis=1) < np.linalg.norm(now.moving()[0], axis=1)
        better = np.where(
            how == "any", shorter, lower | (shorter & (new.loss <= now.loss * (1 + 1e-9)))
        )
        damping[going] = np.where(better, damping[going] / 10, damping[going] * 10).clip(1e-12)
        outward = np.where(trial[:, 2] == 0, new.gradient[:, 2], -new.gradient[:, 2]) > 0
        at_end = (trial[:, 2] == 0) | (trial[:, 2] == 1)
        new.free[:, 2] &= ~(at_end & outward & (how != "any"))
        rows.put(going[better], new.take(better))
    return rows


def _step(rows: Rows, how: np.ndarray, damping: np.ndarray) -> np.ndarray:
    value, vector, along, flat = rows.curves()
    scale = np.maximum(np.abs(value).max(1, keepdims=True), np.finfo(float).tiny)
    value, along, damping = value / scale, along / scale, damping[:, None]
    down = along / (np.abs(value) + damping)
    anywhere = along * value / (value**2 + damping)
    choice = [how == "any", how == "floor"]
    steps = np.select([c[:, None] for c in choice], [anywhere, np.where(flat, 0, down)], down)
    step = -np.einsum("nij,nj->ni", vector, steps)
    length = np.abs(step).max(1, keepdims=True)
    return step * np.minimum(1, LEAP / np.maximum(length, LEAP))
