"""`arithmix list`."""

import sys

from ..measure.rulers import RULERS
from ..studies import experiments
from ..table import Table, write
from ..tasks import OPERATIONS, RANGES
from ._options import console


def list_() -> None:
    """List units, studies, operations, ranges and rulers."""
    from ..units import units

    def first_line(text: str | None) -> str:
        return (text or "").strip().partition("\n")[0]

    known = [
        [name, " ".join(o for o in OPERATIONS if o in unit.exact), first_line(_module_doc(unit))]
        for name, unit in units().items()
    ]
    studies = [
        [name, str(one.study().members), one.study().ruler, one.study().about]
        for name, one in experiments().items()
    ]
    places = [
        [name, _interval(r.train), " or ".join(map(_interval, r.test))]
        for name, r in RANGES.items()
    ]
    tables = [
        Table("Units", ["unit", "exact", "what it is"], known),
        Table("Studies", ["study", "members", "ruler", "what it is"], studies),
        Table(
            "Operations", ["operation", "sign"], [[o.name, o.symbol] for o in OPERATIONS.values()]
        ),
        Table("Ranges", ["range", "trained on", "tested on"], places),
        Table("Rulers", ["ruler", "rule"], [[r.name, r.about] for r in RULERS.values()]),
    ]
    write(tables, "terminal", console())


def _module_doc(cls: type) -> str | None:
    return sys.modules[cls.__module__].__doc__


def _interval(interval: tuple[float, float]) -> str:
    return f"[{interval[0]:g}, {interval[1]:g})"
