"""Ten inputs of which two matter."""

from ..measure.rulers import RULERS
from ..measure.stats import fisher, wilson
from ..records.row import Row
from ..study import Study
from ..table import Table
from . import _idle
from ._published import published
from ._rows import judged


def study() -> Study:
    """The units that their papers ran there."""
    pairs = {"nau": "add sub", "inalu": "add", "real_npu": "div", "real_npu_mod": "div"}
    return _idle.idle_study(10, pairs | {"nru": "div", "nmru": "div"})


def tables(rows: list[Row], study: Study) -> list[Table]:
    """The tables of every study with idle inputs, and division beside its paper's totals."""
    return [*_idle.tables(rows, study), *_division(rows)]


def _division(rows: list[Row]) -> list[Table]:
    lines = []
    for unit, printed in published()["division_of_ten"]["solved"].items():
        those = [r for r in rows if (r.asked.unit, r.asked.operation) == (unit, "div")]
        if len(those) != 225:
            continue
        flat, primer = (
            sum(one.verdict.solved for one in judged(those, RULERS[name]))
            for name in ("flat", "primer")
        )
        low, high = wilson(flat, 225)
        ours = f"{flat}/225 [{100 * low:.1f}, {100 * high:.1f}]"
        p = fisher(flat, printed, 225)
        lines.append([unit, ours, f"{printed}/225", f"{p:.2f}", f"{primer}/225"])
    header = ["unit", "ruler flat", "published", "Fisher's p", "ruler primer"]
    note = "solved over the nine ranges, with Wilson's 95% interval; the paper's rule is flat"
    return [Table("Division, two of ten inputs", header, lines, note)] if lines else []
