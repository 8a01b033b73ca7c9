"""The studies. Each file of this folder without a leading underscore is one experiment.

It has `study() -> Study`, what to train, and `tables(rows, study) -> list[Table]`, what came out.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, cast

from ..names import choose
from ..records.row import Row
from ..study import Study
from ..table import Table


class Experiment(Protocol):
    """What a file of this folder offers."""

    def study(self) -> Study:
        """What to train."""
        ...

    def tables(self, rows: list[Row], study: Study) -> list[Table]:
        """What came out."""
        ...


def experiments() -> dict[str, Experiment]:
    """Every experiment by the name of its study."""
    files = [file.name for file in iter_modules(__path__) if not file.name.startswith("_")]
    found = [cast(Experiment, import_module(f"{__name__}.{name}")) for name in files]
    return {experiment.study().name: experiment for experiment in found}


def experiment(name: str) -> Experiment:
    """The experiment of that name."""
    found = experiments()
    return found[choose(name, found, "study")]
