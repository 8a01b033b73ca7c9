"""What pictures of a landscape share: shades, colours and marks; no torch."""

from typing import NamedTuple

import numpy as np

LOWEST, HIGHEST = 0.003, 30.0
"""Shades run from this quantile of the losses to this many times their median."""
STARTS = (
    *("#e4572e", "#4fb3ff", "#ff9f1c", "#ffe66d"),
    *("#b388ff", "#3ddc97", "#f15bb5", "#c0c0c0"),
)


class Mark(NamedTuple):
    """How a kind of stationary point is shown."""

    matplotlib: str
    plotly: str
    colour: str
    size: int


MARKS = {
    "solution": Mark("*", "star", "#ffd23f", 15),
    "minimum": Mark("o", "circle", "#ffffff", 8),
    "saddle": Mark("X", "x", "#ffffff", 8),
    "maximum": Mark("^", "triangle-up", "#ffffff", 8),
    "valley": Mark("D", "diamond", "#ffffff", 5),
    "plateau": Mark("s", "square", "#ffffff", 6),
}


def shades(loss: np.ndarray) -> np.ndarray:
    """log10 of losses, held within what is worth telling apart."""
    low, middle = np.quantile(loss, [LOWEST, 0.5])
    return np.log10(loss.clip(max(low, 1e-300), max(HIGHEST * middle, 1e-299)))
