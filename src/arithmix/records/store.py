"""The store: rows in one SQLite file. A row is written once, whole, or not at all."""

import io
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from .provenance import Provenance
from .row import PROTOCOL, Asked, Curve, Row

APPLICATION = 0x41524D58  # "ARMX": says whose file this is
SCHEMA = 1
TABLES = """
CREATE TABLE provenance (id TEXT PRIMARY KEY, facts TEXT NOT NULL);
CREATE TABLE rows (
    key TEXT PRIMARY KEY,
    unit TEXT NOT NULL, operation TEXT NOT NULL, range TEXT NOT NULL,
    inputs INTEGER NOT NULL, seed INTEGER NOT NULL, stop TEXT NOT NULL,
    protocol INTEGER NOT NULL, asked TEXT NOT NULL,
    status TEXT NOT NULL, steps INTEGER NOT NULL,
    step BLOB NOT NULL, validation BLOB NOT NULL, test BLOB NOT NULL, sparsity BLOB NOT NULL,
    parameters TEXT NOT NULL,
    provenance TEXT NOT NULL REFERENCES provenance (id)
);
CREATE INDEX rows_by_unit ON rows (unit, operation, range, seed);
"""
KEPT = """
CREATE TABLE IF NOT EXISTS kept (
    name TEXT PRIMARY KEY, arrays BLOB NOT NULL,
    provenance TEXT NOT NULL REFERENCES provenance (id)
)
"""


class StoreError(ValueError):
    """A store that can't be used, in one sentence."""


class Store:
    """An open file of rows.

    Args:
        path: The file. It is made, with its folder, unless `create` is false.
        create: Whether a file that is not there is made or refused.
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.exists():
            raise StoreError(f"there are no records at {self.path}; `arithmix run` makes them")
        try:
            if create:
                self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"the folder {self.path.parent} can't be made: {error.strerror}; name another file"
            ) from error
        with self._plainly():
            self._db = sqlite3.connect(self.path, timeout=5, isolation_level=None)
            self._open()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> "Store":
        """Use the store in a `with`."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def keys(self) -> set[str]:
        """The identities of all rows."""
        with self._plainly():
            return {key for (key,) in self._db.execute("SELECT key FROM rows")}

    def add(self, rows: Iterable[Row], provenance: Provenance) -> None:
        """Write rows in one transaction; one that is there already stays as it is."""
        values = [_values(row, provenance) for row in rows]
        with self._plainly(), self._transaction():
            self._note(provenance)
            marks = ",".join("?" * 17)
            self._db.executemany(f"INSERT OR IGNORE INTO rows VALUES ({marks})", values)

    def remove(self, keys: Iterable[str]) -> None:
        """Forget rows, so that they are made again."""
        with self._plainly(), self._transaction():
            self._db.executemany("DELETE FROM rows WHERE key = ?", [(key,) for key in keys])

    def rows(self) -> Iterator[Row]:
        """All rows of the present protocol, in the order of unit, operation, range and seed."""
        order = "unit, inputs, operation, range, seed, stop, rowid"
        with self._plainly():
            found = self._db.execute(
                "SELECT asked, status, steps, step, validation, test, sparsity, parameters "
                f"FROM rows WHERE protocol = ? ORDER BY {order}",
                (PROTOCOL,),
            )
            for asked, status, steps, step, validation, test, sparsity, parameters in found:
                arrays = [np.frombuffer(blob, "<f4") for blob in (validation, test, sparsity)]
                curve = Curve(np.frombuffer(step, "<i4"), *arrays)
                yield Row(Asked(**json.loads(asked)), status, steps, curve, json.loads(parameters))

    def provenances(self) -> list[tuple[dict[str, str], int]]:
        """The facts under which rows were made, and how many were."""
        query = "SELECT facts, count(*) FROM rows JOIN provenance ON provenance = id GROUP BY id"
        with self._plainly():
            return [(json.loads(facts), count) for facts, count in self._db.execute(query)]

    def keep(self, name: str, arrays: Mapping[str, np.ndarray], provenance: Provenance) -> None:
        """Write named arrays under `name`, in the place of any that are there."""
        file = io.BytesIO()
        named: dict[str, Any] = dict(arrays)
        np.savez_compressed(file, **named)
        with self._plainly(), self._transaction():
            self._note(provenance)
            self._db.execute(KEPT)
            self._db.execute(
                "INSERT OR REPLACE INTO kept VALUES (?, ?, ?)",
                (name, file.getvalue(), provenance.id),
            )

    def kept(self, prefix: str = "") -> dict[str, dict[str, np.ndarray]]:
        """The arrays under every name that begins with `prefix`, in the order of the names."""
        with self._plainly():
            there = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'kept'").fetchone()
            query = "SELECT name, arrays FROM kept WHERE substr(name, 1, ?) = ? ORDER BY name"
            found = self._db.execute(query, (len(prefix), prefix)).fetchall() if there else []
        return {name: _arrays(blob) for name, blob in found}

    def _note(self, provenance: Provenance) -> None:
        facts = json.dumps(provenance.facts, sort_keys=True)
        self._db.execute("INSERT OR IGNORE INTO provenance VALUES (?, ?)", (provenance.id, facts))

    def _open(self) -> None:
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        (schema,) = self._db.execute("PRAGMA user_version").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application != APPLICATION and (application or tables):
            raise StoreError(
                f"{self.path} is a database of another program and is left as it is; "
                f"name another file"
            )
        if application == APPLICATION and schema != SCHEMA:
            raise StoreError(
                f"{self.path} has the layout {schema} and this arithmix reads {SCHEMA}; "
                f"read it with the arithmix that made it, or name another file"
            )
        if application == APPLICATION:
            (fine,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
            if fine != "ok":
                raise sqlite3.DatabaseError("malformed")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        if application != APPLICATION:
            with self._transaction():
                for statement in filter(str.strip, TABLES.split(";")):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {SCHEMA}")
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        """Say in one sentence what SQLite says in a few words."""
        try:
            yield
        except sqlite3.Error as error:
            said = str(error).lower()
            for sign, sentence in COMPLAINTS.items():
                if sign in said:
                    raise StoreError(sentence.format(path=self.path)) from error
            raise StoreError(f"{self.path} can't be used: {error}; name another file") from error


COMPLAINTS = {
    "locked": "{path} is in use by another program; try again when that has ended",
    "readonly": "{path} can't be written; make it and its folder writable or name another file",
    "unable to open": "{path} can't be opened; make its folder writable or name another file",
    "not a database": "{path} is not an arithmix database and is left as it is; name another file",
    "malformed": "{path} is damaged, perhaps cut short, and is left as it is; name another file",
    "full": "the disk is full and the last rows were not written to {path}; "
    "what was there is whole: make room and run the same command again",
    "disk i/o": "{path} can't be read or written as it should (disk I/O error); "
    "look at the disk and run the same command again",
}


def _arrays(blob: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(blob), allow_pickle=False) as file:
        return dict(file)


def _values(row: Row, provenance: Provenance) -> tuple[object, ...]:
    asked, curve = row.asked, row.curve
    return (
        *(
            asked.key,
            asked.unit,
            asked.operation,
            asked.range,
            asked.inputs,
            asked.seed,
            asked.stop,
        ),
        *(asked.protocol, json.dumps(asdict(asked), sort_keys=True), row.status, row.steps),
        curve.step.astype("<i4").tobytes(),
        *(a.astype("<f4").tobytes() for a in (curve.validation, curve.test, curve.sparsity)),
        json.dumps(row.parameters, sort_keys=True),
        provenance.id,
    )
