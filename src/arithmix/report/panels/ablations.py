"""What the parts of the DMU are for: studies that change one thing at a time."""

from collections.abc import Sequence

from ...measure.rulers import RULERS
from ...records.row import Row
from ...studies import experiments
from ...studies._rows import judged, of_study
from ...study import Study
from ...table import Table
from ..cells import Cells, members, operations_of, pooled, rate
from ..data import Data
from ..draw import SIGNS, operation_name
from ..parts import Command, Grid, Part, Side, Strong, tabs, tone, words
from ._answer import answer
from ._heat import success_chart
from ._settings import changed, setting

ORDER = 100
TITLE = "Ablations"
ABOUT = (
    "One thing changed at a time. Success in percent over all ranges with Wilson's 95% interval "
    "(or how many ranges are always solved if the others never are), and per range below."
)
QUESTIONS = {
    name: (one.study(), question)
    for name, one in experiments().items()
    if (question := getattr(one, "ABLATION", None))
}
COMMAND = " && ".join([*(f"arithmix run {name}" for name in QUESTIONS), "arithmix report"])


def parts(data: Data) -> list[Part]:
    """A tab for each ablation with rows of its own, and what to run for the others."""
    done: dict[str, list[Part]] = {}
    left: list[str | Command] = []
    for name, (study, question) in QUESTIONS.items():
        rows = of_study(data.rows, study)
        cells: Cells = {}
        for member in judged(rows, RULERS[study.ruler]):
            asked = member.row.asked
            cells.setdefault((asked.unit, asked.operation, asked.range), []).append(member)
        run = Command(f"arithmix run {name}")
        if not any(unit != "dmu" for unit, _, _ in cells):
            left += [", " if left else "", run]
            continue
        said = f"{question[:1].upper()}{question[1:]} (Made by "
        whole = len(rows) == study.members
        done[name.removeprefix("ablation-") + ("" if whole else " (incomplete)")] = [
            words(said, run, ")"),
            *(_found(cells, study.units) if whole else _incomplete(rows, study)),
            Side(_charts(cells, study.units)),
        ]
    if done and left:
        left = ["Not recorded, but for the rows of dmu that all share: ", *left]
    return [*_rule(data), *tabs(done), *([words(*left)] if left else [])] if done else []


def _rule(data: Data) -> list[Part]:
    own = rate(members(data.cells("dmu"), "dmu"))
    if not own.whole:
        return []
    return [
        words(
            "All are judged by the DMU paper's own rule, dmu, under which the DMU as it is already "
            f"solves all {own.trained}: a change can cost trainings, or cost or save steps."
        )
    ]


def _found(cells: Cells, units: Sequence[str]) -> list[Part]:
    return [words(Strong("Answer: "), answer(cells, units)), _table(cells, units)]


def _incomplete(rows: Sequence[Row], study: Study) -> list[Part]:
    return [
        words(
            Strong(f"Incomplete: {len(rows)} of {study.members} rows. "),
            "Trainings that are solved stop early and are stored first, so there is no rate over "
            "all ranges yet, and those below may be too high. n: how many trainings, if fewer than "
            "25.",
        )
    ]


def _charts(cells: Cells, order: Sequence[str]) -> list[Part]:
    made = [
        success_chart(cells, operation, operation_name(operation), order, setting)
        for operation in operations_of(cells)
    ]
    return [one for one in made if one]


def _table(cells: Cells, units: Sequence[str]) -> Grid:
    shown, lines, tones = operations_of(cells), [], {}
    for unit in units:
        for j, operation in enumerate(shown, start=1):
            tones[len(lines), j] = tone(rate(members(cells, unit, operation)).percent)
        name = f"{setting(unit)}: {changed(unit)}" if changed(unit) else setting(unit)
        lines.append([name, *(pooled(cells, unit, operation) for operation in shown)])
    return Grid(Table("", ["setting", *(SIGNS[o] for o in shown)], lines), tones)
