"""Which trainings fail, how they end, and where they are stuck."""

from collections.abc import Sequence

import numpy as np

from ...studies._rows import Judged
from ...table import Table
from ...tasks import RANGES
from ..cells import Cells, excess, gate_logit, members, operations_of, units_of
from ..data import Data
from ..draw import (
    BLUE,
    LEGEND,
    OWN,
    SIGNS,
    figure,
    heat,
    heat_height,
    operation_name,
    plain,
    span,
    trace,
)
from ..parts import Chart, Fold, Grid, Part, Tabs, tabs, words
from ._words import ended

ORDER = 65
TITLE = "Failures"
ABOUT = (
    "How far failed trainings end from solved: the power of ten by which their median test error "
    "is above primer's threshold; 0.3 is a factor of two. Empty cells have no failure. Hover or "
    "tap for how they ended and their final parameters."
)
COMMAND = "arithmix run nalm && arithmix run unified && arithmix report"
ELEMENTS = 8


def parts(data: Data) -> list[Part]:
    """A heatmap, a list, and the parameters of failed members beside those of solved ones."""
    ruler = "primer" if data.cells("primer") else "dmu"
    cells = data.cells(ruler)
    if not cells:
        return []
    failed = {key: bad for key, cell in cells.items() if (bad := _failed(cell))}
    if not failed:
        return [words("No training failed.")]
    found: dict[str, list[Part]] = {}
    for operation in operations_of(failed):
        units = units_of(failed, operation)
        units = [unit for unit in units_of(cells, operation) if unit in units]
        stuck = {unit: [_stuck(cells, unit, operation)] for unit in units}
        found[operation_name(operation)] = [
            *_own(failed, cells, operation, ruler),
            _chart(failed, cells, operation, ruler),
            Fold("Where they are stuck: final parameters", [Tabs(stuck)]),
            Fold("The list", [_table(failed, cells, operation, ruler)]),
        ]
    return tabs(found)


def _own(failed: Cells, cells: Cells, operation: str, ruler: str) -> list[Part]:
    """The failures of the DMU, in words."""
    found: list[Part] = []
    for range_ in RANGES:
        bad = failed.get(("dmu", operation, range_))
        if bad:
            times = excess(bad, ruler)
            found.append(
                words(
                    f"The DMU fails {len(bad)} of {len(cells['dmu', operation, range_])} times on ",
                    f"{span(range_)}: its median error ends at {times:.2g} times the threshold, ",
                    f"with {'; '.join(_at(bad)) or 'no parameters recorded'}.",
                )
            )
    return found


def _failed(cell: Sequence[Judged]) -> list[Judged]:
    return [one for one in cell if not one.verdict.solved]


def _flat(one: Judged) -> dict[str, float]:
    """The first elements of a member's parameters, each with a name.

    Only the difference of the DMU's two logits counts, so that is what is given of them.
    """
    found = {}
    logit = gate_logit(one.row) if one.row.asked.unit.partition("[")[0] == "dmu" else None
    for name, values in one.row.parameters.items():
        if logit is not None and name == "gate":
            found["gate's logit"] = logit
            continue
        flat = np.ravel(np.array(values, dtype=float))
        for i, value in enumerate(flat):
            found[f"{name}[{i}]" if flat.size > 1 else name] = float(value)
    return dict(list(found.items())[:ELEMENTS])


def _elements(those: Sequence[Judged]) -> dict[str, np.ndarray]:
    """The finite values of each element over members."""
    flats = [_flat(one) for one in those]
    names = list(dict.fromkeys(name for flat in flats for name in flat))
    values = {name: np.array([flat[name] for flat in flats if name in flat]) for name in names}
    finite = {name: one[np.isfinite(one)] for name, one in values.items()}
    return {name: one for name, one in finite.items() if one.size}


def _at(those: Sequence[Judged]) -> list[str]:
    """Each element's median, with its 10th and 90th percent where they differ."""
    found = []
    for name, values in _elements(those).items():
        low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
        same = high - low < 0.005 * max(1, abs(middle))
        spread = "" if same else f" ({low:.3g} to {high:.3g})"
        found.append(f"{name} {middle:.3g}{spread}")
    return found


def _chart(failed: Cells, cells: Cells, operation: str, ruler: str) -> Chart:
    units = [u for u in units_of(cells, operation) if any(k[:2] == (u, operation) for k in failed)]
    z = np.full((len(units), len(RANGES)), np.nan)
    text = [[""] * len(RANGES) for _ in units]
    hover = [[""] * len(RANGES) for _ in units]
    for i, unit in enumerate(units):
        for j, range_ in enumerate(RANGES):
            bad = failed.get((unit, operation, range_))
            if bad:
                times = excess(bad, ruler)
                z[i, j] = np.clip(np.log10(times), 0, 20)
                text[i][j] = f"{z[i, j]:.1f}" if np.isfinite(times) else "∞"
                lines = [
                    f"<b>{plain(unit)}</b>",
                    span(range_),
                    f"{len(bad)} of {len(cells[unit, operation, range_])} failed: "
                    f"{plain(ended(one.row for one in bad))}",
                    f"median error {times:.3g} times the threshold",
                    *map(plain, _at(bad)),
                ]
                hover[i][j] = "<br>".join(lines)
    drawn = heat(z, text, hover, units, zmin=0, zmax=10)
    return Chart(drawn, heat_height(units), f"log10 of error over {ruler}'s threshold")


def _stuck(cells: Cells, unit: str, operation: str) -> Chart:
    all_ = members(cells, unit, operation)
    kinds = {
        "failed": (OWN, _elements(_failed(all_))),
        "solved": (BLUE, _elements([one for one in all_ if one.verdict.solved])),
    }
    names = list(dict.fromkeys(name for _, elements in kinds.values() for name in elements))
    traces = [
        trace(
            "box",
            x=np.repeat([names.index(n) for n in elements], [v.size for v in elements.values()]),
            y=np.concatenate(list(elements.values())),
            name=kind,
            line={"color": colour, "width": 1.4},
            fillcolor="rgba(0,0,0,0)",
            marker={"size": 3, "opacity": 0.35},
            boxpoints="all",
            jitter=0.6,
            pointpos=0,
            hoverinfo="y+name",
        )
        for kind, (colour, elements) in kinds.items()
        if elements
    ]
    drawn = figure(
        traces,
        boxmode="group",
        xaxis={"tickvals": list(range(len(names))), "ticktext": list(map(plain, names))},
        yaxis={"title": {"text": "value"}},
        legend=LEGEND,
        showlegend=True,
    )
    return Chart(drawn, 340, f"{unit}, {SIGNS[operation]}, all ranges: final parameters")


def _table(failed: Cells, cells: Cells, operation: str, ruler: str) -> Grid:
    lines = [
        [
            f"{unit} {range_}",
            f"{len(bad)}/{len(cells[unit, operation, range_])}",
            ended(one.row for one in bad),
            f"{excess(bad, ruler):.2g}",
            "; ".join(_at(bad)),
        ]
        for unit in units_of(cells, operation)
        for range_ in RANGES
        if (bad := failed.get((unit, operation, range_)))
    ]
    header = ["unit and range", "failed", "how they ended", "error / threshold", "parameters"]
    note = "parameters: the median of failed members (10th to 90th percent), the first eight"
    return Grid(Table("", header, lines, note))
