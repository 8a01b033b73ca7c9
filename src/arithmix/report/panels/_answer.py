"""What an ablation answers, in a sentence made from its rows."""

from collections.abc import Sequence

import numpy as np

from ...measure.stats import fisher
from ...studies._rows import Judged
from ...tasks import OPERATIONS
from ..cells import Cells, by_range, members, rate
from ..draw import SIGNS
from ._settings import setting

FEW = 4
"""Cells up to which each is named; of more only the number is given."""
CHANCE = 0.05
UNLIKE = 0.05
"""Steps that differ by less than this share of the base's are called like it."""


def answer(cells: Cells, units: Sequence[str], base: str = "dmu") -> str:
    """Which variants solve other than the base and where, and how the steps differ."""
    own = rate(members(cells, base))
    others = {unit: rate(members(cells, unit)) for unit in units if unit != base}
    same = [unit for unit in others if not _differ(cells, unit, base)]
    if len(same) == len(others):
        all_ = f"All settings solve the same {own.solved} of {own.trained} trainings."
        return " ".join([all_, *_pace(cells, same, base)])
    apart = {unit: one for unit, one in others.items() if unit not in same}
    close = [u for u, one in apart.items() if fisher(one.solved, own.solved, own.trained) > CHANCE]
    clauses = [f"{base} as it is solves {own.solved} of {own.trained}"]
    clauses += [f"{_names(same)} the same"] * bool(same)
    clauses += [_counts(cells, unit, base, chance=unit in close) for unit in apart]
    said = [f"{'; '.join(clauses)}."]
    if any(len(_differ(cells, unit, base)) > FEW for unit in apart):
        said.append("In brackets: on how many ranges of each operation the count is another.")
    return " ".join([*said, *_pace(cells, [*same, *close], base)])


def _counts(cells: Cells, unit: str, base: str, *, chance: bool) -> str:
    count = f"{setting(unit)} {rate(members(cells, unit)).solved} ({_where(cells, unit, base)})"
    return f"{count}, which may be chance" if chance else count


def _differ(cells: Cells, unit: str, base: str) -> dict[tuple[str, str], tuple[int, int]]:
    """Solved and trained where a variant's count is not the base's."""
    found = {}
    for operation in OPERATIONS:
        own = by_range(cells, base, operation)
        for range_, one in by_range(cells, unit, operation).items():
            if range_ in own and one.solved != own[range_].solved:
                found[operation, range_] = (one.solved, one.trained)
    return found


def _where(cells: Cells, unit: str, base: str) -> str:
    found = _differ(cells, unit, base)
    if len(found) <= FEW:
        return ", ".join(f"{SIGNS[o]} {r} {n} of {all_}" for (o, r), (n, all_) in found.items())
    return ", ".join(f"{SIGNS[o]}\u00a0{sum(one == o for one, _ in found)}" for o in OPERATIONS)


def _pace(cells: Cells, units: Sequence[str], base: str) -> list[str]:
    """How soon they solve, beside the base."""
    ratios = {unit: one for unit in units if (one := _steps(cells, unit, base))}
    if not ratios:
        return []
    alike = [unit for unit, one in ratios.items() if abs(one - 1) < UNLIKE]
    apart = [f"{setting(u)} {one:.2g} times" for u, one in ratios.items() if u not in alike]
    near = [f"{_names(alike)} as many within {UNLIKE:.0%}"] if alike else []
    said = f"Steps until solved, beside those of {base} (median over operations and ranges): "
    return [f"{said}{', '.join([*apart, *near])}."]


def _steps(cells: Cells, unit: str, base: str) -> float | None:
    """How many times the base's steps a variant needs: the median over cells that both solve."""
    ratios = []
    for name, operation, range_ in cells:
        if name == unit and (base, operation, range_) in cells:
            pair = [_solved(cells[one, operation, range_]) for one in (unit, base)]
            if all(pair):
                ratios.append(np.median(pair[0]) / np.median(pair[1]))
    return float(np.median(ratios)) if ratios else None


def _solved(cell: Sequence[Judged]) -> list[int]:
    return [max(one.verdict.step or 1, 1) for one in cell if one.verdict.solved]


def _names(units: Sequence[str]) -> str:
    return ", ".join(map(setting, units))
