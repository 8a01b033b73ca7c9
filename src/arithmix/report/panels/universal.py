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
    "Units that were trained on all four operations, under primer. A unit with one recipe is told "
    "nothing of the operation; one with a recipe for each is, as the DMU by its selector."
)
COMMAND = (
    "arithmix run nalm && arithmix run unified && arithmix run unified-10 && "
    "arithmix run unified-100 && arithmix report"
)


def parts(data: Data) -> list[Part]:
    """Success of each, best first, for every number of inputs."""
    lines: list[tuple[float, list[str]]] = []
    for inputs in data.inputs:
        cells = data.cells("primer", inputs)
        for unit in units_of(cells):
            groups = [members(cells, unit, operation) for operation in OPERATIONS]
            if not all(groups):
                continue
            share = min(rate(group).percent for group in groups)
            texts = [pooled(cells, unit, operation) for operation in OPERATIONS]
            count = str(max(map(len, groups)))
            lines.append((share, [unit, str(inputs), *texts, _told(groups), count]))
    lines.sort(key=lambda line: (int(line[1][1]), -line[0]))
    tones = {
        (i, j): tone(float(text.partition(" ")[0]))
        for i, (_, line) in enumerate(lines)
        for j, text in enumerate(line[2:6], start=2)
    }
    header = ["unit", "inputs", *SIGNS.values(), "told", "trainings"]
    note = (
        "percent solved over the nine ranges [Wilson's 95% interval, or how many ranges are always "
        "solved if the others never are]; trainings: for each operation; two of the inputs matter"
    )
    return [Grid(Table("", header, [line for _, line in lines], note), tones)] if lines else []


def _told(groups: list[list[Judged]]) -> str:
    recipes = [str(sorted(group[0].row.asked.recipe.items())) for group in groups]
    return "nothing" if len(set(recipes)) == 1 else "the operation"
