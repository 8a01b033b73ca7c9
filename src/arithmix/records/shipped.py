"""Rows that come with the package, in one compressed file: curves end to end, words as JSON.

    python -m arithmix.records.shipped arithmix.db src/arithmix/results/nalm.npz 2

writes the rows of a store that were trained to the end on tasks of 2 inputs.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import numpy as np

from .row import PROTOCOL, Asked, Curve, Row
from .store import Store

CURVES = ("step", "validation", "test", "sparsity")
FOLDER = Path(__file__).parent.parent / "results"


def shipped(study: str) -> list[Row]:
    """The rows that come with the package for a study; none if there are none."""
    path = FOLDER / f"{study}.npz"
    return load(path) if path.exists() else []


def made_with(study: str) -> list[dict[str, str]]:
    """The facts under which the rows that come with the package were made."""
    path = FOLDER / f"{study}.npz"
    if not path.exists():
        return []
    with np.load(path) as file:
        return json.loads(file["provenance"].tobytes())


def save(rows: Iterable[Row], provenances: list[dict[str, str]], path: Path) -> None:
    """Write rows, and under what they were made."""
    listed = list(rows)
    words = [[asdict(row.asked), row.status, row.steps, row.parameters] for row in listed]

    def joined(name: str, kind: str) -> np.ndarray:
        return np.concatenate([getattr(row.curve, name) for row in listed]).astype(kind)

    np.savez_compressed(
        path,
        step=joined("step", "<i4"),
        validation=joined("validation", "<f4"),
        test=joined("test", "<f4"),
        sparsity=joined("sparsity", "<f4"),
        length=np.array([row.curve.step.size for row in listed], dtype="<i4"),
        words=_bytes(words),
        provenance=_bytes(provenances),
    )


def load(path: Path) -> list[Row]:
    """Read what `save` wrote; rows of another protocol are left out."""
    with np.load(path) as file:
        ends = np.cumsum(file["length"])[:-1]
        curves = [np.split(file[name], ends) for name in CURVES]
        words = json.loads(file["words"].tobytes())
    rows = [
        Row(Asked(**asked), status, steps, Curve(*curve), parameters)
        for (asked, status, steps, parameters), *curve in zip(words, *curves, strict=True)
    ]
    return [row for row in rows if row.asked.protocol == PROTOCOL]


def _bytes(value: object) -> np.ndarray:
    return np.frombuffer(json.dumps(value, sort_keys=True).encode(), dtype=np.uint8)


if __name__ == "__main__":
    with Store(sys.argv[1], create=False) as store:
        whole = [row for row in store.rows() if not row.asked.stop]
        kept = [row for row in whole if row.asked.inputs == int(sys.argv[3])]
        save(kept, [facts for facts, _ in store.provenances()], Path(sys.argv[2]))
