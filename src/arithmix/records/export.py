"""Rows as CSV or Parquet, for whatever reads those."""

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..files import whole
from .row import Row

WORDS = ("unit", "operation", "range", "inputs", "seed", "stop", "grid", "source", "protocol")
CURVES = ("step", "validation", "test", "sparsity")


def export(rows: Iterable[Row], to: Path) -> int:
    """Write rows to a .csv or .parquet file; return how many."""
    kinds = {".csv": _csv, ".parquet": _parquet}
    if to.suffix not in kinds:
        raise ValueError(f"rows are exported to a .csv or .parquet file; got {to}")
    with whole(to) as part:
        return kinds[to.suffix](_flat(rows), part)


def _flat(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield {
            "key": row.asked.key,
            **{word: getattr(row.asked, word) for word in WORDS},
            "recipe": json.dumps(row.asked.recipe, sort_keys=True),
            "status": row.status,
            "steps": row.steps,
            "parameters": json.dumps(row.parameters, sort_keys=True),
            "provenance": json.dumps(row.made, sort_keys=True),
            **{name: getattr(row.curve, name).tolist() for name in CURVES},
        }


def _csv(rows: Iterable[dict[str, Any]], to: Path) -> int:
    count = 0
    with to.open("w", newline="", encoding="utf-8") as file:
        writer: csv.DictWriter[str] | None = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row | {name: json.dumps(row[name]) for name in CURVES})
            count += 1
    return count


def _parquet(rows: Iterable[dict[str, Any]], to: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    listed = list(rows)
    text = ("key", "unit", "operation", "range", "stop", "source", "recipe", "status")
    text += ("parameters", "provenance")
    numbers = ("inputs", "seed", "grid", "protocol", "steps")
    kinds = {
        **dict.fromkeys(text, pa.string()),
        **dict.fromkeys(numbers, pa.int64()),
        **dict.fromkeys(CURVES, pa.list_(pa.float32())),
        "step": pa.list_(pa.int32()),
    }
    pq.write_table(pa.Table.from_pylist(listed, pa.schema(list(kinds.items()))), to)
    return len(listed)
