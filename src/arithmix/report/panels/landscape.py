"""The loss landscapes of the DMU, with the paths of trainings on them."""

from collections import Counter

import numpy as np

from ...table import Table
from ...tasks import OPERATIONS, RANGES
from ..data import Data
from ..draw import LEGEND, OWN, SIGNS, Spec, figure, log_axis, operation_name, plain, span, trace
from ..parts import Chart, Fold, Grid, Part, Tabs, tabs, words

ORDER = 90
TITLE = "Loss landscapes"
ABOUT = (
    "The training loss over O[1], the second entry of the selector, and g, the weight of the "
    "linear domain: at g = 1 the unit adds or subtracts, at 0 it multiplies or divides. With O "
    "frozen a training moves along one line of it; with O learnable it takes a path, drawn here "
    "by its shadow on the plane O[0] = 1."
)
COMMAND = "arithmix landscape --all && arithmix report"
SIDE, SURFACE_SIDE, PATHS, POINTS = 51, 27, 8, 40
DEPTH = 10
"""Decades below the largest loss that are told apart."""
DEPTHS = [[0, "#0b2545"], [0.5, "#2b6cb0"], [0.8, "#9cc3e8"], [1, "#eef3f8"]]
SYMBOLS = {
    "minimum": "circle",
    "saddle": "x",
    "maximum": "triangle-up",
    "valley": "diamond-wide",
    "plateau": "square",
}
ENDED = {True: ("solved", "#12805c"), False: ("failed", "#e8590c")}

Arrays = dict[str, np.ndarray]


def parts(data: Data) -> list[Part]:
    """A map, a surface and a cut for each operation and range."""
    kept = {tuple(name.split("/")[1:]): one for name, one in data.kept.items()}
    found: dict[str, list[Part]] = {}
    for operation in OPERATIONS:
        cells = {r: kept[operation, r] for r in RANGES if (operation, r) in kept}
        shown = {r: _cell(one, operation, r) for r, one in cells.items()}
        found[operation_name(operation)] = tabs(shown)
    whole = tabs(found)
    return [*whole, Fold("All cells in one table", [_table(kept)])] if whole else []


def _cell(one: Arrays, operation: str, range_: str) -> list[Part]:
    about = f"{SIGNS[operation]} on {span(range_)}"
    views: dict[str, list[Part]] = {
        "map": [Chart(_map(one), 520, f"{about}: log10 of the loss")],
        "surface": [Chart(_surface(one), 520, f"{about}: log10 of the loss")],
        "O frozen": [Chart(_cut(one), 340, f"{about}: the loss along the gate"), _frozen(one)],
    }
    return [Tabs(views), _paths_said(one)]


def _log(loss: np.ndarray, top: float) -> np.ndarray:
    return np.log10(np.clip(loss, top * 10.0**-DEPTH, top))


