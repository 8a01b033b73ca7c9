"""The loss along the gate, with the selector frozen at its pattern: one minimum? convex?"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .surface import Surface

NODES = 10
TOLERANCE = 1e-3
"""A slope or curvature this small, beside the loss at the same place, counts as none."""

NOTHING = 1e-12
"""A loss this small, beside the largest along the curve, counts as none."""


@dataclass(frozen=True)
class Frozen:
    """A curve over the gate weight, and its shape."""

    g: np.ndarray
    loss: np.ndarray
    minima: np.ndarray
    """g of its local minima."""
    convex_g: bool
    convex_logit: bool


def along_the_gate(surface: Surface, pattern: tuple[float, float]) -> Frozen:
    """Follow the loss from g = 0 to 1, evenly in g and, near the ends, in the logit."""
    fine = Surface(surface.task, NODES)
    logits = np.linspace(-12, 12, 61)
    g = np.unique(np.concatenate([np.linspace(0, 1, 101), 1 / (1 + np.exp(-logits))]))
    point = np.stack([np.full_like(g, pattern[0]), np.full_like(g, pattern[1]), g], -1)
    loss, gradient, hessian = fine.derivatives(point)
    slope, curve = gradient[:, 2], hessian[:, 2, 2]
    # dg/dz = g (1 - g) for the logit z.
    rate = g * (1 - g)
    in_logit = rate * ((1 - 2 * g) * slope + rate * curve)
    convex, convex_too = ((c >= -TOLERANCE * loss).all() for c in (curve, in_logit))
    fall = slope / np.maximum(loss, NOTHING * loss.max())
    return Frozen(g, loss, g[_minima(fall)], bool(convex), bool(convex_too))


def _minima(slope: np.ndarray) -> np.ndarray:
    """Where a curve with these slopes stops falling: an end counts, a flat stretch once."""
    sign = np.where(np.abs(slope) < TOLERANCE, 0, np.sign(slope))
    (steep,) = np.nonzero(sign)
    if not steep.size:
        return np.zeros(1, dtype=np.int64)
    found = [0] if sign[steep[0]] > 0 else []
    for i, j in pairwise(steep):
        if sign[i] < 0 < sign[j]:
            found.append(int(i if abs(slope[i]) < abs(slope[j]) else j))
    return np.array([*found, *([len(slope) - 1] if sign[steep[-1]] < 0 else [])], dtype=np.int64)
