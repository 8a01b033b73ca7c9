"""The paper's open problem: one unit for all four operations."""

from ...studies._rows import Judged
from ...table import Table
from ...tasks import OPERATIONS
from ..cells import members, pooled, rate, units_of
from ..data import Data
from ..draw import SIGNS
from ..parts import Grid, Part, tone

ORDER = 35
TITLE = "One unit for all four operations"
ABOUT = (
    "Units that were trained on all four operations, under primer. told: what a unit's recipes "
    "give away of the operation. One recipe for all four tells nothing; the DMU's frozen selector "
    "tells the inputs and their signs, and which of two operations is left to learn."
)
COMMAND = (
    "arithmix run nalm && arithmix run unified && arithmix run unified-10 && "
    "arithmix run unified-100 && arithmix report"
)


def parts(data: Data) -> list[Part]:
    """Success of each, best first, with a unit's numbers of inputs below each other."""
    lines: list[list[str]] = []
    shares: dict[str, float] = {}
    for inputs in data.inputs:
        cells = data.cells("primer", inputs)
        for unit in units_of(cells):
            groups = {operation: members(cells, unit, operation) for operation in OPERATIONS}
            if not all(groups.values()):
                continue
            shares.setdefault(unit, min(rate(group).percent for group in groups.values()))
            texts = [pooled(cells, unit, operation) for operation in OPERATIONS]
            count = str(max(map(len, groups.values())))
            lines.append([unit, str(inputs), *texts, _told(groups), count])
    lines.sort(key=lambda line: (-shares[line[0]], line[0], int(line[1])))
    tones = {
        (i, j): tone(float(text.partition(" ")[0]))
        for i, line in enumerate(lines)
        for j, text in enumerate(line[2:6], start=2)
    }
    header = ["unit", "inputs", *SIGNS.values(), "told", "trainings"]
    note = (
        "percent solved over the nine ranges [Wilson's 95% interval, or how many ranges are always "
        "solved if the others never are]; trainings: for each operation; two of the inputs matter"
    )
    return [Grid(Table("", header, lines, note), tones)] if lines else []


def _told(groups: dict[str, list[Judged]]) -> str:
    """What a unit's recipes give away: those operations that share one are not told apart."""
    shared: dict[str, list[str]] = {}
    for operation, group in groups.items():
        recipe = group[0].row.asked.recipe
        shared.setdefault(str(sorted(recipe.items())), []).append(SIGNS[operation])
    if len(shared) == 1:
        return "nothing"
    if len(shared) == len(groups):
        return "the operation"
    pairs = ", ".join(" or ".join(signs) for signs in shared.values())
    selected = "selector" in groups["add"][0].row.asked.recipe.get("arguments", {})
    return f"{'inputs and signs, so' if selected else 'that it is'} {pairs}"
