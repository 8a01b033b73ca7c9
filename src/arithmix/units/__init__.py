"""The units. Each file of this folder without a leading underscore is one, found by being here."""

from importlib import import_module
from pkgutil import iter_modules

from ._base import Unit as Unit
from ._recipe import Recipe as Recipe
from ._recipe import Restart as Restart


def units() -> dict[str, type[Unit]]:
    """Every unit of the package by its name."""
    found: dict[str, type[Unit]] = {}
    for file in iter_modules(__path__):
        if not file.name.startswith("_"):
            module = import_module(f"{__name__}.{file.name}")
            for value in vars(module).values():
                own = isinstance(value, type) and value.__module__ == module.__name__
                if own and issubclass(value, Unit):
                    found[value.name] = value
    return found
