"""When trainings are solved."""

from collections.abc import Mapping

import numpy as np

from ...studies._published import published
from ..cells import Cells, members, operations_of, units_of
from ..data import Data
from ..draw import (
    LEGEND,
    Spec,
    box_height,
    boxes,
    figure,
    level,
    line_style,
    operation_name,
    plain,
    step_axis,
    trace,
)
from ..parts import Chart, Part, Side, tabs

ORDER = 40
TITLE = "Convergence"
ABOUT = (
    "First the share of all trainings, failed ones included, that are solved by a step; then the "
    "steps of the solved ones, where a box spans the middle half and each point is a training. "
    "Under primer, which looks every 1000 steps, the step is the first below the threshold, though "
    "the error may rise again; under dmu it is the last of the first 100 in a row below it."
)
COMMAND = "arithmix run nalm && arithmix run unified && arithmix run dmu && arithmix report"


def parts(data: Data) -> list[Part]:
    """For each operation, under primer and, where there are rows, under the paper's own rule."""
    rules = {name: data.cells(name) for name in ("primer", "dmu")}
    styles = line_style(data.units)
    every = {key: those for cells in rules.values() for key, those in cells.items()}
    found: dict[str, list[Part]] = {}
    for operation in operations_of(every):
        charts: list[Part] = []
        for ruler, cells in rules.items():
            if any(o == operation for _, o, _ in cells):
                charts.append(_shares(cells, operation, ruler, styles))
                charts.append(_spread(cells, operation, ruler, styles))
        found[operation_name(operation)] = [Side(charts)]
    return tabs(found)


def _steps(cells: Cells, unit: str, operation: str) -> np.ndarray:
    steps = [one.verdict.step for one in members(cells, unit, operation) if one.verdict.solved]
    return np.maximum(np.array(steps, dtype=np.int32), 1)


def _shares(cells: Cells, operation: str, ruler: str, styles: Mapping[str, Spec]) -> Chart:
    units = units_of(cells, operation)
    traces, seen = [], []
    for unit in units:
        all_ = members(cells, unit, operation)
        end = max(int(one.row.steps) for one in all_)
        at, solved = np.unique(_steps(cells, unit, operation), return_counts=True)
        share = 100 * np.cumsum(solved) / len(all_)
        first, last = (at[0], share[-1]) if at.size else (end, 0)
        # From nothing, up its stairs, and level to the end of training.
        x = np.concatenate([[first], at, [max(end, first)]]).astype(np.int32)
        y = np.concatenate([[0], share, [last]]).astype(np.float32)
        seen.append(x)
        traces.append(
            trace(
                "scatter",
                x=x,
                y=y,
                name=plain(unit),
                mode="lines",
                line={"shape": "hv", "width": 3 if unit == "dmu" else 1.6, **styles[unit]},
                hovertemplate="%{y:.0f}% by step %{x}",
            )
        )
    y_axis = {"title": {"text": "percent solved"}, "range": [-3, 104]}
    x_axis = step_axis(np.concatenate(seen))
    drawn = figure(traces, xaxis=x_axis, yaxis=y_axis, legend=LEGEND, showlegend=True)
    return Chart(drawn, 330 + 8 * len(units), f"{ruler}: solved by a step")


def _spread(cells: Cells, operation: str, ruler: str, styles: Mapping[str, Spec]) -> Chart:
    steps = {u: _steps(cells, u, operation) for u in units_of(cells, operation)}
    there = {unit: those for unit, those in steps.items() if those.size}
    axis = step_axis(np.concatenate([*there.values(), []]))
    drawn = boxes(there, axis, "steps", styles)
    title = f"{ruler}: steps of the solved"
    if ruler == "dmu" and "dmu" in there:
        printed = published()["dmu_statistics"][operation]["mean_convergence_step"]
        mean = there["dmu"].mean()
        drawn["layout"]["shapes"] = [level(printed, "x", "dot"), level(mean, "x")]
        title += f"; means: the paper's {printed} (dotted), ours {mean:.0f} (dashed)"
    return Chart(drawn, box_height(there), title)
