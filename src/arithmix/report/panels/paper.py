"""The four success tables of the Domain Mixed Unit paper, ours beside."""

from ...studies._published import published
from ...table import Table
from ...tasks import RANGES
from ..cells import SEEDS, Cells, operations_of, rate
from ..data import Data
from ..draw import interval, operation_name
from ..parts import Fold, Grid, Part, tabs, words

ORDER = 20
TITLE = "The paper's tables"
ABOUT = (
    "Each cell is the paper's success in percent, then ours. The paper copies its baselines from "
    "the NALM primer; cells that differ are marked, and ours has Wilson's 95% interval."
)
COMMAND = "arithmix run nalm && arithmix run dmu && arithmix report"


def parts(data: Data) -> list[Part]:
    """One table per operation, and how many cells are equal."""
    own_rule = data.cells("dmu")
    own = own_rule if any(unit == "dmu" for unit, _, _ in own_rule) else data.cells("loose")
    cells = {key: those for key, those in data.cells("primer").items() if key[0] != "dmu"}
    cells |= {key: those for key, those in own.items() if key[0] == "dmu"}
    tables = {operation_name(o): [_table(cells, o)] for o in operations_of(cells)}
    if not tables:
        return []
    equal, compared = _agreement(cells)
    rule = (
        "its own rule, dmu"
        if own is own_rule
        else "its paper's thresholds at the primer's rows (run the study dmu for its own rule)"
    )
    said = words(
        f"{equal} of {compared} cells of the baselines are exactly equal, in the count of solved "
        f"trainings. The DMU is here under {rule}, the others under primer, as in the paper; the "
        "fair table is below."
    )
    return [said, *tabs(tables), Fold("Where the printed numbers are from", [_source()])]


def _source() -> Part:
    return words(published()["source"])


def _table(cells: Cells, operation: str) -> Grid:
    paper = published()["success_percent"][operation]
    lines, tones = [], {}
    for i, range_ in enumerate(RANGES):
        line = [f"{range_} {interval(RANGES[range_].train)}"]
        for j, (unit, printed) in enumerate(paper.items(), start=1):
            cell = cells.get((unit, operation, range_))
            one = rate(cell) if cell else None
            if one is None:
                line.append(f"{printed[range_]} · –")
                tones[i, j] = "faint"
            elif one.solved * 100 == printed[range_] * one.trained:
                fewer = f" (n={one.trained})" if one.trained < SEEDS else ""
                line.append(f"{printed[range_]} · {one.percent:.0f}{fewer}")
            else:
                line.append(f"{printed[range_]} · {one.short} {one.within}")
                tones[i, j] = "part"
        lines.append(line)
    note = "paper · ours; beside each range the interval it is trained on"
    return Grid(Table("", ["range", *paper], lines, note), tones)


def _agreement(cells: Cells) -> tuple[int, int]:
    equal = compared = 0
    for operation, paper in published()["success_percent"].items():
        for unit, printed in paper.items():
            for range_, percent in printed.items():
                cell = cells.get((unit, operation, range_))
                if cell and unit != "dmu":
                    one = rate(cell)
                    compared += 1
                    equal += one.solved * 100 == percent * one.trained
    return equal, compared
