"""`arithmix thresholds`."""

from ..measure.rulers import RULERS
from ..studies._published import published
from ..table import Table, write
from ..tasks import OPERATIONS, RANGES, Task
from ._options import Format, console


def thresholds(form: Format = "terminal") -> None:
    """Show the thresholds of both rulers, the DMU paper's beside ours."""
    write(threshold_tables(), form, console())


def threshold_tables() -> list[Table]:
    """A table for each ruler."""
    paper = published()["dmu_thresholds"]
    lines, ratios = [], []
    for name in RANGES:
        cells = [name]
        for operation in OPERATIONS:
            ours, theirs = RULERS["dmu"].threshold(Task(operation, name)), paper[name][operation]
            ratios.append(ours / theirs)
            cells += [f"{ours:.3e}", f"{theirs:.2e}"]
        lines.append(cells)
    header = ["range"]
    for operation in OPERATIONS:
        header += [operation, "paper"]
    note = f"ours / paper's between {min(ratios):.3f} and {max(ratios):.3f}"
    primer = [
        [name, *(f"{RULERS['primer'].threshold(Task(o, name)):.4e}" for o in OPERATIONS)]
        for name in RANGES
    ]
    return [
        Table(f"Ruler dmu: {RULERS['dmu'].about}", header, lines, note),
        Table(f"Ruler primer: {RULERS['primer'].about}", ["range", *OPERATIONS], primer),
    ]
