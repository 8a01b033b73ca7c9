"""What a study asks of the units as they are now, and which rows answer that."""

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from ..measure.rulers import RULERS, Ruler
from ..records.row import PROTOCOL, Asked, Row
from ..records.source import digest
from ..study import Study
from ..tasks import Task
from ..units._recipe import Recipe
from ..units._spec import Spec, parse


def asks(study: Study) -> list[Asked]:
    """Everything that a study asks, in its order."""
    ruler = RULERS[study.ruler]
    specs = {text: parse(text) for text in study.units}
    return [
        _ask(specs[text], task, seed, ruler) for text, task in study.entries for seed in study.seeds
    ]


def recipe_of(spec: Spec, task: Task) -> Recipe:
    """The unit's recipe, with what was written in brackets over what it has."""
    recipe = spec.recipe(task.operation, task.inputs)
    return replace(recipe, arguments={**recipe.arguments, **spec.arguments})


def _ask(spec: Spec, task: Task, seed: int, ruler: Ruler) -> Asked:
    return Asked(
        unit=spec.label,
        operation=task.operation,
        range=task.range,
        inputs=task.inputs,
        seed=seed,
        stop=ruler.name if ruler.patience else "",
        grid=ruler.grid,
        recipe=dataclasses.asdict(recipe_of(spec, task)),
        source=spec.source,
    )


@dataclass(frozen=True)
class Current:
    """Rows that answer for the units as they are now, each question once."""

    rows: list[Row]
    notes: list[str] = field(default_factory=list)
    """What was left out, or could not be told, in sentences."""


def current(rows: Iterable[Row]) -> Current:
    """Of many rows those whose key is that of the unit as it is now.

    A user's own unit is known by the digest of its files, and none of its code is run. Where these
    files are not here, rows are kept as they were recorded, and different versions of one unit
    stand under names of their own.
    """
    kept: dict[str, Row] = {}
    outdated: Counter[str] = Counter()
    unknown: dict[str, list[Row]] = {}
    for row in rows:
        asked = row.asked
        answers = _is_current(asked)
        if answers is None:
            unknown.setdefault(asked.unit, []).append(row)
        elif answers:
            kept[asked.key] = row
        else:
            outdated[asked.unit] += 1
    notes = [
        f"{count} row{'s' * (count > 1)} of {unit} made by other code than it has now: left out"
        for unit, count in outdated.items()
    ]
    for unit, those in unknown.items():
        versions = {row.asked.source for row in those}
        kept |= {row.asked.key: _named(row, len(versions)) for row in those}
        notes.append(
            f"the code of {unit} is not here, so its rows are shown as they were recorded"
            + (f", its {len(versions)} versions apart" if len(versions) > 1 else "")
        )
    return Current(list(kept.values()), notes)


def _is_current(asked: Asked) -> bool | None:
    """Whether a row would be asked for in these very words now; None if that can't be told."""
    ruler = RULERS.get(asked.stop or "primer")
    if ruler is None or asked.protocol != PROTOCOL or asked.grid != ruler.grid:
        return False
    if ":" in asked.unit:
        now = digest(asked.unit.partition(":")[0])
        return None if now is None else asked.source == now
    recipe = _recipe_now(asked.unit, asked.operation, asked.inputs)
    return None if recipe is None else _words(asked.recipe) == recipe


@cache
def _recipe_now(unit: str, operation: str, inputs: int) -> str | None:
    try:
        recipe = recipe_of(parse(unit), Task(operation, "sym", inputs))
    except ValueError:
        return None  # a unit or a setting that this version does not have
    return _words(dataclasses.asdict(recipe))


def _words(recipe: dict[str, Any]) -> str:
    return json.dumps(recipe, sort_keys=True)


def _named(row: Row, versions: int) -> Row:
    if versions == 1:
        return row
    return replace(row, asked=replace(row.asked, unit=f"{row.asked.unit} ({row.asked.source})"))
