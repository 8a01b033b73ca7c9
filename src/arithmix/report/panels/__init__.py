"""The panels. Each file of this folder without a leading underscore is one panel.

It has `ORDER`, its place on the page; `TITLE`; `ABOUT`, how to read it; `COMMAND`, what makes it
again; and `parts(data)`, which is empty if there is nothing to show.
"""

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, cast

from ..data import Data
from ..parts import Part


class PanelFile(Protocol):
    """What a file of this folder offers."""

    ORDER: int
    TITLE: str
    ABOUT: str
    COMMAND: str

    def parts(self, data: Data) -> Sequence[Part]:
        """What to show."""
        ...


def panels() -> dict[str, PanelFile]:
    """Every panel by the name of its file, in the order of the page."""
    names = [file.name for file in iter_modules(__path__) if not file.name.startswith("_")]
    found = {name: cast(PanelFile, import_module(f"{__name__}.{name}")) for name in names}
    return dict(sorted(found.items(), key=lambda item: item[1].ORDER))
