"""How near to discrete the solved units end."""

import numpy as np

from ..cells import members, operations_of, units_of
from ..data import Data
from ..draw import box_height, boxes, line_style, log_axis, operation_name
from ..parts import Chart, Part, Side, tabs

ORDER = 50
TITLE = "Sparsity"
ABOUT = (
    "The sparsity error of each solved training: the largest distance of a weight or gate from the "
    "nearest discrete value, at the judged row. To the left is better; values below 1e-9 are drawn "
    "at 1e-9."
)
COMMAND = "arithmix run nalm && arithmix run unified && arithmix run dmu && arithmix report"
FLOOR = 1e-9


def parts(data: Data) -> list[Part]:
    """For each operation, under primer and, where there are rows, under the paper's own rule."""
    rules = {name: data.cells(name) for name in ("primer", "dmu")}
    styles = line_style(data.units)
    every = {key: those for cells in rules.values() for key, those in cells.items()}
    found: dict[str, list[Part]] = {}
    for operation in operations_of(every):
        charts = []
        for ruler, cells in rules.items():
            values = {}
            for unit in units_of(cells, operation):
                solved = [one for one in members(cells, unit, operation) if one.verdict.solved]
                those = np.array([one.verdict.sparsity for one in solved], dtype=np.float32)
                those = those[np.isfinite(those)]
                if those.size:
                    values[unit] = np.maximum(those, FLOOR)
            if values:
                axis = log_axis("sparsity error", np.concatenate(list(values.values())))
                drawn = boxes(values, axis, "sparsity error", styles)
                charts.append(Chart(drawn, box_height(values), f"under {ruler}"))
        found[operation_name(operation)] = [Side(charts)] if charts else []
    return tabs(found)
