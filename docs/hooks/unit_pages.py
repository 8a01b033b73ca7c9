"""The pages of the units, made from the units: a new file in `units/` has one by being there."""

import dataclasses
import re
import sys
from collections import defaultdict
from functools import cache

import numpy as np

from arithmix import Recipe, Unit
from arithmix.measure.rulers import PRIMER
from arithmix.records.shipped import shipped
from arithmix.studies._rows import judged
from arithmix.tasks import OPERATIONS, RANGES
from arithmix.units import units
from notation import block, prose

Cells = dict[tuple[str, str], dict[str, list[bool]]]
"""Solved or not, by the unit as it is written and the operation, and by range."""
STUDY = "nalm"


def pages() -> dict[str, str]:
    """The Markdown of every unit by its name, in the order of the names."""
    return {name: _page(unit) for name, unit in sorted(units().items())}


def overview() -> str:
    """All units in one table."""
    lines = []
    for name, unit in sorted(units().items()):
        rates = [_rate(_cells().get((name, o), {})) if o in unit.exact else "" for o in OPERATIONS]
        lines.append([f"[{name}]({name}.md)", _first_line(unit), *rates])
    table = _table(["unit", "what it is", *OPERATIONS], lines)
    return f"""# Units

{table}

Numbers are success in percent: the mean over nine ranges, 25 seeds each, under the ruler
[primer](../method.md#rulers), from the results that come with the package (`arithmix table {STUDY}`
shows every range with its interval). A dash: the unit can represent the operation, and the study
does not ask for it.
"""


def _page(unit: type[Unit]) -> str:
    title, _, about = _first_line(unit).partition(": ")
    operations = [o for o in OPERATIONS if o in unit.exact]
    signs = "" if unit.signed else " Its products and quotients are those of magnitudes."
    return f"""# {title.partition(",")[0]}

**{title}**: {about}

It can represent {_listed(operations)}.{signs} On the command line it is `{unit.name}`.

## Equations and notes

{_body(sys.modules[unit.__module__].__doc__ or "")}

## Arguments

::: {unit.__module__}.{unit.__name__}
    options:
      members: false
      show_root_heading: false
      show_root_toc_entry: false

## Recipe

How its paper trains it for two inputs; Adam on fresh batches.

{_recipes(unit, operations)}

## Success

{_success(unit)}
"""


def _first_line(unit: type[Unit]) -> str:
    return (sys.modules[unit.__module__].__doc__ or unit.name).strip().partition("\n")[0]


def _body(doc: str) -> str:
    """A module's docstring after its first line."""
    paragraphs = re.split(r"\n{2,}", doc.strip())[1:]
    made = [block(p) if p.startswith("    ") else prose(p) for p in paragraphs]
    return re.sub(r"docs/(\w+)\.md", r"[\1](../\1.md)", "\n\n".join(made))


def _recipes(unit: type[Unit], operations: list[str]) -> str:
    recipes = [unit.recipe(operation) for operation in operations]
    lines = []
    for field in dataclasses.fields(Recipe):
        values = [getattr(recipe, field.name) for recipe in recipes]
        if any(value is not None and value != {} for value in values):
            lines.append([f"`{field.name}`", *map(_value, values)])
    return _table(["", *operations], lines)


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "<br>".join(f"`{key}={_value(inside)}`" for key, inside in value.items())
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        return ", ".join(f"{f.name} {getattr(value, f.name):g}" for f in fields)
    if isinstance(value, int | float):
        return f"{value:,}".replace(",", " ") if isinstance(value, int) else f"{value:.6g}"
    return "" if value is None else str(value)


def _success(unit: type[Unit]) -> str:
    """What the shipped results say of the unit, in all the ways it is written there."""
    lines = [
        [f"`{label}`", operation, *(_percent(ranges.get(r, [])) for r in RANGES), _rate(ranges)]
        for (label, operation), ranges in _cells().items()
        if label.partition("[")[0] == unit.name
    ]
    if not lines:
        return (
            f"The results that come with the package have none of this unit; "
            f"`arithmix run {STUDY} --units {unit.name}` makes some."
        )
    return f"""{_table(["unit", "operation", *RANGES, "mean"], lines)}

Percent of 25 seeds under the ruler [primer](../method.md#rulers), from the results that come with
the package; `arithmix table {STUDY} --units {unit.name}` shows them with intervals.
"""


@cache
def _cells() -> Cells:
    cells: Cells = defaultdict(lambda: defaultdict(list))
    for one in judged(shipped(STUDY), PRIMER):
        asked = one.row.asked
        cells[asked.unit, asked.operation][asked.range].append(one.verdict.solved)
    return cells


def _percent(solved: list[bool]) -> str:
    return f"{100 * np.mean(solved):.0f}" if solved else "-"


def _rate(ranges: dict[str, list[bool]]) -> str:
    """The mean over ranges."""
    return (
        f"{100 * np.mean([np.mean(solved) for solved in ranges.values()]):.1f}" if ranges else "-"
    )


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _table(header: list[str], lines: list[list[str]]) -> str:
    """A Markdown table; a column of numbers stands to the right."""
    columns = list(zip(*lines, strict=True))
    numbers = [all(re.fullmatch(r"[\d. ]*|-", cell) for cell in column) for column in columns]
    rows = [header, ["---:" if number else "---" for number in numbers], *lines]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)
