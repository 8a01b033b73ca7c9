"""Landscapes in words: their stationary points, and where trainings end; no torch."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..table import Table
from .arrays import REACH, Landscape

KINDS = ("solution", "minimum", "saddle", "maximum", "valley", "plateau")


def tables(landscape: Landscape) -> list[Table]:
    """The stationary points of a cell, where its trainings end, and the gate alone."""
    cell = " ".join(landscape.cell)
    ended = Counter(landscape.path_point[landscape.path_distance < REACH].tolist())
    points = [
        [
            str(kind),
            *(f"{value:.3f}" for value in landscape.point[i]),
            f"{landscape.point_loss[i]:.3g}",
            f"{landscape.point_slope[i]:.0e}",
            " ".join("-" if np.isnan(v) else f"{v:.2g}" for v in landscape.point_eigenvalues[i]),
            "yes" if landscape.point_rest[i] else "no",
            str(ended[i]) if i in ended else "",
        ]
        for i, kind in enumerate(landscape.point_kind)
    ]
    ways = [
        [
            str(landscape.path_start[i]),
            *(f"{value:.3f}" for value in landscape.path_end[i]),
            f"{landscape.path_loss[i, -1]:.3g}",
            "yes" if landscape.path_solved[i] else "no",
            str(landscape.point_kind[landscape.path_point[i]]),
            f"{landscape.path_distance[i]:.3f}",
        ]
        for i in range(len(landscape.path))
    ]
    place = ["O[0]", "O[1]", "g"]
    return [
        Table(
            f"Stationary points of {cell}",
            ["kind", *place, "loss", "slope", "eigenvalues", "can rest", "trainings end"],
            points,
            "slope: the relative fall of the loss within 0.05; inf: a kink; -: held",
        ),
        Table(
            f"Trainings of {cell}, O learnable, {landscape.path_step[-1]} steps",
            ["start", *place, "loss", "solved", "nearest", "distance"],
            ways,
        ),
        _gates([landscape]),
    ]


def summary(landscapes: Sequence[Landscape]) -> list[Table]:
    """Many cells, a line each."""
    lines = []
    for one in landscapes:
        kinds = Counter(map(str, one.point_kind))
        failed = ~one.path_solved
        lines.append(
            [
                " ".join(one.cell),
                *(str(kinds[kind] or "") for kind in KINDS),
                f"{one.path_solved.sum()}/{len(failed)}",
                f"{(failed & (one.path_distance < REACH)).sum()}/{failed.sum()}",
                f"{100 * away(one):.0f}%",
            ]
        )
    header = ["cell", *KINDS, "solved", "failed near a point", "slopes away"]
    note = "slopes away: where on the grid the loss falls as O[1] leaves its exact value"
    return [Table("Landscapes with O learnable", header, lines, note), _gates(landscapes)]


def near(landscapes: Sequence[Landscape], last_step: bool = False) -> tuple[int, int]:
    """How many failed trainings settle, or end, at a listed point, and how many failed."""
    hits = failed = 0
    for one in landscapes:
        bad = ~one.path_solved
        ends = one.path[:, -1] if last_step else one.path_end
        apart = np.abs(ends[:, None] - one.point).max(-1).min(1)
        hits += int((bad & (apart < REACH)).sum())
        failed += int(bad.sum())
    return hits, failed


def away(landscape: Landscape) -> float:
    """The share of the grid where the loss falls as O[1] leaves its exact value."""
    slope = np.gradient(landscape.loss, landscape.o1, axis=1)
    distance = landscape.o1 - landscape.pattern[1]
    aside = np.abs(distance) > REACH
    return float((slope * distance < 0)[:, aside].mean())


def _gates(landscapes: Sequence[Landscape]) -> Table:
    def yes(value: object) -> str:
        return "yes" if value else "no"

    lines = [
        [
            " ".join(one.cell),
            ", ".join(f"{g:.3g}" for g in one.frozen_minima),
            yes(len(one.frozen_minima) == 1),
            yes(one.frozen_convex_g),
            yes(one.frozen_convex_logit),
        ]
        for one in landscapes
    ]
    header = ["cell", "minima at g", "one minimum", "convex in g", "convex in the logit"]
    return Table("The loss along the gate, O frozen at its pattern", header, lines)
