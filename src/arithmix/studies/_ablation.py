"""What the ablations share: variants of the DMU on all 36 cells, under the paper's own rule."""

from collections.abc import Sequence

import numpy as np

from ..measure.rulers import RULERS
from ..measure.stats import gamma_mean, wilson
from ..records.row import Row
from ..study import Study
from ..table import Table
from ..tasks import OPERATIONS, RANGES, Task
from ._rows import Judged, judged


def ablation(name: str, question: str, variants: Sequence[str]) -> Study:
    """Every variant, as it is written on the command line, on every operation and range."""
    return Study(
        name=f"ablation-{name}",
        about=question,
        entries=tuple((unit, Task(o, r)) for unit in variants for o in OPERATIONS for r in RANGES),
        seeds=tuple(range(25)),
        ruler="dmu",
    )


def tables(rows: list[Row], study: Study) -> list[Table]:
    """Success and steps per variant and operation, and the cells in which some members fail."""
    groups: dict[tuple[str, str, str], list[Judged]] = {}
    for one in judged(rows, RULERS[study.ruler]):
        asked = one.row.asked
        groups.setdefault((asked.unit, asked.operation, asked.range), []).append(one)
    units = [unit for unit in study.units if any(key[0] == unit for key in groups)]
    unsolved = _unsolved(groups)
    return [_success(units, groups), _steps(units, groups), *([unsolved] if unsolved.rows else [])]


Groups = dict[tuple[str, str, str], list[Judged]]


def _of(groups: Groups, unit: str, operation: str) -> list[Judged]:
    return [one for r in RANGES for one in groups.get((unit, operation, r), [])]


def _success(units: Sequence[str], groups: Groups) -> Table:
    lines = []
    for unit in units:
        line = [unit]
        for operation in OPERATIONS:
            solved = [one.verdict.solved for one in _of(groups, unit, operation)]
            low, high = wilson(sum(solved), len(solved))
            text = f"{sum(solved)}/{len(solved)} [{100 * low:.1f}, {100 * high:.1f}]"
            line.append(text if solved else "-")
        lines.append(line)
    note = "solved / trained over the nine ranges, with Wilson's 95% interval in percent"
    return Table("Success, ruler dmu", ["variant", *OPERATIONS], lines, note)


def _steps(units: Sequence[str], groups: Groups) -> Table:
    lines = []
    for unit in units:
        line = [unit]
        for operation in OPERATIONS:
            those = [one.verdict for one in _of(groups, unit, operation)]
            steps = np.array([verdict.step for verdict in those if verdict.solved], dtype=float)
            if steps.size:
                low, high = gamma_mean(steps)
                line.append(f"{steps.mean():.0f} [{low:.0f}, {high:.0f}]")
            else:
                line.append("-")
        lines.append(line)
    note = "mean step of the members that are solved, with the 95% interval of a gamma mean"
    return Table("Steps, ruler dmu", ["variant", *OPERATIONS], lines, note)


def _unsolved(groups: Groups) -> Table:
    lines = []
    for (unit, operation, range_), cell in groups.items():
        failed = [one.row for one in cell if not one.verdict.solved]
        if not failed:
            continue
        low, high = wilson(len(cell) - len(failed), len(cell))
        solved = f"{len(cell) - len(failed)}/{len(cell)} [{100 * low:.0f}, {100 * high:.0f}]"
        ended = ", ".join(
            f"{sum(row.status == status for row in failed)} {status}"
            for status in dict.fromkeys(row.status for row in failed)
        )
        lines.append([unit, f"{operation} {range_}", solved, ended, *_middle(failed)])
    header = ["variant", "cell", "solved", "failures", "gate", "selector"]
    note = "gate: median weight of the linear domain where failures end; selector: medians of O"
    return Table("Cells in which some members fail", header, lines, note)


def _middle(rows: Sequence[Row]) -> tuple[str, str]:
    """Where rows end: the linear domain's weight, and the selector where it is learned."""
    weights = [linear_weight(row) for row in rows]
    selectors = [np.ravel(row.parameters["selector"]) for row in rows if _learned(row)]
    selector = " ".join(f"{v:.2f}" for v in np.median(selectors, axis=0)) if selectors else "-"
    return f"{np.median(weights):.3f}", selector


def _learned(row: Row) -> bool:
    return "selector" in row.parameters


def linear_weight(row: Row) -> float:
    """The weight of the linear domain that a DMU's training ended with."""
    logits = np.ravel(row.parameters["gate"]) / row.asked.recipe["arguments"]["gate_temperature"]
    difference = logits[0] - logits[1] if logits.size == 2 else logits[0]
    return float(1 / (1 + np.exp(-np.clip(difference, -700, 700))))
