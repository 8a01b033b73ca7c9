"""The thresholds of both rulers."""

import numpy as np

from ...measure.rulers import RULERS
from ...studies._published import published
from ...table import Table
from ...tasks import OPERATIONS, RANGES, Task
from ..data import Data
from ..draw import BLUE, LEGEND, OWN, figure, log_axis, operation_name, trace
from ..parts import Chart, Fold, Grid, Part, Side, Strong, tabs, words

ORDER = 80
TITLE = "Thresholds"
ABOUT = (
    "The mean squared test error below which a task counts as solved. primer: an exact unit with "
    "weights off by 1e-5. dmu (and loose): the DMU with a gate off by 1e-4. Crosses: the DMU "
    "paper's table, as printed."
)
COMMAND = "arithmix thresholds && arithmix report"


def parts(data: Data) -> list[Part]:
    """Pictures, and the numbers."""
    said = words(
        Strong("The paper contradicts itself: "),
        "its text prints 1e-5 for the perturbation of the gate, but its table of thresholds is "
        "that of 1e-4. Here the table counts.",
    )
    charts = [_chart(operation) for operation in OPERATIONS]
    return [said, Side(charts), Fold("The numbers", _numbers())]


def _chart(operation: str) -> Chart:
    tasks = [Task(operation, range_) for range_ in RANGES]
    printed = [published()["dmu_thresholds"][range_][operation] for range_ in RANGES]
    kinds = {
        "as printed": (
            printed,
            {"size": 14, "symbol": "x-thin", "line": {"color": "#808080", "width": 2}},
        ),
        "dmu": ([RULERS["dmu"].threshold(t) for t in tasks], {"color": OWN, "size": 9}),
        "primer": (
            [RULERS["primer"].threshold(t) for t in tasks],
            {"color": BLUE, "size": 9},
        ),
    }
    traces = [
        trace(
            "scatter",
            x=list(RANGES),
            y=values,
            name=name,
            mode="markers",
            marker=marker,
            hovertemplate=f"{name}, %{{x}}: %{{y:.3e}}<extra></extra>",
        )
        for name, (values, marker) in kinds.items()
    ]
    drawn = figure(
        traces,
        xaxis={"tickangle": 0},
        yaxis=log_axis("test error", np.array([kinds["dmu"][0], kinds["primer"][0]])),
        legend=LEGEND,
        showlegend=True,
    )
    return Chart(drawn, 290, operation_name(operation))


def _numbers() -> list[Part]:
    return tabs({operation_name(operation): [_table(operation)] for operation in OPERATIONS})


def _table(operation: str) -> Grid:
    lines = []
    for range_ in RANGES:
        task = Task(operation, range_)
        primer, own = RULERS["primer"].threshold(task), RULERS["dmu"].threshold(task)
        printed = published()["dmu_thresholds"][range_][operation]
        lines.append(
            [range_, f"{primer:.2e}", f"{own:.2e}", f"{printed:.2e}", f"{own / primer:.3g}"]
        )
    return Grid(Table("", ["range", "primer", "dmu", "dmu, printed", "dmu / primer"], lines))
