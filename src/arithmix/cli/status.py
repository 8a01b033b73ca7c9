"""`arithmix status`."""

from ..records.store import Store
from ..studies import experiments
from ..studies._rows import of_study
from ..table import Table, write
from ._options import DATABASE, Database, console


def status(db: Database = DATABASE) -> None:
    """Show what the records hold, and how much of each study that is."""
    with Store(db, create=False) as store:
        rows = list(store.rows())
        made = store.provenances()
    lines = []
    for name, one in experiments().items():
        study = one.study()
        there = of_study(rows, study)
        ended = {
            key: sum(r.status == key for r in there) for key in ("stopped", "trained", "diverged")
        }
        words = ", ".join(f"{count} {key}" for key, count in ended.items() if count)
        lines.append([name, f"{len(there)}/{study.members}", words or "-"])
    tables = [Table(f"{db}: {len(rows)} rows", ["study", "members", "how they ended"], lines)]
    facts = sorted({key for one, _ in made for key in one})
    tables.append(
        Table(
            "Made with",
            ["rows", *facts],
            [[str(n), *(f.get(k, "-") for k in facts)] for f, n in made],
        )
    )
    write(tables, "terminal", console())
