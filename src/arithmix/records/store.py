"""The store: rows in one SQLite file. A row is written whole or not at all."""

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from .database import Database, ReadOnly
from .database import StoreError as StoreError
from .provenance import Provenance
from .row import PROTOCOL, Asked, Curve, Row

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


class Store:
    """An open file of rows.

    Args:
        path: The file. It is made, with its folder, unless it is only to be read.
        create: Whether rows are to be written. Without it the file must be there, is not changed
            by a bit, and may lie where nothing can be written.
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        self._file = Database(self.path, TABLES) if create else ReadOnly(self.path)
        self._db = self._file.connection
        self._facts: dict[str | None, dict[str, str]] = {None: {}}

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> "Store":
        """Use the store in a `with`."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def keys(self) -> set[str]:
        """The identities of all rows."""
        with self._file.plainly():
            return {key for (key,) in self._db.execute("SELECT key FROM rows")}

    def add(self, rows: Iterable[Row], provenance: Provenance, *, replace: bool = False) -> None:
        """Write rows in one transaction; one that is there already stays, unless it is replaced."""
        values = [_values(row, provenance) for row in rows]
        with self._file.plainly(), self._file.transaction():
            self._note(provenance)
            marks = ",".join("?" * 17)
            verb = "INSERT OR REPLACE" if replace else "INSERT OR IGNORE"
            self._db.executemany(f"{verb} INTO rows VALUES ({marks})", values)

    def rows(self) -> Iterator[Row]:
        """All rows of the present protocol, in the order of unit, operation, range and seed."""
        order = "unit, inputs, operation, range, seed, stop, rows.rowid"
        with self._file.plainly():
            found = self._db.execute(
                "SELECT asked, status, steps, step, validation, test, sparsity, parameters, facts "
                "FROM rows LEFT JOIN provenance ON provenance = id "
                f"WHERE protocol = ? ORDER BY {order}",
                (PROTOCOL,),
            )
            for asked, status, steps, step, validation, test, sparsity, parameters, facts in found:
                arrays = [np.frombuffer(blob, "<f4") for blob in (validation, test, sparsity)]
                curve = Curve(np.frombuffer(step, "<i4"), *arrays)
                if facts not in self._facts:  # rows made under the same facts share them
                    self._facts[facts] = json.loads(facts)
                words = (Asked(**json.loads(asked)), status, steps, curve, json.loads(parameters))
                yield Row(*words, self._facts[facts])

    def provenances(self) -> list[tuple[dict[str, str], int]]:
        """The facts under which rows were made, and how many were."""
        query = "SELECT facts, count(*) FROM rows JOIN provenance ON provenance = id GROUP BY id"
        with self._file.plainly():
            return [(json.loads(facts), count) for facts, count in self._db.execute(query)]

    def keep(self, name: str, arrays: Mapping[str, np.ndarray], provenance: Provenance) -> None:
        """Write named arrays under `name`, in the place of any that are there."""
        file = io.BytesIO()
        named: dict[str, Any] = dict(arrays)
        np.savez_compressed(file, **named)
        with self._file.plainly(), self._file.transaction():
            self._note(provenance)
            self._db.execute(KEPT)
            self._db.execute(
                "INSERT OR REPLACE INTO kept VALUES (?, ?, ?)",
                (name, file.getvalue(), provenance.id),
            )

    def kept(self, prefix: str = "") -> dict[str, dict[str, np.ndarray]]:
        """The arrays under every name that begins with `prefix`, in the order of the names."""
        with self._file.plainly():
            there = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'kept'").fetchone()
            query = "SELECT name, arrays FROM kept WHERE substr(name, 1, ?) = ? ORDER BY name"
            found = self._db.execute(query, (len(prefix), prefix)).fetchall() if there else []
        return {name: _arrays(blob) for name, blob in found}

    def _note(self, provenance: Provenance) -> None:
        facts = json.dumps(provenance.facts, sort_keys=True)
        self._db.execute("INSERT OR IGNORE INTO provenance VALUES (?, ?)", (provenance.id, facts))


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
