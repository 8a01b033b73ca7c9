"""Whether two modules differ in anything but their tensors, however deep it is hidden."""

import types
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

INTERNAL = set(vars(nn.Module()))
"""What torch itself keeps on every module."""


def difference(one: nn.Module, other: nn.Module, *, tensors: bool = False) -> str | None:
    """The name of the first thing in which two modules differ; None if they are alike.

    Parameters and buffers may differ, unless `tensors` asks for these too. What can't be compared
    counts as different.
    """
    mine, theirs = dict(one.named_modules()), dict(other.named_modules())
    if mine.keys() != theirs.keys():
        return "its submodules"
    for path, module in mine.items():
        twin = theirs[path]
        if type(module) is not type(twin):
            return path or "its class"
        if (name := _unlike(_own(module), _own(twin))) is not None:
            return f"{path}.{name}" if path else name
    for kind in ("named_parameters", "named_buffers"):
        ours, others = dict(getattr(one, kind)()), dict(getattr(other, kind)())
        if ours.keys() != others.keys():
            return "its parameters"
        for name, tensor in ours.items():
            twin = others[name]
            if _layout(tensor) != _layout(twin) or (tensors and not _same(tensor, twin, ())):
                return name
    return None


def _own(module: nn.Module) -> dict[str, Any]:
    """What a module's author put on it besides tensors and submodules."""
    torchs = type(module).__module__.startswith("torch.")
    return {
        key: value
        for key, value in vars(module).items()
        if key not in INTERNAL and not (torchs and key.startswith("_"))
    }


def _layout(tensor: torch.Tensor) -> tuple[object, ...]:
    return tensor.shape, tensor.dtype, tensor.requires_grad


def _unlike(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    for key in dict.fromkeys([*one, *other]):
        if key not in one or key not in other or not _same(one[key], other[key], ()):
            return key
    return None


def _same(a: Any, b: Any, path: tuple[int, ...]) -> bool:
    """Whether two values are equal, as far as can be told."""
    if a is b or id(a) in path:  # what refers back to itself was compared on the way here
        return True
    if type(a) is not type(b):
        return False
    path = (*path, id(a))
    match a:
        case torch.Tensor():
            return a.shape == b.shape and a.dtype == b.dtype and _equal(a, b)
        case np.ndarray():
            return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
        case nn.Module():
            return difference(a, b, tensors=True) is None
        case dict():
            return a.keys() == b.keys() and all(_same(a[key], b[key], path) for key in a)
        case list() | tuple():
            return len(a) == len(b) and all(_same(*pair, path) for pair in zip(a, b, strict=True))
        case types.FunctionType():
            return a.__code__ == b.__code__ and _same(_closed(a), _closed(b), path)
        case types.MethodType():
            return a.__func__ is b.__func__ and _same(a.__self__, b.__self__, path)
        case str() | bytes() | int() | float() | complex() | set() | frozenset():
            return a == b or (a != a and b != b)  # two NaN are alike
    inside = getattr(a, "__dict__", None)
    return inside is not None and _same(inside, b.__dict__, path)


def _equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(((a == b) | ((a != a) & (b != b))).all())


def _closed(function: types.FunctionType) -> list[Any]:
    """What a function carries with it."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [function.__defaults__, function.__kwdefaults__, cells]
