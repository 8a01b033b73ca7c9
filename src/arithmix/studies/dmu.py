"""The paper's central result: the DMU on 4 operations x 9 ranges x 25 seeds, under its own rule."""

import math
from collections.abc import Sequence

import numpy as np

from ..measure.rulers import RULERS
from ..measure.stats import gamma_mean, wilson
from ..records.row import Row
from ..study import Study
from ..table import Table
from ..tasks import OPERATIONS, RANGES, Task
from ._published import published
from ._rows import Judged, judged


def study() -> Study:
    """900 trainings."""
    return Study(
        name="dmu",
        about="the Domain Mixed Unit paper's 900 trainings, each stopped when solved",
        entries=tuple(("dmu", Task(o, r)) for o in OPERATIONS for r in RANGES),
        seeds=tuple(range(25)),
        ruler="dmu",
    )


def tables(rows: list[Row], study: Study) -> list[Table]:
    """Success per operation and range, and the paper's statistics beside its own."""
    by_unit: dict[str, list[Judged]] = {}
    for one in judged(rows, RULERS[study.ruler]):
        by_unit.setdefault(one.row.asked.unit, []).append(one)
    return [
        table
        for unit, those in by_unit.items()
        for table in (_success(unit, those), _statistics(unit, those))
    ]


def _success(unit: str, those: Sequence[Judged]) -> Table:
    paper = published()["success_percent"]
    rows = []
    for range_ in RANGES:
        cells = [range_]
        for operation in OPERATIONS:
            cell = [
                one.verdict.solved
                for one in those
                if (one.row.asked.operation, one.row.asked.range) == (operation, range_)
            ]
            low, high = wilson(sum(cell), len(cell))
            ours = f"{sum(cell)}/{len(cell)} [{100 * low:.0f}, {100 * high:.0f}]" if cell else "-"
            cells += [ours, f"{paper[operation]['dmu'][range_]}%"]
        rows.append(cells)
    header = ["range"]
    for operation in OPERATIONS:
        header += [operation, "paper"]
    note = "solved / trained, with Wilson's 95% interval in percent"
    return Table(f"Success of {unit}, ruler dmu", header, rows, note)


def _statistics(unit: str, those: Sequence[Judged]) -> Table:
    paper = published()["dmu_statistics"]
    rows = []
    for operation in OPERATIONS:
        all_ = [one for one in those if one.row.asked.operation == operation]
        solved = [one for one in all_ if one.verdict.solved]
        if not solved:
            rows.append([operation, f"0/{len(all_)}", *["-"] * 7])
            continue
        steps = np.array([one.verdict.step for one in solved], dtype=float)
        low, high = gamma_mean(steps)
        printed = paper[operation]
        rows.append(
            [
                operation,
                f"{len(solved)}/{len(all_)}",
                f"{steps.mean():.1f} [{low:.0f}, {high:.0f}]",
                f"{printed['mean_convergence_step']}",
                _mean([_untempered(one.row) for one in solved], ".4f"),
                f"{printed['mean_sparsity']:.3f}",
                _mean([one.verdict.sparsity for one in solved], ".2e"),
                f"{np.mean([one.verdict.error for one in all_]):.2e}",
                f"{printed['mean_extrapolation_error']:.1e}",
            ]
        )
    header = ["operation", "solved", "mean step", "paper", "sparsity*", "paper"]
    header += ["sparsity", "test error", "paper"]
    note = (
        "sparsity* is the paper's: of the gate without its temperature, which no forward pass "
        "uses; sparsity is that of the gate in use. Step with the 95% interval of a gamma mean."
    )
    return Table(f"Statistics of {unit}, ruler dmu", header, rows, note)


def _mean(values: Sequence[float], form: str) -> str:
    """A mean; nothing for a unit that does not have the quantity."""
    return "-" if np.isnan(values).all() else f"{np.mean(values):{form}}"


def _untempered(row: Row) -> float:
    """The paper's sparsity: distance from 0 or 1 of the gate before its temperature."""
    logits = row.parameters.get("gate")
    if logits is None:
        return math.nan
    first = logits[0]
    share = 1 / (1 + math.exp(first[1] - first[0] if len(first) == 2 else -first[0]))
    return min(share, 1 - share)
