"""Exact arithmetic inside a language model: its text's numbers, read, computed and written.

Loaded on first use: numbers alone need no torch; `attach`, `detach`, `load`, `build` and `Reader`
do, and the extra `lm`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .building import build as build
    from .exact import compute as compute
    from .loading import load as load
    from .model import attach as attach
    from .model import detach as detach
    from .numbers import Number as Number
    from .numbers import Style as Style
    from .numbers import find as find
    from .reader import Reader as Reader
    from .writing import write as write

_PUBLIC = {
    "Number": "numbers",
    "Reader": "reader",
    "Style": "numbers",
    "attach": "model",
    "build": "building",
    "compute": "exact",
    "detach": "model",
    "find": "numbers",
    "load": "loading",
    "write": "writing",
}
__all__ = [
    "Number",
    "Reader",
    "Style",
    "attach",
    "build",
    "compute",
    "detach",
    "find",
    "load",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
