import dataclasses
import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

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


def test_a_row_is_replaced_in_one_piece(tmp_path):
    better = dataclasses.replace(row(), steps=7)
    with Store(tmp_path / "a.db") as store:
        store.add([row(), row(2)], HERE)
        store.add([better], Provenance({"where": "there"}), replace=True)
        back = {r.asked.seed: r for r in store.rows()}
    assert (back[0].steps, back[0].made) == (7, {"where": "there"})
    assert (back[2].steps, back[2].made) == (1000, {"where": "here"})


def _open_at_once(folder, rounds, barrier, told):
    for number in range(rounds):
        barrier.wait()
        try:
            with Store(folder / f"{number}.db") as store:
                store.add([row(os.getpid())], HERE)
            told.put("fine")
        except Exception as error:
            told.put(str(error))


def test_processes_that_make_one_file_at_once_all_write_to_it(tmp_path):
    context, processes, rounds = multiprocessing.get_context("fork"), 4, 50
    barrier, told = context.Barrier(processes), context.SimpleQueue()
    arguments = (tmp_path, rounds, barrier, told)
    started = [context.Process(target=_open_at_once, args=arguments) for _ in range(processes)]
    for process in started:
        process.start()
    assert {told.get() for _ in range(processes * rounds)} == {"fine"}
    for process in started:
        process.join()
    for number in range(rounds):
        with Store(tmp_path / f"{number}.db", create=False) as store:
            assert len(store.keys()) == processes


READ = """
import os, sys
from arithmix.records.store import Store
if os.getuid() == 0:
    os.setuid(65534)  # nobody, whom a folder's mode keeps out
try:
    open(sys.argv[1] + "/new", "w")
    sys.exit("the folder can be written, so this shows nothing")
except OSError:
    pass
with Store(sys.argv[1] + "/a.db", create=False) as store:
    print(len(list(store.rows())))
"""


@pytest.mark.parametrize("state", ["closed", "killed"])
def test_records_are_read_where_nothing_can_be_written(state):
    # Not in tmp_path, into which nobody else may look.
    with tempfile.TemporaryDirectory() as place:
        made, folder = Path(place) / "made", Path(place) / "read"
        folder.mkdir()
        with Store(made / "a.db") as store:
            store.add([row(0), row(1)], HERE)
            if state == "killed":  # a process that is killed leaves rows that are still in the log
                for part in ("a.db", "a.db-wal"):
                    shutil.copy(made / part, folder)
        if state == "closed":
            shutil.copy(made / "a.db", folder)
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        for path in folder.iterdir():
            path.chmod(0o444)
        Path(place).chmod(0o755)
        folder.chmod(0o555)
        line = [sys.executable, "-c", READ, str(folder)]
        done = subprocess.run(line, capture_output=True, text=True)
        folder.chmod(0o755)
        assert done.stdout.strip() == "2", done.stderr
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_reading_changes_no_bit_of_the_file(tmp_path):
    with Store(tmp_path / "a.db") as store:
        store.add([row()], HERE)
    before = (tmp_path / "a.db").read_bytes()
    with Store(tmp_path / "a.db", create=False) as store:
        assert len(list(store.rows())) == 1
        with pytest.raises(StoreError):
            store.add([row(3)], HERE)
    assert {path.name for path in tmp_path.iterdir()} == {"a.db"}
    assert (tmp_path / "a.db").read_bytes() == before


def test_an_empty_file_is_no_records_and_stays_empty(tmp_path):
    (tmp_path / "a.db").touch()
    with pytest.raises(StoreError, match="there are no records"):
        Store(tmp_path / "a.db", create=False)
    assert (tmp_path / "a.db").read_bytes() == b""


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
    with pytest.raises(StoreError, match="is a folder; name a file in it"):
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