def _few(size: int, most: int) -> np.ndarray:
    """At most so many indices, both ends among them."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(int))


def _grid(one: Arrays, side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """O[1], g and log10 of the loss, on at most `side` x `side` points."""
    rows, columns = (
        np.unique(np.linspace(0, n - 1, min(n, side)).round().astype(int))
        for n in one["loss"].shape
    )
    z = _log(one["loss"][np.ix_(rows, columns)], float(np.nanmax(one["loss"])))
    return one["o1"][columns], one["g"][rows], z


def _map(one: Arrays) -> Spec:
    x, y, z = _grid(one, SIDE)
    ground = trace(
        "contour",
        x=x,
        y=y,
        z=z,
        colorscale=DEPTHS,
        ncontours=24,
        line={"width": 0.4},
        colorbar={"thickness": 10, "len": 0.8, "outlinewidth": 0},
        hovertemplate="O[1] %{x:.2f}, g %{y:.2f}<br>log10 loss %{z:.2f}<extra></extra>",
    )
    limits = {"xaxis": {"title": {"text": "O[1]"}, "range": [x[0], x[-1]]}}
    limits["yaxis"] = {"title": {"text": "g, weight of the linear domain"}, "range": [-0.03, 1.03]}
    marks = [*_paths(one), *_points(one)]
    return figure([ground, *marks], legend=LEGEND, showlegend=True, **limits)


def _paths(one: Arrays) -> list[Spec]:
    """A few solved and a few failed trainings, with where they end."""
    traces = []
    steps = _few(one["path_step"].size, POINTS)
    for solved, (name, colour) in ENDED.items():
        chosen = np.flatnonzero(one["path_solved"] == solved)
        chosen = chosen[_few(chosen.size, PATHS)] if chosen.size else chosen
        gap = np.full((chosen.size, 1, 3), np.nan)
        lines = np.concatenate([one["path"][np.ix_(chosen, steps)], gap], axis=1).reshape(-1, 3)
        ends = one["path"][chosen, -1]
        said = [
            f"{name}, from {plain(str(one['path_start'][i]))}, seed {one['path_seed'][i]}"
            for i in chosen
        ]
        common = {"legendgroup": name, "line": {"color": colour, "width": 1.6}}
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
                x=ends[:, 1],
                y=ends[:, 2],
                mode="markers",
                marker={"size": 7, "color": colour},
                customdata=said,
                hovertemplate="%{customdata}<br>ends at O[1] %{x:.3f}, g %{y:.3f}<extra></extra>",
                showlegend=False,
                **common,
            ),
        ]
    return traces


def _points(one: Arrays) -> list[Spec]:
    traces = []
    for kind, symbol in SYMBOLS.items():
        those = np.flatnonzero(one["plane_kind"] == kind)
        if those.size:
            traces.append(
                trace(
                    "scatter",
                    x=one["plane_point"][those, 0],
                    y=one["plane_point"][those, 1],
                    customdata=[f"{loss:.2e}" for loss in one["plane_loss"][those]],
                    name=kind,
                    mode="markers",
                    marker={"symbol": symbol, "size": 10, "color": "#ffffff"}
                    | {"line": {"width": 1.5, "color": "#202020"}},
                    hovertemplate=f"{kind} at O[1] %{{x:.3f}}, g %{{y:.3f}}<br>"
                    "loss %{customdata}<extra></extra>",
                )
            )
    return traces


def _surface(one: Arrays) -> Spec:
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
    scene["camera"] = {"eye": {"x": 1.5, "y": -1.5, "z": 0.9}}
    return figure([surface], scene=scene)


def _cut(one: Arrays) -> Spec:
    thin = slice(None, None, max(1, one["frozen_g"].size // 200))
    g, loss = one["frozen_g"][thin], one["frozen_loss"][thin]
    floor = float(loss.max()) * 10.0**-DEPTH
    line = trace(
        "scatter",
        x=g,
        y=np.maximum(loss, floor),
        mode="lines",
        line={"color": OWN, "width": 2},
        hovertemplate="g %{x:.3f}: %{y:.2e}<extra></extra>",
    )
    low = np.interp(one["frozen_minima"], one["frozen_g"], one["frozen_loss"])
    minima = trace(
        "scatter",
        x=one["frozen_minima"],
        y=np.maximum(low, floor),
        mode="markers",
        marker={"color": OWN, "size": 9},
        hovertemplate="minimum at g %{x:.3f}<extra></extra>",
    )
    axes = {"xaxis": {"title": {"text": "g"}}, "yaxis": log_axis("loss", np.maximum(loss, floor))}
    return figure([line, minima], showlegend=False, **axes)


def _frozen(one: Arrays) -> Part:
    pattern = ", ".join(f"{value:g}" for value in one["pattern"])
    count = one["frozen_minima"].size
    return words(
        f"With O frozen at [{pattern}] the loss along the gate has {count} local "
        f"{'minimum' if count == 1 else 'minima'}; it is {_not(one['frozen_convex_g'])}convex in g "
        f"and {_not(one['frozen_convex_logit'])}convex in the gate's logit."
    )


def _not(convex: np.ndarray) -> str:
    return "" if bool(convex) else "not "


def _paths_said(one: Arrays) -> Part:
    solved = one["path_solved"]
    if not solved.size:
        return words("No training with a learnable O was noted here.")
    near = int((one["path_distance"][~solved] <= 0.05).sum())
    failed = int((~solved).sum())
    end = f"; {near} of {failed} failures end within 0.05 of a listed point" if failed else ""
    return words(f"With O learnable {solved.sum()} of {solved.size} trainings are solved{end}.")


def _table(kept: dict[tuple[str, ...], Arrays]) -> Grid:
    lines = []
    for operation in OPERATIONS:
        for range_ in RANGES:
            one = kept.get((operation, range_))
            if one is None:
                continue
            kinds = Counter(map(str, one["point_kind"]))
            said = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
            failed = ~one["path_solved"]
            near = int((one["path_distance"][failed] <= 0.05).sum())
            lines.append(
                [
                    f"{SIGNS[operation]} {range_}",
                    str(one["frozen_minima"].size),
                    "yes" if bool(one["frozen_convex_g"]) else "no",
                    "yes" if bool(one["frozen_convex_logit"]) else "no",
                    f"{int((~failed).sum())}/{failed.size}",
                    f"{near}/{int(failed.sum())}",
                    said,
                ]
            )
    header = ["cell", "minima in g", "convex in g", "convex in logit", "solved, O learnable"]
    return Grid(Table("", [*header, "failures at a point", "stationary points"], lines))
