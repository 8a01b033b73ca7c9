"""`arithmix status`."""

from collections import Counter
from collections.abc import Sequence

from ..records.row import Row
from ..records.store import Store
from ..studies import experiments
from ..studies._rows import of_study
from ..table import Table, write
from ._options import DATABASE, Database, console
from ._records import selected


def status(db: Database = DATABASE) -> None:
    """Show what the records hold, and how much of each study that is."""
    with Store(db, create=False) as store:
        rows = list(store.rows())
        made = store.provenances()
    now = selected(rows)
    lines, known = [], set()
    for name, one in experiments().items():
        study = one.study()
        there = of_study(now, study)
        known |= {row.asked.key for row in there}
        lines.append([name, f"{len(there)}/{study.members}", _ended(there)])
    tables = [Table(f"{db}: {len(rows)} rows", ["study", "members", "how they ended"], lines)]
    others = [row for row in now if row.asked.key not in known]
    if others:
        tables.append(_others(others))
    facts = sorted({key for one, _ in made for key in one})
    tables.append(
        Table(
            "Made with",
            ["rows", *facts],
            [[str(n), *(f.get(k, "-") for k in facts)] for f, n in made],
        )
    )
    write(tables, "terminal", console())


def _others(rows: Sequence[Row]) -> Table:
    """Rows that no study of the package names: of users' own units, or of settings of others."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.asked.unit, []).append(row)
    lines = [
        [
            unit,
            str(len(those)),
            ", ".join(dict.fromkeys(row.asked.operation for row in those)),
            ", ".join(dict.fromkeys(row.asked.range for row in those)),
            _ended(those),
        ]
        for unit, those in groups.items()
    ]
    header = ["unit", "members", "operations", "ranges", "how they ended"]
    return Table("Units of your own, and other settings", header, lines)


def _ended(rows: Sequence[Row]) -> str:
    counts = Counter(row.status for row in rows)
    ended = [f"{counts[key]} {key}" for key in ("stopped", "trained", "diverged") if counts[key]]
    return ", ".join(ended) or "-"
