"""Programs over the numbers before a place: copies, and one to three steps of + - * /.

A step is (operation, left, right) of slots: the numbers in the text's order, then the constants,
then the results of earlier steps. Every result is used exactly once, by a later step.
"""

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

OPERATIONS = "+-*/"
WINDOW = 6
"""Programs of three steps use the last six numbers, and no constants."""
MOST = 48
"""Programs of two or three steps that are kept for one number of a training text."""
PLUS, MINUS, TIMES, OVER = range(4)


@dataclass(frozen=True)
class Found:
    """The programs whose value is a number that stands in a text.

    Args:
        copies: Which numbers are it.
        ones: The one-step programs, each (operation, left, right).
        twos: Those of two: a step, then (operation, side, slot) where side 0 has the result on
            the left.
        threes: Those of three: a step; then (0, operation, side, slot), which goes on with its
            result, or (1, operation, left, right), another step; then (operation, side, slot),
            where the slot is -1 for the other result.
    """

    copies: NDArray[np.int64]
    ones: NDArray[np.int64]
    twos: NDArray[np.int64]
    threes: NDArray[np.int64]


def search(values: NDArray[np.float64], constants: NDArray[np.float64], target: float) -> Found:
    """The programs that compute `target` up to rounding; longer ones only where no shorter does.

    A one-step program with a constant does not count as shorter: most such are chance. Longer
    ones compute with no zero.
    """
    with np.errstate(all="ignore"):
        slots = np.concatenate([values, constants])
        copies = np.flatnonzero(_near(values, target))
        table = _steps(slots, len(values))
        ones = np.argwhere(_near(table, target))
        own = (ones[:, 1:] < len(values)).all(1) if len(ones) else np.zeros(0, bool)
        twos, threes = np.zeros((0, 6), np.int64), np.zeros((0, 10), np.int64)
        if not len(copies) and not own.any():
            twos, free = _likeliest(_twos(table, slots, target), [1, 2, 5], len(values))
            if not free:
                threes, _ = _likeliest(_threes(values[-WINDOW:], target), [], len(values))
        return Found(copies, ones, twos, threes)


def _likeliest(programs: NDArray[np.int64], slots: list[int], numbers: int):
    """The programs least likely to be chance, and whether any is free of constants and reuse.

    A constant, and a number used again, count against a program. Where some have neither, they
    alone are kept; else those with at most two.
    """
    if not len(programs):
        return programs, False
    if slots:
        used = programs[:, slots]
    else:
        # Both operands of the second step count where it stands alone, else one of them.
        alone = programs[:, 3] == 1
        second = np.where(alone, programs[:, 5], -1)
        used = np.stack([programs[:, 1], programs[:, 2], second, programs[:, 6], programs[:, 9]], 1)
    constants = (used >= numbers).sum(1)
    ordered = np.sort(used, 1)
    twice = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).sum(1)
    burden = constants + twice
    kept = np.flatnonzero(burden <= min(burden.min(), 1) + (burden.min() > 0))
    kept = kept[np.argsort(burden[kept], kind="stable")][:MOST]
    return programs[kept], bool((burden == 0).any())


def _near(x: NDArray[np.float64], target: float) -> NDArray[np.bool_]:
    return np.abs(x - target) <= 1e-11 * max(abs(target), 1e-3)


def _steps(slots: NDArray[np.float64], numbers: int) -> NDArray[np.float64]:
    """The values of all steps, (operation, left, right); NaN for those that are none."""
    a, b = slots[:, None], slots[None]
    table = np.stack([a + b, a - b, a * b, a / b])
    order = np.arange(len(slots))
    table[:, (order[:, None] >= numbers) & (order >= numbers)] = np.nan
    table[[PLUS, TIMES]] = np.where(order[:, None] <= order, table[[PLUS, TIMES]], np.nan)
    table[[MINUS, OVER]] = np.where(order[:, None] != order, table[[MINUS, OVER]], np.nan)
    table[~np.isfinite(table)] = np.nan
    return table


def _needed(result: NDArray[np.float64], target: float) -> NDArray[np.float64]:
    """What a result must be combined with to give the target: (operation, side, result)."""
    none = np.full_like(result, np.nan)
    return np.stack(
        [
            np.stack([target - result, none]),
            np.stack([result - target, target + result]),
            np.stack([target / result, none]),
            np.stack([result / target, target * result]),
        ]
    )


def _finish(results: NDArray[np.float64], slots: NDArray[np.float64], target: float):
    """Which results, combined with which slots, give the target: rows (result, op, side, slot)."""
    needed = _needed(results, target)[..., None]  # op side result 1
    hits = np.abs(needed - slots) <= 1e-11 * np.maximum(np.abs(slots), 1e-3)
    hits &= np.isfinite(needed) & (slots != 0)
    return np.argwhere(hits)[:, [2, 0, 1, 3]]


def _twos(table: NDArray[np.float64], slots: NDArray[np.float64], target: float):
    flat = table.ravel()
    usable = np.flatnonzero(np.isfinite(flat) & (flat != 0))
    hits = _finish(flat[usable], slots, target)
    first = np.stack(np.unravel_index(usable[hits[:, 0]], table.shape), 1)
    return np.concatenate([first, hits[:, 1:]], 1)


def _threes(values: NDArray[np.float64], target: float):
    table = _steps(values, len(values))
    flat = table.ravel()
    usable = np.flatnonzero(np.isfinite(flat) & (flat != 0))
    first = np.stack(np.unravel_index(usable, table.shape), 1)
    r = flat[usable]
    # A chain: the result goes on with a number, and that result with another.
    a, b = r[:, None], values[None]
    none = np.full_like(a + b, np.nan)
    second = np.stack([a + b, none, a - b, b - a, a * b, none, a / b, b / a], 1)
    second = second.reshape(len(r), 4, 2, len(values))
    goes = np.flatnonzero(np.isfinite(second.ravel()) & (second.ravel() != 0))
    hits = _finish(second.ravel()[goes], values, target)
    where = np.stack(np.unravel_index(goes[hits[:, 0]], second.shape), 1)
    zero = np.zeros((len(hits), 1), np.int64)
    chains = np.concatenate([first[where[:, 0]], zero, where[:, 1:], hits[:, 1:]], 1)
    # Two results, combined: (a op b) op (c op d).
    pairs = _finish(r, r, target)
    one = np.ones((len(pairs), 1), np.int64)
    both = np.concatenate([first[pairs[:, 0]], one, first[pairs[:, 3]], pairs[:, 1:3], -one], 1)
    return np.concatenate([chains, both])


def as_float(value: int | Decimal) -> float:
    """A value for the search among training texts; one too large is none of them."""
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan
