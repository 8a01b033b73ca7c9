"""The NALM benchmark: every unit on the operations its paper trains it for, two inputs."""

from collections.abc import Sequence

import numpy as np

from ..measure.rulers import RULERS, Ruler
from ..measure.stats import beta_mean, fisher, gamma_mean, wilson
from ..records.row import Row
from ..study import Study
from ..table import Table
from ..tasks import OPERATIONS, RANGES, Task
from ._published import published
from ._rows import Judged, judged

PRIMER_UNITS = {
    "nac_add": "add sub",
    "nac_mul": "mul div",
    "nalu": "add sub mul div",
    "gnalu": "add sub mul div",
    "inalu": "add sub mul div",
    "nau": "add sub",
    "nmu": "mul",
    "npu": "mul div",
    "real_npu": "mul div",
}
LATER_UNITS = {
    "dmu": "add sub mul div",
    "dmu[mix=loss]": "add sub mul div",
    "unified": "add sub mul div",
    "mcfc": "add",
    "mul_mcfc": "mul",
    "mul_mcfc[sign=inalu]": "mul",
    "mul_mcfc[sign=real_npu]": "mul",
    "snmu": "mul",
    "nru": "div",
    "nmru": "div",
    "real_npu_mod": "div",
}


def study() -> Study:
    """All published pairs of a unit and an operation, and those of later papers."""
    pairs = [(u, o) for u, ops in (PRIMER_UNITS | LATER_UNITS).items() for o in ops.split()]
    return Study(
        name="nalm",
        about="the NALM benchmark: every unit by its own recipe, under the primer's rule",
        entries=tuple((unit, Task(o, r)) for unit, o in pairs for r in RANGES),
        seeds=tuple(range(25)),
        ruler="primer",
    )


def tables(rows: list[Row], study: Study) -> list[Table]:
    """Success beside the published rates, solved-at, sparsity, and the fair comparison."""
    return [*own_tables(rows), *_agreement(_cells(rows, RULERS["primer"])), fair(rows)]


def own_tables(rows: list[Row]) -> list[Table]:
    """Success, solved-at and sparsity per operation, units by ranges."""
    cells = _cells(rows, RULERS["primer"])
    shown = [o for o in OPERATIONS if any(key[1] == o for key in cells)]
    kinds = (_success, _solved_at, _sparsity)
    return [kind(cells, operation) for kind in kinds for operation in shown]


Cells = dict[tuple[str, str, str], list[Judged]]


def _cells(rows: Sequence[Row], ruler: Ruler) -> Cells:
    cells: Cells = {}
    for one in judged(rows, ruler):
        asked = one.row.asked
        cells.setdefault((asked.unit, asked.operation, asked.range), []).append(one)
    return cells


def _units(cells: Cells, operation: str) -> list[str]:
    return list(dict.fromkeys(unit for unit, op, _ in cells if op == operation))


def _published_rate(unit: str, operation: str, range_: str) -> int | None:
    """Successes in 25 that the baseline's paper printed; the DMU's own rule is another."""
    if unit == "dmu":
        return None
    percent = published()["success_percent"][operation].get(unit, {}).get(range_)
    return None if percent is None else round(percent / 4)


def _success(cells: Cells, operation: str) -> Table:
    lines = []
    for unit in _units(cells, operation):
        line = [unit]
        for range_ in RANGES:
            cell = cells.get((unit, operation, range_), [])
            if not cell:
                line.append("-")
                continue
            solved = sum(one.verdict.solved for one in cell)
            low, high = wilson(solved, len(cell))
            two = cell[0].row.asked.inputs == 2
            text = f"{100 * solved / len(cell):.0f} [{100 * low:.0f}, {100 * high:.0f}]"
            printed = _published_rate(unit, operation, range_) if two else None
            if printed is not None:
                text += " =" if printed * len(cell) == solved * 25 else f" ≠ {4 * printed}"
            line.append(text)
        lines.append(line)
    note = "percent solved, Wilson's 95% interval; = as published, ≠ what was published"
    return Table(f"Success on {operation}, ruler primer", ["unit", *RANGES], lines, note)


def _solved_at(cells: Cells, operation: str) -> Table:
    def text(solved: list[Judged]) -> str:
        steps = np.array([one.verdict.step for one in solved], dtype=float)
        low, high = gamma_mean(steps)
        return f"{steps.mean():.0f} [{low:.0f}, {high:.0f}]"

    note = "mean step of the first row under the threshold, over solved members; gamma likelihood"
    return _means(f"Solved at, {operation}, ruler primer", cells, operation, text, note)


def _sparsity(cells: Cells, operation: str) -> Table:
    def text(solved: list[Judged]) -> str:
        errors = np.array([one.verdict.sparsity for one in solved], dtype=float)
        if np.isnan(errors).all():  # a unit that has no word on it
            return "-"
        low, high = beta_mean(errors)
        return f"{errors.mean():.0e} [{low:.0e}, {high:.0e}]"

    note = (
        "mean sparsity error over solved members; beta likelihood. The original evaluates that "
        "density at x instead of 2x and so prints half of these means"
    )
    return _means(f"Sparsity error, {operation}, ruler primer", cells, operation, text, note)


def _means(title: str, cells: Cells, operation: str, text, note: str) -> Table:
    lines = []
    for unit in _units(cells, operation):
        line = [unit]
        for range_ in RANGES:
            cell = cells.get((unit, operation, range_), [])
            solved = [one for one in cell if one.verdict.solved]
            line.append(text(solved) if solved else "-")
        lines.append(line)
    return Table(title, ["unit", *RANGES], lines, note)


def _agreement(cells: Cells) -> list[Table]:
    """How many published cells are equal to ours, and which are not."""
    equal, compared, lines = 0, 0, []
    for (unit, operation, range_), cell in cells.items():
        printed = _published_rate(unit, operation, range_)
        if printed is None or len(cell) != 25:
            continue
        solved = sum(one.verdict.solved for one in cell)
        compared += 1
        equal += solved == printed
        if solved != printed:
            p = fisher(solved, printed, 25)
            lines.append(
                [f"{unit} {operation} {range_}", f"{solved}/25", f"{printed}/25", f"{p:.2f}"]
            )
    if not compared:
        return []
    title = f"{equal} of {compared} published cells are equal to the run"
    return [Table(title, ["cell that differs", "ours", "published", "Fisher's p"], lines)]


def fair(rows: Sequence[Row]) -> Table:
    """Every unit under one rule: success in percent, as a mean over the ranges."""
    rules = {name: _cells(rows, RULERS[name]) for name in ("primer", "loose")}
    names = list(dict.fromkeys(unit for unit, _, _ in rules["primer"]))
    lines = []
    for unit in names:
        line = [unit]
        for operation in OPERATIONS:
            for cells in rules.values():
                those = [c for r in RANGES if (c := cells.get((unit, operation, r)))]
                solved = [one.verdict.solved for cell in those for one in cell]
                line.append(f"{100 * np.mean(solved):.1f}" if solved else "-")
            own = published()["success_percent"][operation].get(unit)
            line.append(f"{np.mean(list(own.values())):.1f}" if own else "-")
        lines.append(line)
    header = ["unit"]
    for operation in OPERATIONS:
        header += [f"{operation} primer", "loose", "paper"]
    note = (
        "mean success over the nine ranges. primer: weights off by 1e-5; loose: the DMU paper's "
        "thresholds, a gate off by 1e-4; paper: as the DMU paper prints it, DMU under its rule and "
        "the others under the primer's"
    )
    return Table("Every unit under one ruler", header, lines, note)
