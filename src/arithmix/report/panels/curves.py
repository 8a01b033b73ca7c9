"""Error curves of chosen members."""

import numpy as np

from ...measure.rulers import RULERS
from ...studies._rows import Judged
from ...tasks import RANGES, Task
from ..data import Cells, Data, operations_of, units_of
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

ORDER = 60
TITLE = "Error curves"
ABOUT = (
    "Test error over the steps of training. Solid: each unit's middle member, by its error at the "
    "judged row; dotted: its worst. Below the dashed line a member is solved. Click a name to hide "
    "it, twice to see it alone."
)
COMMAND = "arithmix run nalm && arithmix report"
POINTS = 60
LIMITS = (1e-14, 1e14)


def parts(data: Data) -> list[Part]:
    """A picture per operation and range."""
    cells = data.cells("primer") or data.cells("dmu")
    found: dict[str, list[Part]] = {}
    for operation in operations_of(cells):
        charts = {
            range_: [_chart(cells, operation, range_)]
            for range_ in RANGES
            if any(key[1:] == (operation, range_) for key in cells)
        }
        found[operation_name(operation)] = [Tabs(charts)]
    return tabs(found)


def _chart(cells: Cells, operation: str, range_: str) -> Chart:
    units = [unit for unit in units_of(cells, operation) if (unit, operation, range_) in cells]
    styles, traces, values = line_style(units), [], []
    for unit in units:
        cell = sorted(cells[unit, operation, range_], key=_error)
        worst, middle = cell[-1], cell[len(cell) // 2]
        for member, dash, kind in ((worst, "dot", "worst"), (middle, "solid", "middle")):
            step, test = _thin(member)
            values.append(test)
            traces.append(
                trace(
                    "scatter",
                    **step,
                    y=test,
                    name=plain(unit),
                    legendgroup=plain(unit),
                    showlegend=kind == "middle",
                    mode="lines",
                    line={
                        "color": styles[unit]["color"],
                        "dash": dash,
                        "width": 2.6 if unit == "dmu" else 1.5,
                    },
                    hovertemplate=f"{kind}, seed {member.row.asked.seed}: %{{y:.2e}} at %{{x}}",
                )
            )
    limit = RULERS["primer"].threshold(Task(operation, range_))
    said = {"x": 1, "xref": "paper", "xanchor": "right", "y": np.log10(limit), "yanchor": "bottom"}
    drawn = figure(
        traces,
        xaxis={"title": {"text": "step"}, "rangemode": "tozero"},
        yaxis=log_axis("test error", np.concatenate(values)),
        legend=LEGEND,
        showlegend=True,
        shapes=[level(limit, "y")],
        annotations=[{"text": "primer's threshold", "showarrow": False, **said}],
    )
    return Chart(drawn, 400 + 8 * len(units), f"{SIGNS[operation]} on {span(range_)}")


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
