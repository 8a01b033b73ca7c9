"""Tables and figures for a paper: LaTeX, and PDF, SVG or PNG by matplotlib. No torch."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib import __version_info__ as version_info
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..landscape import picture
from ..studies import experiments
from ..studies._published import published
from ..studies._rows import of_study
from ..table import FORMS, Table
from ..tasks import OPERATIONS, RANGES
from .cells import Cells, members, operations_of, rate, units_of
from .data import Data
from .draw import BLUE, OWN, SIGNS

FORMATS = ("pdf", "svg", "png")
FLOOR = 1e-9
# How boxes are laid down: matplotlib 3.9 has not the one, and 3.11 warns of the other.
LYING: dict[str, Any] = (
    {"orientation": "horizontal"} if version_info >= (3, 10) else {"vert": False}
)


def write_tables(data: Data, more: Mapping[str, Sequence[Table]], folder: Path) -> list[Path]:
    """Write the paper's tables as printed, those of every study with rows, and `more`."""
    groups = {"paper": paper_tables(), **more}
    for name, one in experiments().items():
        study = one.study()
        rows = of_study(data.rows, study)
        if rows:
            groups[name] = one.tables(rows, study)
    written = []
    for group, tables in groups.items():
        for table in tables:
            written.append(folder / f"{group}-{_slug(table.title)}.tex")
            written[-1].write_text(FORMS["latex"](table), encoding="utf-8")
    return written


def paper_tables() -> list[Table]:
    """The tables of the Domain Mixed Unit paper, as it prints them."""
    paper = published()
    found = [
        Table(
            f"Success on {operation}",
            ["range", *units],
            [[r, *(f"{units[unit][r]}%" for unit in units)] for r in RANGES],
            "as printed",
        )
        for operation, units in paper["success_percent"].items()
    ]
    names = list(next(iter(paper["dmu_statistics"].values())))
    lines = [[o, *(f"{one[n]:g}" for n in names)] for o, one in paper["dmu_statistics"].items()]
    header = ["operation", *(name.replace("_", " ") for name in names)]
    found.append(Table("Statistics of dmu", header, lines, "as printed"))
    limits = paper["dmu_thresholds"]
    lines = [[r, *(f"{limits[r][o]:.2e}" for o in OPERATIONS)] for r in RANGES]
    return [*found, Table("Thresholds of dmu", ["range", *OPERATIONS], lines, "as printed")]


def write_figures(data: Data, folder: Path, form: str) -> list[Path]:
    """Write success, convergence and sparsity for each ruler that there are rows for."""
    written = []
    for ruler in ("primer", "loose", "dmu"):
        cells = data.cells(ruler)
        kinds: dict[str, Callable[[Axes, Cells, str], None]] = {
            "success": _heat,
            "success-bars": _bars,
            "convergence": _steps,
            "sparsity": _sparsity,
        }
        for kind, draw in kinds.items() if cells else ():
            for operation in operations_of(cells):
                written.append(folder / f"{kind}-{operation}-{ruler}.{form}")
                _save(draw, cells, operation, written[-1])
    return written


def write_landscapes(data: Data, folder: Path, form: str) -> list[Path]:
    """Write every landscape that is kept; the paper's figure is that of subtraction."""
    written = []
    for one in data.landscapes:
        written.append(folder / f"landscape-{one.task.operation}-{one.task.range}.{form}")
        picture.draw(one, written[-1])
    return written


def _save(draw: Callable[[Axes, Cells, str], None], cells: Cells, operation: str, to: Path) -> None:
    units = units_of(cells, operation)
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    look = {"svg.hashsalt": "arithmix", "svg.fonttype": "none", "pdf.fonttype": 42, "font.size": 9}
    with matplotlib.rc_context(look):
        figure = Figure(figsize=(5.2, 0.9 + 0.27 * len(units)), dpi=200, layout="constrained")
        axes = figure.subplots()
        axes.set_yticks(range(len(units)), [_text(unit) for unit in units])
        axes.set_ylim(len(units) - 0.5, -0.5)
        draw(axes, cells, operation)
        figure.savefig(to, metadata=undated.get(to.suffix[1:]))


def _heat(axes: Axes, cells: Cells, operation: str) -> None:
    units = units_of(cells, operation)
    z = np.full((len(units), len(RANGES)), np.nan)
    for i, unit in enumerate(units):
        for j, range_ in enumerate(RANGES):
            if cell := cells.get((unit, operation, range_)):
                z[i, j] = rate(cell).percent
                ink = "white" if z[i, j] > 55 else "black"
                axes.text(j, i, f"{z[i, j]:.0f}", ha="center", va="center", color=ink, fontsize=8)
    axes.imshow(z, cmap="Blues", vmin=0, vmax=115, aspect="auto")
    axes.set_xticks(range(len(RANGES)), list(RANGES))
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(f"percent solved, {SIGNS[operation]}")


def _bars(axes: Axes, cells: Cells, operation: str) -> None:
    units = units_of(cells, operation)
    rates = [rate(members(cells, unit, operation)) for unit in units]
    percents = np.array([one.percent for one in rates])
    low, high = np.array([one.interval for one in rates]).T
    colours = [OWN if unit == "dmu" else BLUE for unit in units]
    spread = np.array([percents - low, high - percents])
    axes.barh(range(len(units)), percents, color=colours, xerr=spread, capsize=2, height=0.7)
    axes.set_xlim(0, 105)
    axes.set_xlabel(f"percent solved, {SIGNS[operation]}, with Wilson's 95% interval")
    axes.spines[["top", "right"]].set_visible(False)


def _steps(axes: Axes, cells: Cells, operation: str) -> None:
    _boxes(axes, cells, operation, lambda one: max(one.verdict.step or 1, 1))
    axes.set_xlabel(f"steps until solved, {SIGNS[operation]}")


def _sparsity(axes: Axes, cells: Cells, operation: str) -> None:
    _boxes(axes, cells, operation, lambda one: max(one.verdict.sparsity, FLOOR))
    axes.set_xlabel(f"sparsity error of the solved, {SIGNS[operation]}")


def _boxes(axes: Axes, cells: Cells, operation: str, value: Callable) -> None:
    units = units_of(cells, operation)
    for i, unit in enumerate(units):
        solved = [one for one in members(cells, unit, operation) if one.verdict.solved]
        line = {"color": OWN if unit == "dmu" else BLUE}
        if values := [value(one) for one in solved]:
            axes.boxplot(
                values,
                positions=[i],
                **LYING,
                widths=0.6,
                manage_ticks=False,
                boxprops=line,
                whiskerprops=line,
                capprops=line,
                medianprops=line | {"linewidth": 2},
                flierprops={"markersize": 2, "markeredgecolor": line["color"]},
            )
    axes.set_xscale("log")
    axes.spines[["top", "right"]].set_visible(False)


def _text(name: str) -> str:
    """A name that matplotlib does not read as mathematics."""
    return name.replace("$", r"\$")


def _slug(title: str) -> str:
    """A file's name from a title, without what may change with the numbers."""
    words = re.sub(r"^\d+ of \d+ ", "", title.partition(":")[0])
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
