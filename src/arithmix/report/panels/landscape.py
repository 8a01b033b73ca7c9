"""The loss landscapes of the DMU, with the paths of trainings on them."""

from collections.abc import Sequence

import numpy as np

from ...landscape.arrays import Landscape
from ...landscape.shades import HIGHEST, LOWEST, MARKS, shades
from ...landscape.tables import REACH, near, places, said, summary, tables
from ...measure.rulers import RULERS
from ...studies._ablation import linear_weight
from ...studies._rows import judged
from ...tasks import OPERATIONS, RANGES, Task
from ..data import Data
from ..draw import LEGEND, OWN, SIGNS, Spec, figure, log_axis, operation_name, plain, span, trace
from ..parts import Chart, Fold, Grid, Part, Strong, Tabs, tabs, words

ORDER = 90
TITLE = "Loss landscapes"
ABOUT = (
    "The DMU's training loss over O[1], the second entry of the selector, and g, the weight of the "
    "linear domain: at g = 1 the unit adds or subtracts, at 0 it multiplies or divides. With O "
    "frozen, as in the paper, a training moves along one line of it. With O learnable it also "
    "leaves the plane O[0] = 1 that is drawn: its path is a projection, and the shade under it is "
    f"not its loss. Losses above {HIGHEST:g} times the median all have the lightest shade, the "
    f"lowest {LOWEST:.1%} all the darkest."
)
COMMAND = "arithmix landscape --all && arithmix report"
SIDE, SURFACE_SIDE, PATHS, POINTS = 45, 27, 8, 40
DEPTH = 8
"""Decades below the largest loss that are told apart along the gate."""
DEPTHS = [[0, "#0b2545"], [0.5, "#2b6cb0"], [0.8, "#9cc3e8"], [1, "#eef3f8"]]
ENDED = {True: ("to the solution", "#5ee3a1"), False: ("elsewhere", "#ff8c42")}


def parts(data: Data) -> list[Part]:
    """A map, a surface and a cut for each operation and range."""
    kept = {one.task: one for one in data.landscapes}
    found: dict[str, list[Part]] = {}
    for operation in OPERATIONS:
        cells = {r: kept.get(Task(operation, r)) for r in RANGES}
        found[operation_name(operation)] = tabs({r: _cell(one) for r, one in cells.items() if one})
    whole = tabs(found)
    if not whole:
        return []
    summed = [Grid(table) for table in summary(data.landscapes)]
    return [*_said(data.landscapes), *_recorded(data), *whole, Fold("All tasks", summed)]


def _said(landscapes: Sequence[Landscape]) -> list[Part]:
    convex = sum(bool(one.frozen_convex_g) for one in landscapes)
    more = [" ".join(one.cell) for one in landscapes if one.frozen_minima.size > 1]
    single = f"{len(landscapes) - len(more)} have one minimum"
    return [
        words(
            Strong("Convex along the gate, with O frozen? "),
            f"The paper says so. It is on {convex} of {len(landscapes)} tasks; {single}",
            f" ({', '.join(more)} have more)." if more else ".",
        ),
        words(
            Strong("Where do trainings with O learnable end? "),
            f"With nearness counted in O[0], O[1] and g: {said(landscapes)}.",
        ),
    ]


def _recorded(data: Data) -> list[Part]:
    """Where the trainings of the selector's ablation that fail end, beside the listed places."""
    landscapes = {one.task: one for one in data.landscapes}
    learned = [
        row
        for row in data.rows
        if "learn_selector=True" in row.asked.unit
        and row.asked.task in landscapes
        and {"selector", "gate"} <= row.parameters.keys()
    ]
    failed = [one.row for one in judged(learned, RULERS["dmu"]) if not one.verdict.solved]
    right = near_ = 0
    for row in failed:
        one = landscapes[row.asked.task]
        end = np.array([*np.ravel(row.parameters["selector"]), linear_weight(row)])
        solution = np.abs(end - one.point[one.point_kind == "solution"]).max() < REACH
        right += solution
        near_ += not solution and np.abs(end - one.place).max(1).min() < REACH
    if not failed:
        return []
    return [
        words(
            Strong("And in the ablation of the selector? "),
            f"Of {len(failed)} trainings with a learnable O that fail by the paper's rule, which "
            f"the search never saw, {right} end within {REACH} of the solution, but shake too much "
            f"for the threshold; {near_} of the other {len(failed) - right} end within {REACH} of "
            "a listed point, valley or plateau.",
        )
    ]


