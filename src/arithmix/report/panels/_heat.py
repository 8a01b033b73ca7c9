"""Success as units x ranges, for the panels that show it."""

from collections.abc import Callable, Sequence

import numpy as np

from ...tasks import RANGES
from ..cells import SEEDS, Cells, rate, units_of
from ..draw import heat, heat_height, plain, span
from ..parts import Chart


def success_chart(
    cells: Cells,
    operation: str,
    title: str,
    order: Sequence[str] = (),
    name: Callable[[str], str] = str,
) -> Chart | None:
    """A heatmap with intervals on hover, units in `order` if given; None without members.

    A cell with fewer trainings than the benchmark's says how many it has.
    """
    units = units_of(cells, operation)
    if order:
        units.sort(key=order.index)
    if not units:
        return None
    z = np.full((len(units), len(RANGES)), np.nan)
    text = [[""] * len(RANGES) for _ in units]
    hover = [[""] * len(RANGES) for _ in units]
    for i, unit in enumerate(units):
        for j, range_ in enumerate(RANGES):
            cell = cells.get((unit, operation, range_))
            if cell:
                one = rate(cell)
                low, high = one.interval
                z[i, j], text[i][j] = one.percent, f"{one.percent:.0f}"
                if one.trained < SEEDS:
                    text[i][j] += f"<br>n={one.trained}"
                hover[i][j] = (
                    f"<b>{plain(unit)}</b><br>{span(range_)}<br>{one.solved} of {one.trained} "
                    f"solved<br>95% interval {low:.0f} to {high:.0f}%"
                )
    return Chart(
        heat(z, text, hover, [name(unit) for unit in units], zmin=0, zmax=100),
        heat_height(units),
        title,
    )
