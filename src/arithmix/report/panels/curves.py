"""Error curves of chosen members."""

from collections.abc import Mapping

import numpy as np

from ...measure.rulers import RULERS, Ruler
from ...studies._rows import Judged
from ...tasks import RANGES, Task
from ..cells import Cells, operations_of, units_of
from ..data import Data
from ..draw import (
    LEGEND,
    SIGNS,
    Spec,
    figure,
    level,
    line_style,
    log_axis,
    operation_name,
    plain,
    span,
    trace,
)
from ..parts import Chart, Part, Tabs, tabs
from ._words import ours

ORDER = 60
TITLE = "Error curves"
ABOUT = (
    "Test error over the steps of training. Members are ranked by their error at the judged step, "
    "the dot, under primer that of best validation error. Solid: each unit's median member; "
    "dotted: its worst at the judged step, which may be better elsewhere. A member is solved if "
    "its dot is below the dashed line. Click or tap a name to see or hide it."
)
COMMAND = "arithmix run nalm && arithmix run unified && arithmix report"
POINTS = 60
FIRST = 5
"""Units that are seen before any name is chosen, and this package's own."""
LIMITS = (1e-14, 1e14)


def parts(data: Data) -> list[Part]:
    """A picture per operation and range."""
    ruler = "primer" if data.cells("primer") else "dmu"
    cells = data.cells(ruler)
    styles = line_style(data.units)
    found: dict[str, list[Part]] = {}
    for operation in operations_of(cells):
        charts = {
            range_: [_chart(cells, RULERS[ruler], Task(operation, range_), styles)]
            for range_ in RANGES
            if any(key[1:] == (operation, range_) for key in cells)
        }
        found[operation_name(operation)] = [Tabs(charts)]
    return tabs(found)


def _chart(cells: Cells, ruler: Ruler, task: Task, styles: Mapping[str, Spec]) -> Chart:
    operation, range_ = task.operation, task.range
    units = [unit for unit in units_of(cells, operation) if (unit, operation, range_) in cells]
    traces, values = [], []
    for i, unit in enumerate(units):
        cell = sorted(cells[unit, operation, range_], key=_error)
        chosen = {"worst at its dot": cell[-1], "median": cell[len(cell) // 2]}
        colour = styles[unit]["color"]
        common: Spec = {"name": plain(unit), "legendgroup": plain(unit)}
        common["visible"] = True if i < FIRST or ours(unit) else "legendonly"
        for kind, member in chosen.items():
            step, test = _thin(member)
            values.append(test)
            line = {"color": colour, "dash": "solid" if kind == "median" else "dot"}
            traces.append(
                trace(
                    "scatter",
                    **step,
                    y=test,
                    showlegend=kind == "median",
                    mode="lines",
                    line=line | {"width": 2.6 if unit == "dmu" else 1.5},
                    hovertemplate=f"{kind}, seed {member.row.asked.seed}: %{{y:.2e}} at %{{x}}",
                    **common,
                )
            )
        dots = [one for one in chosen.values() if np.isfinite(one.verdict.error)]
        traces.append(
            trace(
                "scatter",
                x=[one.verdict.judged for one in dots],
                y=[float(np.clip(one.verdict.error, *LIMITS)) for one in dots],
                mode="markers",
                marker={"color": colour, "size": 8},
                showlegend=False,
                hovertemplate="judged at %{x}: %{y:.2e}",
                **common,
            )
        )
    limit = ruler.threshold(task)
    drawn = figure(
        traces,
        xaxis={"title": {"text": "step"}, "rangemode": "tozero"},
        yaxis=log_axis("test error", np.concatenate(values)),
        legend=LEGEND,
        showlegend=True,
        shapes=[level(limit, "y")],
    )
    title = f"{SIGNS[operation]} on {span(range_)}; dashed, {ruler.name}'s threshold of {limit:.1e}"
    return Chart(drawn, 400 + 8 * len(units), title)


def _error(member: Judged) -> float:
    return member.verdict.error if np.isfinite(member.verdict.error) else np.inf


def _thin(member: Judged) -> tuple[Spec, np.ndarray]:
    """The known points of a curve, few enough to draw; even steps as a start and a distance."""
    curve = member.row.curve
    known = np.flatnonzero(np.isfinite(curve.test))
    if known.size > POINTS:
        known = known[np.linspace(0, known.size - 1, POINTS).round().astype(int)]
    step, test = curve.step[known], np.clip(curve.test[known], *LIMITS)
    apart = np.unique(np.diff(step))
    return {"x0": step[0], "dx": apart[0]} if apart.size == 1 else {"x": step}, test
