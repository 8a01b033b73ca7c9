"""Pictures of a landscape for print: PNG, SVG or PDF, by matplotlib; no torch."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..tasks import OPERATIONS, RANGES
from .arrays import Landscape
from .shades import MARKS, STARTS, shades


def draw(landscape: Landscape, path: Path) -> None:
    """Write a picture; the ending of `path` says in which format."""
    figure = Figure(figsize=(9.6, 5.4), dpi=130)
    # A layout that matplotlib works out itself would take as long as all the rest.
    frame = {"left": 0.058, "right": 0.99, "top": 0.955, "bottom": 0.185, "wspace": 0.01}
    left, right = figure.subplots(1, 2, width_ratios=(3.6, 1), sharey=True, gridspec_kw=frame)
    height = shades(landscape.loss)
    levels = np.linspace(height.min(), height.max(), 31)
    filled = left.contourf(landscape.o1, landscape.g, height, levels, cmap="viridis")
    left.contour(
        landscape.o1, landscape.g, height, levels[::2], colors="black", linewidths=0.3, alpha=0.4
    )
    bar = figure.colorbar(filled, ax=left, format="%.1f", pad=0.01, fraction=0.12)
    bar.set_label("log10 of the loss")
    _descent(left, landscape)
    _points(left, landscape)
    _paths(left, landscape)
    _frozen(right, landscape)
    operation, range_ = landscape.task.operation, RANGES[landscape.task.range]
    left.set(xlabel="O[1]", ylabel="g, the weight of the linear domain", xlim=(-2, 2))
    left.set_ylim(-0.03, 1.03)
    solved, trained = int(landscape.path_solved.sum()), len(landscape.path_solved)
    left.set_title(
        f"a {OPERATIONS[operation].symbol} b on {range_.name}, [{range_.train[0]:g}, "
        f"{range_.train[1]:g}): the DMU's loss at O[0] = 1; {solved} of {trained} end right",
        fontsize="medium",
        loc="left",
    )
    figure.legend(handles=_legend(landscape), loc="lower center", ncols=7, fontsize="small")
    with matplotlib.rc_context({"svg.hashsalt": "arithmix", "svg.fonttype": "none"}):
        figure.savefig(path, metadata=None if path.suffix == ".png" else _undated(path))


def _descent(axes: Axes, landscape: Landscape) -> None:
    """Arrows of one length along which the loss falls fastest."""
    height = np.log10(np.maximum(landscape.loss, 1e-300))
    down = [-slope for slope in np.gradient(height, landscape.g, landscape.o1)]
    # Arrows have the direction that they have on the page, where g is drawn four times as long.
    up, along = down[0] / 4, down[1] * 4
    size = np.hypot(along, up)
    size[size == 0] = 1
    rows, columns = slice(3, -1, 6), slice(3, -1, 6)
    axes.quiver(
        landscape.o1[columns],
        landscape.g[rows],
        (along / size)[rows, columns],
        (up / size)[rows, columns],
        color="white",
        alpha=0.35,
        scale=45,
        width=0.0016,
    )


def _paths(axes: Axes, landscape: Landscape) -> None:
    for i, (way, solved) in enumerate(zip(landscape.path, landscape.path_solved, strict=True)):
        colour = STARTS[i % len(STARTS)]
        axes.plot(way[:, 1], way[:, 2], color="black", linewidth=2.2, alpha=0.5)
        axes.plot(way[:, 1], way[:, 2], color=colour, linewidth=1.3)
        axes.plot(*way[0, 1:], "o", color=colour, markersize=4, markeredgecolor="black")
        _, o1, g = way[-1]
        # An end outside the picture is an arrow at its edge.
        end = "P" if solved else "v" if abs(o1) <= 2 else "<" if o1 < 0 else ">"
        _mark(axes, np.clip(o1, -2, 2), g, end, colour, 8)


def _points(axes: Axes, landscape: Landscape) -> None:
    for (o1, g), kind in zip(landscape.plane_point, landscape.plane_kind, strict=True):
        if abs(o1) <= 2:
            mark = MARKS[str(kind)]
            _mark(axes, o1, g, mark.matplotlib, mark.colour, mark.size)


def _mark(axes: Axes, o1: float, g: float, marker: str, colour: str, size: float) -> None:
    look = {"color": colour, "markersize": size, "markeredgecolor": "black"}
    axes.plot(o1, g, marker, clip_on=False, zorder=3, **look)


def _frozen(axes: Axes, landscape: Landscape) -> None:
    loss = np.maximum(landscape.frozen_loss, landscape.frozen_loss.max() * 1e-8)
    axes.semilogx(loss, landscape.frozen_g, color="#22577a")
    for g in landscape.frozen_minima:
        axes.plot(np.interp(g, landscape.frozen_g, loss), g, "o", color="#22577a", clip_on=False)
    o0, o1 = landscape.pattern
    axes.set(xlabel="loss")
    axes.set_title(f"O frozen at [{o0:g}, {o1:g}]", fontsize="medium", loc="left")
    axes.grid(alpha=0.3)


def _legend(landscape: Landscape) -> list[Line2D]:
    lines = [
        Line2D([], [], color=STARTS[i % len(STARTS)], marker="o", markersize=4, label=str(name))
        for i, name in enumerate(landscape.path_start)
    ]
    ends = [("P", "ends at the solution"), ("v", "ends elsewhere")]
    dots = [
        Line2D([], [], color="grey", marker=m, linestyle="", markeredgecolor="black", label=text)
        for m, text in ends
    ]
    here = set(map(str, landscape.plane_kind[np.abs(landscape.plane_point[:, 0]) <= 2]))
    kinds = [
        Line2D(
            [],
            [],
            color=mark.colour,
            marker=mark.matplotlib,
            linestyle="",
            markeredgecolor="black",
            label=kind,
        )
        for kind, mark in MARKS.items()
        if kind in here
    ]
    return [*lines, *dots, *kinds]


def _undated(path: Path) -> dict[str, None]:
    """No date in the file, so that equal arrays make equal files."""
    return {"Date": None} if path.suffix == ".svg" else {"CreationDate": None}
