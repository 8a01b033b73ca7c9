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
            *_extent(landscape, i),
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
            *(f"{value:.3f}" for value in landscape.path[i, -1]),
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
            "slope: the relative fall of the loss within 0.05; inf: a kink; -: held. A valley or "
            "plateau has the numbers of its lowest place, and as far as it was followed",
        ),
        Table(
            f"Trainings of {cell}, O learnable, {landscape.path_step[-1]} steps",
            ["start", *place, "loss", "solved", "nearest", "distance"],
            ways,
        ),
        _gates([landscape]),
    ]


def _extent(landscape: Landscape, i: int) -> list[str]:
    """O0, O1 and g of a point; of a valley or plateau, from where to where its places reach."""
    places = landscape.place[landscape.place_point == i]
    ends = zip(places.min(0), places.max(0), strict=True)
    return [f"{a:.3f}" if b - a < 0.01 else f"{a:.2f} to {b:.2f}" for a, b in ends]


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
                "{}/{}".format(*near([one], test=True)),
                f"{100 * float(one.chance):.1f}%",
                f"{100 * away(one):.0f}%",
            ]
        )
    header = ["cell", *KINDS, "solved", "near", "near, test", "by chance", "slopes away"]
    note = (
        "near: failed trainings that end within 0.05 of a listed point, valley or plateau; test: "
        "the same of trainings that the search did not see; by chance: of places drawn evenly. "
        "slopes away: where on the grid the loss falls as O[1] leaves its exact value"
    )
    return [Table("Landscapes with O learnable", header, lines, note), _gates(landscapes)]


def near(landscapes: Sequence[Landscape], test: bool = False) -> tuple[int, int]:
    """How many failed trainings end at a listed place, and how many failed.

    Args:
        landscapes: Those to count in.
        test: Count the trainings that the search did not see.
    """
    hits = failed = 0
    for one in landscapes:
        bad = ~(one.test_solved if test else one.path_solved)
        apart = one.test_distance if test else one.path_distance
        hits += int((bad & (apart < REACH)).sum())
        failed += int(bad.sum())
    return hits, failed


def said(landscapes: Sequence[Landscape]) -> str:
    """In a sentence: do the listed places tell where trainings that fail end?"""
    hits, failed = near(landscapes)
    seen, tested = near(landscapes, test=True)
    chance = np.mean([one.chance for one in landscapes])
    return (
        f"{hits} of {failed} trainings that fail end within {REACH} of a listed point, valley or "
        f"plateau; of trainings that the search did not see {seen} of {tested}; of places drawn "
        f"evenly {100 * chance:.1f}%"
    )


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
