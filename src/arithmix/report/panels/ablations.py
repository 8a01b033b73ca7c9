"""What the parts of the DMU are for: studies that change one thing at a time."""

from collections.abc import Sequence

from ...measure.rulers import RULERS
from ...studies import experiments
from ...studies._rows import judged, of_study
from ...table import Table
from ..data import Cells, Data, members, operations_of, rate
from ..draw import SIGNS, operation_name
from ..parts import Command, Grid, Part, Side, tabs, tone, words
from ._heat import success_chart

ORDER = 100
TITLE = "Ablations"
ABOUT = (
    "One thing changed at a time. Success in percent over all ranges with Wilson's 95% interval, "
    "and per range below."
)
QUESTIONS = {
    name: (one.study(), question)
    for name, one in experiments().items()
    if (question := getattr(one, "ABLATION", None))
}
COMMAND = " && ".join([*(f"arithmix run {name}" for name in QUESTIONS), "arithmix report"])


def parts(data: Data) -> list[Part]:
    """A tab for each ablation, which says what to run if it has no rows."""
    usual = {unit for unit, _, _ in data.cells("primer")}
    done: dict[str, list[Part]] = {}
    left: dict[str, list[Part]] = {}
    for name, (study, question) in QUESTIONS.items():
        cells: Cells = {}
        for member in judged(of_study(data.rows, study), RULERS[study.ruler]):
            asked = member.row.asked
            cells.setdefault((asked.unit, asked.operation, asked.range), []).append(member)
        asked_ = f"{question[:1].upper()}{question[1:]} "
        run = Command(f"arithmix run {name}")
        there = any(unit not in usual | {"dmu"} for unit, _, _ in cells)
        tab = name.removeprefix("ablation").strip("-_ ") or name
        if there:
            said = words(asked_, f"(Ruler {study.ruler}; made by ", run, ")")
            done[tab] = [said, _table(cells, study.units), Side(_charts(cells, study.units))]
        else:
            left[tab] = [words(asked_, "Nothing is recorded for it yet; run ", run)]
    return tabs(done | left) if done else []


def _charts(cells: Cells, order: Sequence[str]) -> list[Part]:
    made = [success_chart(cells, o, operation_name(o), order) for o in operations_of(cells)]
    return [one for one in made if one]


def _table(cells: Cells, units: Sequence[str]) -> Grid:
    shown, lines, tones = operations_of(cells), [], {}
    for unit in units:
        rates = [rate(members(cells, unit, operation)) for operation in shown]
        if not any(one.trained for one in rates):
            continue
        for j, one in enumerate(rates, start=1):
            if one.trained:
                tones[len(lines), j] = tone(one.percent)
        lines.append([unit, *(one.text.replace("%", "") if one.trained else "" for one in rates)])
    return Grid(Table("", ["setting", *(SIGNS[o] for o in shown)], lines), tones)
