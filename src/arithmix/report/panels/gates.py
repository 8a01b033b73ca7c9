"""How the gate of the DMU decides."""

import numpy as np

from ...studies._rows import Judged
from ...table import Table
from ...tasks import RANGES
from ..cells import Cells, gate_logit, operations_of
from ..data import Data
from ..draw import LEGEND, OWN, PALETTE, figure, interval, log_axis, operation_name, trace
from ..parts import Chart, Fold, Grid, Part, Tabs, tabs

ORDER = 70
TITLE = "The DMU's gate"
ABOUT = (
    "The gate over training, as the weight of the linear domain (at 1 the unit adds or subtracts, "
    "at 0 it multiplies or divides) and as its distance from the nearer of these two: the median "
    "over the members of each range, with a band from the 10th to the 90th percent of them, hardly "
    "seen where they coincide. Every gate starts at 0.5. Rows keep the distance; its side is the "
    "one on which a member ends."
)
COMMAND = "arithmix run nalm --units dmu && arithmix report"
FLOOR = 1e-9


def parts(data: Data) -> list[Part]:
    """A picture and a table of where the gates end, per operation."""
    for ruler in ("primer", "dmu"):
        own = {key: cell for key, cell in data.cells(ruler).items() if key[0] == "dmu"}
        if own:
            return tabs({operation_name(o): _operation(own, o) for o in operations_of(own)})
    return []


def _operation(cells: Cells, operation: str) -> list[Part]:
    there = {r: cells["dmu", operation, r] for r in RANGES if ("dmu", operation, r) in cells}
    views: dict[str, list[Part]] = {
        "weight": [_chart(there, weight=True)],
        "distance": [_chart(there, weight=False)],
    }
    return [Tabs(views), Fold("Where the gates end", [_ends(there)])]


def _chart(there: dict[str, list[Judged]], *, weight: bool) -> Chart:
    traces, values = [], []
    for colour, (range_, cell) in zip([OWN, *PALETTE], there.items(), strict=False):
        step, low, middle, high = _bands(cell, weight)
        if not step.size:
            continue
        values += [low, high]
        band = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
        own = {"legendgroup": range_, "x": step}
        traces += [
            trace("scatter", y=low, **band, **own),
            trace("scatter", y=high, fill="tonexty", fillcolor=_faint(colour), **band, **own),
            trace(
                "scatter",
                y=middle,
                name=range_,
                mode="lines",
                line={"color": colour, "width": 2},
                hovertemplate=f"%{{y:{'.4f' if weight else '.2e'}}} at step %{{x}}",
                **own,
            ),
        ]
    if weight:
        height = {"title": {"text": "weight of the linear domain"}, "range": [-0.02, 1.02]}
    else:
        height = log_axis("distance from discrete", np.concatenate([*values, []]))
    drawn = figure(
        traces,
        xaxis={"title": {"text": "step"}, "rangemode": "tozero"},
        yaxis=height,
        legend=LEGEND,
        showlegend=True,
    )
    return Chart(drawn, 400)


def _bands(
    cell: list[Judged], weight: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Quantiles over the members, at the steps that most of them share."""
    curves = [one.row.curve for one in cell]
    steps, seen = np.unique(np.concatenate([curve.step for curve in curves]), return_counts=True)
    steps = steps[seen >= len(curves) / 2]
    steps = steps[:: max(1, steps.size // 100)]
    values = np.full((len(curves), steps.size), np.nan)
    for i, curve in enumerate(curves):
        at = np.flatnonzero(np.isin(curve.step, steps))
        values[i, np.searchsorted(steps, curve.step[at])] = curve.sparsity[at]
    values[~np.isfinite(values)] = np.nan
    if weight:
        linear = np.array([(gate_logit(one.row) or 0) > 0 for one in cell])
        values[linear] = 1 - values[linear]
    known = ~np.isnan(values).all(axis=0)
    bands = [np.nanquantile(values[:, known], q, axis=0) for q in (0.1, 0.5, 0.9)]
    low, middle, high = (np.maximum(band, FLOOR) for band in bands)
    return steps[known], low, middle, high


def _ends(there: dict[str, list[Judged]]) -> Grid:
    lines = []
    for range_, cell in there.items():
        logits = [gate_logit(one.row) for one in cell]
        known = np.array([one for one in logits if one is not None])
        last = np.array([one.row.curve.sparsity[-1] for one in cell])
        last = last[np.isfinite(last)]
        linear = f"{(known > 0).sum()} of {known.size}" if known.size else ""
        middle = f"{np.median(known):.3f}" if known.size else ""
        untempered = f"{np.median(1 / (1 + np.exp(np.abs(known)))):.3f}" if known.size else ""
        lines.append(
            [
                f"{range_} {interval(RANGES[range_].train)}",
                linear,
                middle,
                untempered,
                f"{np.median(last):.1e}" if last.size else "",
            ]
        )
    header = ["range", "end linear", "logit", "sparsity*", "distance"]
    note = (
        "Medians over members at the end of training. logit: linear less logarithmic, before the "
        "temperature. distance: that of the gate in use, whose logits are divided by a temperature "
        "and so pushed towards 0 or 1. sparsity*: the same distance without that temperature, as "
        "the paper prints it; it is always larger."
    )
    return Grid(Table("", header, lines, note))


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.15)"
