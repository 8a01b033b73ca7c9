"""Success per operation, units x ranges."""

from ...measure.rulers import RULERS
from ..data import Data, operations_of
from ..draw import operation_name
from ..parts import Part, Side, tabs
from ._heat import success_chart

ORDER = 10
TITLE = "Success"
ABOUT = (
    "Percent of trainings solved, per unit and range of numbers. Hover or tap a cell for the count "
    "and Wilson's 95% interval."
)
COMMAND = "arithmix run nalm && arithmix run dmu && arithmix report"

SHOWN = ("primer", "loose", "dmu")


def parts(data: Data) -> list[Part]:
    """A heatmap for each ruler, in a tab for each operation."""
    found: dict[str, list[Part]] = {}
    for inputs in sorted({*data.inputs, 2}):
        rulers = SHOWN if inputs == 2 else SHOWN[:1]
        every = {key: those for name in rulers for key, those in data.cells(name, inputs).items()}
        for operation in operations_of(every):
            charts = [
                success_chart(data.cells(name, inputs), operation, f"{name}: {RULERS[name].about}")
                for name in rulers
            ]
            found[operation_name(operation, inputs)] = [Side([one for one in charts if one])]
    return tabs(found)
