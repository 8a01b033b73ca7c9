"""Success per operation, units x ranges."""

from collections.abc import Sequence

from ...measure.rulers import RULERS
from ..cells import SEEDS, operations_of, units_of
from ..data import Data
from ..draw import operation_name
from ..parts import Fold, Part, Side, tabs, words
from ._heat import success_chart
from ._own import listed
from ._rules import SHOWN

ORDER = 10
TITLE = "Success"
ABOUT = (
    "Percent of trainings solved, per unit and range of numbers. Hover or tap a cell for the count "
    "and Wilson's 95% interval; n: how many trainings, if fewer than 25."
)
COMMAND = (
    "arithmix run nalm && arithmix run nalm-10 && arithmix run nalm-100 && arithmix run unified && "
    "arithmix run unified-10 && arithmix run unified-100 && arithmix run dmu && arithmix report"
)


def parts(data: Data) -> list[Part]:
    """A heatmap for each ruler, in a tab for each operation; tasks with idle inputs apart."""
    idle = {f"{n} inputs": _tabs(data, n, SHOWN[:1]) for n in data.inputs if n != 2}
    found = _tabs(data, 2, SHOWN)
    if idle:
        found.append(Fold("More inputs, of which two matter", [*_fewer(data), *tabs(idle)]))
    return found


def _fewer(data: Data) -> list[Part]:
    """Units that have fewer trainings there than the benchmark has."""
    fewer = {
        f"{len(cell)} of {unit} with {inputs} inputs": None
        for inputs in data.inputs
        if inputs != 2
        for (unit, _, _), cell in data.cells("primer", inputs).items()
        if len(cell) < SEEDS
    }
    if not fewer:
        return []
    said = f"Fewer than {SEEDS} trainings for each operation and range: {listed(list(fewer))}."
    return [words(said)]


def _tabs(data: Data, inputs: int, rulers: Sequence[str]) -> list[Part]:
    every = {key: those for name in rulers for key, those in data.cells(name, inputs).items()}
    found: dict[str, list[Part]] = {}
    for operation in operations_of(every):
        # One order for all rulers, that of the first.
        order = [u for name in rulers for u in units_of(data.cells(name, inputs), operation)]
        charts = [
            success_chart(
                data.cells(name, inputs), operation, f"{name}: {RULERS[name].about}", order
            )
            for name in rulers
        ]
        found[operation_name(operation)] = [Side([one for one in charts if one])]
    return tabs(found)
