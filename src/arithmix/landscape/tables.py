"""Landscapes in words: their stationary points, and where trainings end; no torch."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..table import Table
from .arrays import REACH, Landscape

PLACE = ("O[0]", "O[1]", "g")
KINDS = ("solution", "minimum", "saddle", "maximum", "valley", "plateau")


def tables(landscape: Landscape) -> list[Table]:
    """The listed places of a task, where its trainings end, and the gate alone."""
    return [places(landscape), _ways(landscape), _gates([landscape])]


def places(landscape: Landscape, some: bool = False) -> Table:
    """The listed points, valleys and plateaus, first those where trainings end.

    Args:
        landscape: Whose.
        some: Leave out those where none ends, but for the solution.
    """
    task = " ".join(landscape.cell)
    ended = Counter(landscape.path_point[landscape.path_distance < REACH].tolist())
    order = sorted(range(len(landscape.point)), key=lambda i: (-ended[i], landscape.point_loss[i]))
    if some:
        order = [i for i in order if ended[i] or landscape.point_kind[i] == "solution"]
    lines = [
        [
            str(landscape.point_kind[i]),
            str(ended[i] or ""),
            *_extent(landscape, i),
            f"{landscape.point_loss[i]:.3g}",
            "" if landscape.point_kind[i] == "solution" else f"{landscape.point_slope[i]:.0e}",
            ", ".join("-" if np.isnan(v) else f"{v:.2g}" for v in landscape.point_eigenvalues[i]),
            "yes" if landscape.point_rest[i] else "no",
        ]
        for i in order
    ]
    return Table(
        f"Where trainings end on {task}" if some else f"Stationary points of {task}",
        ["kind", "trainings end", *PLACE, "loss", "slope", "curvatures", "holds"],
        lines,
        "A valley or plateau is ground on which the loss changes by less than 1% within 0.05, or a "
        "point with the gate closed; it has the numbers of its lowest place and reaches as far as "
        "it was followed. slope: the relative fall of the loss within 0.05. curvatures: the "
        "eigenvalues of the Hessian; inf at a kink, - for a gate at its end. holds: no small move "
        "lowers the loss",
    )


def _ways(landscape: Landscape) -> Table:
    lines = [
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
    return Table(
        f"Trainings of {' '.join(landscape.cell)}, O learnable, {landscape.path_step[-1]} steps",
        ["start", *PLACE, "loss", "at the solution", "nearest", "distance"],
        lines,
        "O starts at [1, 1] (add), [1, -1] (sub), [0.5, 0.5] (half), [1, 0] (first), [0.1, -0.1] "
        "(small) or anywhere between -1 and 1 (random)",
    )


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
    header = ["task", *KINDS, "at solution", "near", "near, test", "by chance", "slopes away"]
    note = (
        "at solution: trainings that end within 0.05 of it. near: the others that end within 0.05 "
        "of a listed point, valley or plateau; test: the same of trainings that the search did not "
        "see; by chance: of places drawn evenly. slopes away: where on the grid the loss falls as "
        "O[1] leaves its exact value"
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
    if not failed and not tested:
        return "every training ends at the solution"
    return (
        f"{hits} of the {failed} trainings that miss the solution end within {REACH} of a listed "
        f"point, valley or plateau; of others, which the search did not start from, {seen} of "
        f"{tested}; of places drawn evenly {100 * chance:.1f}% are as near"
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
    header = ["task", "minima at g", "one minimum", "convex in g", "convex in the logit"]
    return Table("The loss along the gate, O frozen at its pattern", header, lines)
