"""What the panels say of the rows, in words."""

import numpy as np
import pytest

from arithmix.measure.rulers import RULERS
from arithmix.records.row import Curve
from arithmix.report.data import Data
from arithmix.report.draw import log_axis
from arithmix.report.page import page
from arithmix.report.panels._answer import answer
from arithmix.studies._rows import judged

from .made import row, rows
from .test_page import Read


def test_a_variant_of_the_dmu_is_not_another_unit():
    some = [*rows("dmu", seeds=1), *rows("dmu[mix=loss]", seeds=1), *rows("other", 0.5, seeds=1)]
    said = Read(page(Data(some))).sections["summary"]
    assert "1 other unit was trained on all four operations" in said
    assert "No other unit always does" in said
    assert "dmu[mix=loss], a variant of the DMU" in said
    assert "a variant of dmu: trained on a mix of the losses" in said


def test_the_rules_are_named_with_who_uses_them():
    said = Read(page(Data(rows("dmu", seeds=1)))).sections["summary"]
    places = [said.index(words) for words in ("primerat the", "looseat the", "dmuthe", "How sure")]
    assert places == sorted(places)
    assert "flat" not in said


def test_what_a_recipe_gives_away_is_told():
    kinds = {"add": "add", "mul": "add", "sub": "sub", "div": "sub"}
    some = [row("dmu", o, arguments={"selector": kind}) for o, kind in kinds.items()]
    some += [row("blind", o) for o in kinds]
    said = Read(page(Data(some))).sections["universal"]
    assert "inputs and signs, so + or ×, − or ÷" in said
    assert "nothing" in said.partition("blind")[2]


def test_an_ablation_is_answered_from_its_rows():
    def cells(variant_error, steps):
        found = {}
        for unit, error, size in (("dmu", 0.0, 300), ("dmu[rate=1]", variant_error, steps)):
            for operation in ("add", "mul"):
                step = np.arange(size, dtype=np.int32)
                bad = error if operation == "mul" else 0.0
                test = np.where(step < size - 100, 1.0, bad).astype(np.float32)
                one = row(unit, operation, stop="dmu", curve=Curve(step, test, test, test))
                found[unit, operation, "sym"] = judged([one] * 20, RULERS["dmu"])
        return found

    same = answer(cells(0.0, 500), ["dmu", "dmu[rate=1]"])
    assert "All settings solve the same 40 of 40" in same and "rate=1 1.7 times" in same
    worse = answer(cells(1.0, 300), ["dmu", "dmu[rate=1]"])
    assert "dmu as it is solves 40 of 40; rate=1 20 (× sym 0 of 20)." in worse


@pytest.mark.parametrize("values", [[2e-3, 3e-3], [1e-3, 1e-3], [0.5, 20.0], [1e-9, 1.0], []])
def test_a_logarithmic_axis_has_two_ticks(values):
    axis = log_axis("", np.array(values))
    low, high = axis.get("range", np.log10([min(values), max(values)]) if values else (0, 1))
    ticks = np.arange(-20, 20, axis["dtick"])
    assert ((low <= ticks) & (ticks <= high)).sum() >= 2


def test_ends_are_said_in_words():
    some = [row("dmu", error=1.0), row("dmu", error=1.0, seed=1, status="diverged")]
    said = Read(page(Data([*some, row("dmu", stop="dmu", status="stopped")]))).sections
    for words in ("1 ran all steps", "1 diverged"):
        assert words in said["failures"]
    assert "1 stopped when solved" in said["provenance"]
    assert "1 trained" not in said["failures"] + said["provenance"]
