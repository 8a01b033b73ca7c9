"""Which of many rows answer for the units as they are now."""

import dataclasses

import numpy as np
import pytest

from arithmix.bench.asked import asks, current
from arithmix.records.row import Curve, Row
from arithmix.records.source import digest, forget
from arithmix.studies import experiment

PART = experiment("dmu").study().narrow(operations=["add"], ranges=["sym"], seeds=[0, 1])


def row(asked, error=1.0):
    values = np.array([error], dtype=np.float32)
    return Row(asked, "trained", 10, Curve(np.array([0]), values, values, values), {})


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Rows of two versions of one unit, the older one written last."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("version = 2\n")
    forget()
    (ask, _) = asks(PART)
    now = dataclasses.replace(ask, unit="mine:Unit", source=digest("mine"))
    old = dataclasses.replace(now, source="0123456789abcdef")
    yield [row(now, 0.25), row(old, 0.5)]
    forget()


def test_of_two_versions_that_of_the_file_counts_whichever_was_written_last(own):
    for rows in (own, own[::-1]):
        found = current(rows)
        assert [r.curve.test[0] for r in found.rows] == [0.25]
        assert found.notes == ["1 row of mine:Unit made by other code than it has now: left out"]


def test_a_file_that_holds_neither_leaves_both_out(own, tmp_path):
    (tmp_path / "mine.py").write_text("version = 3\n")
    forget()
    assert current(own).rows == []


def test_versions_stand_apart_where_the_file_is_not_here(own, tmp_path):
    (tmp_path / "mine.py").unlink()
    forget()
    found = current(own)
    names = {r.asked.unit for r in found.rows}
    assert len(names) == 2 and all(name.startswith("mine:Unit (") for name in names)
    assert "2 versions apart" in found.notes[0]
    alone = current(own[:1])
    assert [r.asked.unit for r in alone.rows] == ["mine:Unit"]


def test_a_recipe_that_is_no_longer_the_units_is_left_out():
    first, second = asks(PART)
    old = dataclasses.replace(second, recipe={**second.recipe, "rate": 0.5})
    found = current([row(first), row(old)])
    assert [r.asked for r in found.rows] == [first]
    assert "1 row of dmu" in found.notes[0]


def test_a_unit_that_this_version_does_not_have_is_shown_as_recorded():
    first, _ = asks(PART)
    gone = dataclasses.replace(first, unit="renamed_since")
    assert [r.asked.unit for r in current([row(gone)]).rows] == ["renamed_since"]
