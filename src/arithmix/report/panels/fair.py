"""Every unit under one ruler."""

from collections.abc import Mapping

import numpy as np

from ...studies._published import published
from ...table import Table
from ...tasks import OPERATIONS
from ..cells import Cells, members, operations_of, pooled, rate, split, units_of
from ..data import Data
from ..draw import (
    LEGEND,
    SIGNS,
    Spec,
    figure,
    line_style,
    operation_name,
    plain,
    trace,
    unit_axis,
)
from ..parts import Chart, Grid, Part, Side, Strong, Tabs, tone, words

ORDER = 30
TITLE = "The fair table"
ABOUT = (
    "Success over all ranges, every unit under the same ruler: primer (weights off by 1e-5) or "
    "loose (the DMU paper's thresholds, a gate off by 1e-4, at the same rows), with Wilson's 95% "
    "intervals, which take all trainings as independent. The paper compares the DMU under its own "
    "rule, dmu (those thresholds, 100 steps in a row), with the others under primer."
)
COMMAND = "arithmix run nalm && arithmix run unified && arithmix report"
RULES = {"primer": {"symbol": "circle", "size": 9}, "loose": {"symbol": "triangle-up"}}


def parts(data: Data) -> list[Part]:
    """The rates as points with intervals, and as a table."""
    rules = {name: data.cells(name) for name in RULES}
    if not rules["primer"]:
        return []
    styles = line_style(data.units)
    charts = [_chart(rules, operation, styles) for operation in operations_of(rules["primer"])]
    tables = {f"under {name}": [_table(cells)] for name, cells in rules.items()}
    return [
        Tabs({**tables, "as the paper compares": [_printed()]}),
        words(
            Strong("Both rulers in one picture"),
            ", whichever table is chosen above. A mark without a bar: the unit solves some ranges "
            "always and the others never, so there is no chance for an interval to measure.",
        ),
        Side(charts),
    ]


def _chart(rules: dict[str, Cells], operation: str, styles: Mapping[str, Spec]) -> Chart:
    units = units_of(rules["primer"], operation)
    traces = []
    for shift, (name, marker) in zip((-0.14, 0.14), RULES.items(), strict=True):
        rates = [rate(members(rules[name], unit, operation)) for unit in units]
        percents = np.array([one.percent for one in rates])
        low, high = np.array([one.interval for one in rates]).T
        apart = np.array([split(rules[name], unit, operation) for unit in units])
        low, high = np.where(apart, percents, low), np.where(apart, percents, high)
        hover = [
            f"<b>{plain(unit)}</b><br>{name}: {one.solved} of {one.trained}<br>"
            f"{pooled(rules[name], unit, operation)}"
            for unit, one in zip(units, rates, strict=True)
        ]
        errors = {"array": high - percents, "arrayminus": percents - low, "color": "#8a94a0"}
        traces.append(
            trace(
                "scatter",
                x=percents,
                y=np.arange(len(units)) + shift,
                mode="markers",
                name=name,
                marker={"size": 8, "color": [styles[u]["color"] for u in units], **marker},
                error_x={"type": "data", "symmetric": False, "width": 3, **errors},
                showlegend=True,
                customdata=hover,
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    drawn = figure(
        traces,
        xaxis={"range": [-3, 103], "title": {"text": "percent solved"}, "zeroline": False},
        yaxis=unit_axis(units),
        legend=LEGEND,
    )
    return Chart(drawn, 110 + 30 * len(units), operation_name(operation))


def _table(cells: Cells) -> Grid:
    lines, tones = [], {}
    for i, unit in enumerate(_order(cells)):
        line = [unit]
        for operation in OPERATIONS:
            one = rate(members(cells, unit, operation))
            if one.trained:
                tones[i, len(line)] = tone(one.percent)
            line.append(pooled(cells, unit, operation))
        lines.append(line)
    note = (
        "percent solved [95% interval, or how many ranges are always solved if the others never "
        "are]; empty: the unit was not trained on it"
    )
    return Grid(Table("", ["unit", *SIGNS.values()], lines, note), tones)


def _printed() -> Grid:
    paper = published()["success_percent"]
    units = list(dict.fromkeys(unit for one in paper.values() for unit in one))
    lines = []
    for unit in units:
        means = [
            np.mean(list(paper[o][unit].values())) if unit in paper[o] else None for o in paper
        ]
        lines.append(
            [
                unit,
                *(f"{mean:.1f}".removesuffix(".0") if mean is not None else "" for mean in means),
            ]
        )
    note = (
        "percent solved as the DMU paper prints it: the DMU under its own rule, others under primer"
    )
    return Grid(Table("", ["unit", *(SIGNS[o] for o in paper)], lines, note))


def _order(cells: Cells) -> list[str]:
    """The DMU, then units by how many operations they were trained on, then by success."""
    found = units_of(cells)
    count = {unit: len({o for u, o, _ in cells if u == unit}) for unit in found}
    return sorted(found, key=lambda unit: (unit != "dmu", -count[unit]))
