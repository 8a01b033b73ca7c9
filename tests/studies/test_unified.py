"""The shipped results of the unified unit."""

import pytest

from arithmix.measure.rulers import RULERS
from arithmix.records.shipped import shipped
from arithmix.studies import experiment
from arithmix.studies._rows import judged, of_study


@pytest.mark.parametrize(
    ("name", "members"), [("unified", 900), ("unified-10", 900), ("unified-100", 180)]
)
def test_every_shipped_training_is_solved(name, members):
    study = experiment(name).study()
    rows = of_study(shipped(name), study)
    assert len(rows) == study.members == members
    assert all(one.verdict.solved for one in judged(rows, RULERS["primer"]))
    assert len({str(row.asked.recipe) for row in rows}) == 1


def test_a_mix_of_losses_solves_what_a_mix_of_outputs_does_not():
    rows = of_study(shipped("nalm"), experiment("nalm").study())
    lost = {"dmu": 0, "dmu[mix=loss]": 0, "unified": 0}
    for one in judged(rows, RULERS["primer"]):
        if one.row.asked.unit in lost:
            lost[one.row.asked.unit] += not one.verdict.solved
    assert lost == {"dmu": 25, "dmu[mix=loss]": 0, "unified": 0}


def test_the_tables_hold_every_unit():
    study = experiment("unified").study()
    *own, fair = experiment("unified").tables(of_study(shipped("unified"), study), study)
    assert own[0].rows[0][1] == "100 [87, 100]"
    lines = {row[0]: row[1:] for row in fair.rows}
    assert {lines["unified"][column] for column in (0, 3, 6, 9)} == {"100.0"}
    assert "nalu" in lines and len(lines) == len(fair.rows)
