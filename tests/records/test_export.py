import csv
import dataclasses
import json

import pyarrow.parquet as pq
import pytest

from arithmix.records.export import export
from arithmix.records.shipped import FOLDER, load, save

from .test_store import row


def test_rows_are_exported_whole(tmp_path):
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


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_an_export_tells_versions_and_provenances_apart(tmp_path, suffix):
    rows = [
        dataclasses.replace(row(source="old"), made={"commit": "a"}),
        dataclasses.replace(row(source="new"), made={"commit": "b"}),
        row(0),
    ]
    path = tmp_path / f"rows.{suffix}"
    export(rows, path)
    if suffix == "parquet":
        table = pq.read_table(path).to_pylist()
    else:
        with path.open() as file:
            table = list(csv.DictReader(file))
    assert [line["source"] or None for line in table] == ["old", "new", None]
    assert [json.loads(line["provenance"]) for line in table] == [
        {"commit": "a"},
        {"commit": "b"},
        {},
    ]
    assert [int(line["grid"]) for line in table] == [1000] * 3
    assert len({line["key"] for line in table}) == 3


def test_an_export_that_fails_leaves_what_was_there(tmp_path):
    def failing():
        yield row(0)
        raise OSError(28, "No space left on device")

    for name in ("rows.csv", "rows.parquet"):
        path = tmp_path / name
        export([row(5)], path)
        before = path.read_bytes()
        with pytest.raises(ValueError, match="can't be written: No space left"):
            export(failing(), path)
        assert path.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"rows.csv", "rows.parquet"}


def test_shipped_rows_know_under_what_each_was_made(tmp_path):
    rows = [dataclasses.replace(row(seed), made={"mode": "ab"[seed % 2]}) for seed in range(5)]
    save(rows, tmp_path / "some.npz")
    back = load(tmp_path / "some.npz")
    assert [r.made for r in back] == [r.made for r in rows]
    assert [r.asked.key for r in back] == [r.asked.key for r in rows]


def test_every_row_that_comes_with_the_package_has_its_provenance():
    for path in sorted(FOLDER.glob("*.npz")):
        assert all(r.made["commit"] and r.made["device"] for r in load(path)), path.name
