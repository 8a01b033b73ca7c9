"""Arithmix: neural arithmetic units, the benchmark that judges them, and its engine."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .units import Recipe as Recipe
    from .units import Restart as Restart
    from .units import Unit as Unit
    from .units.dmu import DMU as DMU

__version__ = "0.1.0"

# Loaded on first use: what reads records alone should not wait for torch.
_PUBLIC = {"DMU": "units.dmu", "Recipe": "units", "Restart": "units", "Unit": "units"}
__all__ = ["DMU", "Recipe", "Restart", "Unit"]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
