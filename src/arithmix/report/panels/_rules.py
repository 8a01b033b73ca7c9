"""The rules by which trainings are judged on this page."""

from ...measure.rulers import RULERS
from ...table import Table
from ...tasks import OPERATIONS, RANGES, Task
from ..parts import Grid

SHOWN = ("primer", "loose", "dmu")
"""Those of the rulers that the page uses."""


def rules() -> Grid:
    """Each rule: its name, what counts as solved, and who uses it."""
    tasks = [Task(operation, range_) for operation in OPERATIONS for range_ in RANGES]
    ratios = [RULERS["dmu"].threshold(t) / RULERS["primer"].threshold(t) for t in tasks]
    lines = {
        "primer": [
            "at the step of best validation error, the test error is below that of an exact unit "
            "with weights off by 0.00001",
            "the NALM benchmark; the DMU paper, for all units but its own; this page, where no "
            "other is named",
        ],
        "loose": [
            "at the same step, the test error is below the DMU paper's threshold, that of a DMU "
            f"with its gate off by 0.0001 ({min(ratios):.0f} to {max(ratios):.0f} times primer's)",
            "this page, to give all units the DMU paper's thresholds",
        ],
        "dmu": [
            f"the test error stays below loose's threshold for {RULERS['dmu'].patience} steps in a "
            "row; the training stops there",
            "the DMU paper, for its own unit alone; the ablations here",
        ],
    }
    table = [[name, *lines[name]] for name in SHOWN]
    return Grid(Table("", ["rule", "solved if", "who uses it"], table))
