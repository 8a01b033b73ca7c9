"""Tables and figures for a paper."""

import pytest

from arithmix.report.data import Data
from arithmix.report.printed import (
    FORMATS,
    paper_tables,
    write_figures,
    write_landscapes,
    write_tables,
)
from arithmix.table import Table
from arithmix.tasks import OPERATIONS, RANGES

from .made import landscape, row

UNIT = r"a$b$_{\x}&<y>"
ROWS = [row(unit, "mul", range_) for unit in ("dmu", UNIT) for range_ in RANGES]


def test_the_papers_tables_are_there_without_rows(tmp_path):
    written = write_tables(Data([]), {"more": [Table("7 of 9 x: y", ["a"], [["1"]])]}, tmp_path)
    names = {path.stem for path in written}
    assert {f"paper-success-on-{operation}" for operation in OPERATIONS} <= names
    assert {"paper-statistics-of-dmu", "paper-thresholds-of-dmu", "more-x"} <= names
    assert not write_figures(Data([]), tmp_path, "png")


def test_printed_tables_hold_what_was_printed():
    tables = {table.title: table for table in paper_tables()}
    add = tables["Success on add"]
    assert [row[0] for row in add.rows] == list(RANGES)
    assert {row[1] for row in add.rows} == {"100%"}


@pytest.mark.parametrize("form", FORMATS)
def test_figures_are_written_whatever_a_unit_is_called(tmp_path, form):
    written = write_figures(Data(ROWS), tmp_path, form)
    kinds = {path.stem.partition("-mul-")[0] for path in written}
    assert kinds == {"success", "success-bars", "convergence", "sparsity"}
    assert all(path.stat().st_size > 1000 for path in written)


def test_landscapes_are_written(tmp_path):
    written = write_landscapes(Data([], kept={"landscape/sub/sym": landscape()}), tmp_path, "pdf")
    assert [path.name for path in written] == ["landscape-sub-sym.pdf"]
    assert written[0].stat().st_size > 1000


def test_equal_rows_make_equal_files(tmp_path):
    first = {p.name: p.read_bytes() for p in write_figures(Data(ROWS[:9]), tmp_path, "svg")}
    again = {p.name: p.read_bytes() for p in write_figures(Data(ROWS[:9]), tmp_path, "svg")}
    assert first == again
