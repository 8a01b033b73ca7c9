"""`torch.compile` for functions that are made again and again from the same lines of code."""

from collections.abc import Callable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

import torch

P = ParamSpec("P")
R = TypeVar("R")


def compiled_anew(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    """Compile a function with a cache of its own.

    What torch compiles it remembers by code object. Every population's update is made from the same
    lines, so without a copy of these each would meet the others' guards, and after eight of them
    torch gives up. Clearing the memory instead would throw away what the caller has compiled.
    """
    assert isinstance(function, FunctionType)
    copy = FunctionType(
        function.__code__.replace(),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return torch.compile(copy, fullgraph=True, **options)
