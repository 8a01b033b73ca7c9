import json
import sqlite3

import numpy as np
import pytest

from arithmix.records.export import export
from arithmix.records.provenance import Provenance
from arithmix.records.row import Asked, Curve, Row
from arithmix.records.store import Store, StoreError

HERE = Provenance({"where": "here"})


def row(seed=0, **more):
    asked = Asked("dmu", "add", "sym", 2, seed, "dmu", 1000, {"rate": 0.01}, **more)
    values = np.array([1.5, np.nan, np.float32(1e-7)], dtype=np.float32)
    curve = Curve(np.array([0, 7, 1000]), values, values / 3, values * 0)
    return Row(asked, "stopped", 1000, curve, {"gate": [[0.1, -0.2]]})


def test_a_row_comes_back_to_the_last_bit(tmp_path):
    with Store(tmp_path / "a.db") as store:
        store.add([row(1), row(0)], HERE)
        back = list(store.rows())
    assert [r.asked.seed for r in back] == [0, 1]
    assert back[0].asked == row(0).asked
    assert back[0].parameters == row(0).parameters
    for name in ("step", "validation", "test", "sparsity"):
        mine, theirs = getattr(back[0].curve, name), getattr(row(0).curve, name)
        assert np.array_equal(mine, theirs, equal_nan=True)


def test_a_row_is_written_once(tmp_path):
    with Store(tmp_path / "a.db") as store:
        store.add([row()], HERE)
        store.add([row(), row(2)], HERE)
        assert len(list(store.rows())) == 2
        assert store.provenances() == [({"where": "here"}, 2)]


def test_the_key_is_all_that_was_asked():
    assert row().asked.key == row().asked.key
    assert len({row().asked.key, row(1).asked.key, row(source="x").asked.key}) == 3


def test_a_foreign_database_is_refused_and_untouched(tmp_path):
    path = tmp_path / "foreign.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_untouched(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, " * 100)
    with pytest.raises(StoreError, match="not an arithmix database"):
        Store(path)
    assert path.read_text().startswith("these are my notes")


def test_a_truncated_file_is_refused_and_untouched(tmp_path):
    path = tmp_path / "a.db"
    with Store(path) as store:
        store.add([row(seed) for seed in range(200)], HERE)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match="damaged"):
        Store(path)
    assert path.read_bytes() == whole[: len(whole) // 2]


def test_a_locked_file_says_so(tmp_path, monkeypatch):
    path = tmp_path / "a.db"
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda p, timeout, **more: connect(p, timeout=0.1, **more)
    )
    with Store(path) as store:
        store.add([row()], HERE)
        other = connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="in use by another program"):
            store.add([row(3)], HERE)
        other.execute("ROLLBACK")
        other.close()
        store.add([row(3)], HERE)
        assert len(list(store.rows())) == 2


def test_a_full_disk_loses_nothing_that_was_there(tmp_path):
    with Store(tmp_path / "a.db") as store:
        store.add([row()], HERE)
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(StoreError, match="disk is full"):
            store.add([row(seed) for seed in range(1, 500)], HERE)
        assert [r.asked.seed for r in store.rows()] == [0]


def test_a_folder_that_can_not_be_made_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't be made"):
        Store(tmp_path / "file" / "a.db")


def test_a_folder_in_the_place_of_the_file_says_so(tmp_path):
    with pytest.raises(StoreError, match="can't be opened"):
        Store(tmp_path)


def test_a_read_only_file_says_so(tmp_path):
    with Store(tmp_path / "a.db") as store:
        store._db.execute("PRAGMA query_only = ON")
        with pytest.raises(StoreError, match="can't be written; make it and its folder writable"):
            store.add([row()], HERE)


def test_records_that_are_not_there_say_what_to_do(tmp_path):
    with pytest.raises(StoreError, match="`arithmix run` makes them"):
        Store(tmp_path / "none.db", create=False)
    assert not list(tmp_path.iterdir())


def test_arrays_are_kept_under_a_name(tmp_path):
    arrays = {"loss": np.array([[1.0, np.nan], [np.inf, 1e-300]]), "kind": np.array(["a", "bcd"])}
    with Store(tmp_path / "a.db") as store:
        assert store.kept() == {}
        store.keep("landscape/b", {"loss": np.zeros(3)}, HERE)
        store.keep("landscape/b", arrays, HERE)
        store.keep("landscape/a", {"none": np.zeros((0, 3))}, HERE)
        store.keep("other", {}, HERE)
    with Store(tmp_path / "a.db", create=False) as store:
        back = store.kept("landscape/")
        assert set(store.kept()) == {"landscape/a", "landscape/b", "other"}
    assert list(back) == ["landscape/a", "landscape/b"]
    assert back["landscape/a"]["none"].shape == (0, 3)
    for name, array in arrays.items():
        assert back["landscape/b"][name].dtype == array.dtype
        np.testing.assert_array_equal(back["landscape/b"][name], array)


def test_a_file_without_kept_arrays_has_none(tmp_path):
    with Store(tmp_path / "a.db") as store:
        store.add([row()], HERE)
        assert store.kept("landscape/") == {}
        store.keep("landscape/a", {"x": np.ones(2)}, HERE)
        assert len(list(store.rows())) == 1


def test_rows_are_exported_whole(tmp_path):
    import pyarrow.parquet as pq

    assert export([row(0), row(1)], tmp_path / "rows.parquet") == 2
    table = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert [line["seed"] for line in table] == [0, 1]
    assert table[0]["step"] == [0, 7, 1000]
    assert export([row(0)], tmp_path / "rows.csv") == 1
    head, line = (tmp_path / "rows.csv").read_text().splitlines()
    assert head.startswith("key,unit,operation,range,inputs,seed")
    assert json.dumps([0, 7, 1000]) in line
    with pytest.raises(ValueError, match=r"\.csv or \.parquet"):
        export([row()], tmp_path / "rows.txt")