def _cell(one: Landscape) -> list[Part]:
    about = f"{SIGNS[one.task.operation]} on {span(one.task.range)}"
    points, ways, _ = tables(one)
    every = Fold(f"All {len(points.rows)} listed places", [Grid(points)])
    views: dict[str, list[Part]] = {
        "map": [Chart(_map(one), 520, f"{about}: log10 of the loss")],
        "surface": [Chart(_surface(one), 420, f"{about}: log10 of the loss")],
        "O frozen": [Chart(_cut(one), 340, f"{about}: the loss along the gate"), _frozen(one)],
        "numbers": [Grid(places(one, some=True)), Grid(ways), every],
    }
    return [Tabs(views), _paths_said(one)]


def _few(size: int, most: int) -> np.ndarray:
    """At most so many indices, both ends among them."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(int))


def _grid(one: Landscape, side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """O[1], g and log10 of the loss, on at most `side` x `side` points."""
    rows, columns = (_few(n, side) for n in one.loss.shape)
    return one.o1[columns], one.g[rows], shades(one.loss)[np.ix_(rows, columns)]


def _map(one: Landscape) -> Spec:
    x, y, z = _grid(one, SIDE)
    ground = trace(
        "contour",
        x=x,
        y=y,
        z=z,
        colorscale=DEPTHS,
        ncontours=24,
        line={"width": 0.4},
        colorbar={"thickness": 10, "len": 0.8, "outlinewidth": 0}
        | {"title": {"text": "log10 loss"}},
        hovertemplate="O[1] %{x:.2f}, g %{y:.2f}<br>log10 loss %{z:.2f}<extra></extra>",
    )
    limits = {"xaxis": {"title": {"text": "O[1]"}, "range": [x[0], x[-1]]}}
    limits["yaxis"] = {"title": {"text": "g, weight of the linear domain"}, "range": [-0.03, 1.03]}
    marks = [*_paths(one), *_points(one)]
    return figure([ground, *marks], legend=LEGEND, showlegend=True, **limits)


def _paths(one: Landscape) -> list[Spec]:
    """A few solved and a few failed trainings, with where they end."""
    traces = []
    steps = _few(one.path_step.size, POINTS)
    for solved, (name, colour) in ENDED.items():
        chosen = np.flatnonzero(one.path_solved == solved)
        chosen = chosen[_few(chosen.size, PATHS)] if chosen.size else chosen
        gap = np.full((chosen.size, 1, 3), np.nan)
        lines = np.concatenate([one.path[np.ix_(chosen, steps)], gap], axis=1).reshape(-1, 3)
        ends = one.path[chosen, -1]
        told = [
            f"{_at(one, int(i))}, from {plain(str(one.path_start[i]))}, seed {one.path_seed[i]}"
            for i in chosen
        ]
        common = {"legendgroup": name, "line": {"color": colour, "width": 2}}
        traces += [
            trace(
                "scatter",
                x=lines[:, 1],
                y=lines[:, 2],
                name=f"training, {name}",
                mode="lines",
                hoverinfo="skip",
                **common,
            ),
            trace(
                "scatter",
                x=one.path[chosen, 0, 1],
                y=one.path[chosen, 0, 2],
                name="start",
                mode="markers",
                marker={"size": 7, "color": "#ffffff", "line": {"width": 2, "color": colour}},
                hoverinfo="skip",
                **common,
            ),
            trace(
                "scatter",
                x=ends[:, 1],
                y=ends[:, 2],
                name="end",
                mode="markers",
                marker={"size": 9, "color": colour, "line": {"width": 1, "color": "#202020"}},
                customdata=told,
                hovertemplate="%{customdata}<br>ends at O[1] %{x:.3f}, g %{y:.3f}<extra></extra>",
                **common,
            ),
        ]
    return traces


def _at(one: Landscape, i: int) -> str:
    """What kind of place a training ends at."""
    kind = one.point_kind[one.path_point[i]]
    return f"at a {kind}" if one.path_distance[i] < REACH else "at no listed place"


def _points(one: Landscape) -> list[Spec]:
    traces = []
    for kind, mark in MARKS.items():
        those = np.flatnonzero(one.plane_kind == kind)
        if those.size:
            traces.append(
                trace(
                    "scatter",
                    x=one.plane_point[those, 0],
                    y=one.plane_point[those, 1],
                    customdata=[f"{loss:.2e}" for loss in one.plane_loss[those]],
                    name=f"{kind} of this plane",
                    mode="markers",
                    marker={"symbol": mark.plotly, "size": mark.size + 2, "color": mark.colour}
                    | {"line": {"width": 1.5, "color": "#202020"}},
                    hovertemplate=f"{kind} at O[1] %{{x:.3f}}, g %{{y:.3f}}<br>"
                    "loss %{customdata}<extra></extra>",
                )
            )
    return traces


def _surface(one: Landscape) -> Spec:
    x, y, z = _grid(one, SURFACE_SIDE)
    surface = trace(
        "surface",
        x=x,
        y=y,
        z=z,
        colorscale=DEPTHS,
        showscale=False,
        hovertemplate="O[1] %{x:.2f}, g %{y:.2f}<br>log10 loss %{z:.2f}<extra></extra>",
    )
    axes = {"xaxis": "O[1]", "yaxis": "g", "zaxis": "log10 loss"}
    scene: Spec = {axis: {"title": {"text": text}} for axis, text in axes.items()}
    eye, centre = {"x": 1.7, "y": -1.7, "z": 0.9}, {"x": 0, "y": 0, "z": -0.2}
    scene |= {"aspectmode": "manual", "aspectratio": {"x": 1.1, "y": 1.0, "z": 0.9}}
    scene["camera"] = {"eye": eye, "center": centre}
    return figure([surface], scene=scene)


def _cut(one: Landscape) -> Spec:
    thin = slice(None, None, max(1, one.frozen_g.size // 200))
    g, loss = one.frozen_g[thin], one.frozen_loss[thin]
    floor = float(loss.max()) * 10.0**-DEPTH
    line = trace(
        "scatter",
        x=g,
        y=np.maximum(loss, floor),
        mode="lines",
        line={"color": OWN, "width": 2},
        hovertemplate="g %{x:.3f}: %{y:.2e}<extra></extra>",
    )
    low = np.interp(one.frozen_minima, one.frozen_g, one.frozen_loss)
    minima = trace(
        "scatter",
        x=one.frozen_minima,
        y=np.maximum(low, floor),
        mode="markers",
        marker={"color": OWN, "size": 9},
        hovertemplate="minimum at g %{x:.3f}<extra></extra>",
    )
    axes = {"xaxis": {"title": {"text": "g"}}, "yaxis": log_axis("loss", np.maximum(loss, floor))}
    return figure([line, minima], showlegend=False, **axes)


def _frozen(one: Landscape) -> Part:
    pattern = ", ".join(f"{value:g}" for value in one.pattern)
    count = one.frozen_minima.size
    return words(
        f"With O frozen at [{pattern}] the loss along the gate has {count} local "
        f"{'minimum' if count == 1 else 'minima'}; it is {_not(one.frozen_convex_g)}convex in g "
        f"and {_not(one.frozen_convex_logit)}convex in the gate's logit."
    )


def _not(convex: np.ndarray) -> str:
    return "" if bool(convex) else "not "


def _paths_said(one: Landscape) -> Part:
    if not one.path_solved.size:
        return words("No training with a learnable O was noted here.")
    hits, failed = near([one])
    end = f"; {hits} of the other {failed} at a listed place" if failed else ""
    return words(
        f"With O learnable {one.path_solved.sum()} of {one.path_solved.size} trainings end within "
        f"{REACH} of the solution{end}. Whether they pass a threshold there, the ablations tell."
    )
