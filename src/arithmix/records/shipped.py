"""Rows that come with the package, in one compressed file: curves end to end, words as JSON.

    python -m arithmix.records.shipped arithmix.db src/arithmix/results/nalm.npz 2

writes the rows of a store that were trained to the end on tasks of 2 inputs; with the name of a
ruler after that, the rows that this ruler stopped.
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


def save(rows: Iterable[Row], path: Path) -> None:
    """Write rows, each with the facts under which it was made."""
    listed = list(rows)
    facts = {json.dumps(row.made, sort_keys=True): row.made for row in listed}
    place = {text: number for number, text in enumerate(facts)}
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
        made=np.array([place[json.dumps(row.made, sort_keys=True)] for row in listed], dtype="<i4"),
        provenance=_bytes(list(facts.values())),
    )


def load(path: Path) -> list[Row]:
    """Read what `save` wrote; rows of another protocol are left out."""
    with np.load(path) as file:
        ends = np.cumsum(file["length"])[:-1]
        curves = [np.split(file[name], ends) for name in CURVES]
        words = json.loads(file["words"].tobytes())
        facts = json.loads(file["provenance"].tobytes())
        made = [facts[place] for place in file["made"]]
    rows = [
        Row(Asked(**asked), status, steps, Curve(*curve), parameters, facts)
        for (asked, status, steps, parameters), facts, *curve in zip(
            words, made, *curves, strict=True
        )
    ]
    return [row for row in rows if row.asked.protocol == PROTOCOL]


def _bytes(value: object) -> np.ndarray:
    return np.frombuffer(json.dumps(value, sort_keys=True).encode(), dtype=np.uint8)


if __name__ == "__main__":
    with Store(sys.argv[1], create=False) as store:
        inputs, stop = int(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else ""
        kept = [r for r in store.rows() if r.asked.inputs == inputs and r.asked.stop == stop]
        save(kept, Path(sys.argv[2]))
