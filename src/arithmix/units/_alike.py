"""Whether two modules differ in anything but their tensors, however deep it is hidden."""

import types
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

INTERNAL = set(vars(nn.Module()))
"""What torch itself keeps on every module."""


Seen = set[tuple[int, int]]
"""Pairs that are being compared: what leads back to one of them has no further difference."""


def difference(
    one: nn.Module, other: nn.Module, *, tensors: bool = False, seen: Seen | None = None
) -> str | None:
    """The name of the first thing in which two modules differ; None if they are alike.

    Parameters and buffers may differ, unless `tensors` asks for these too. What can't be compared
    counts as different.
    """
    seen = set() if seen is None else seen
    mine, theirs = dict(one.named_modules()), dict(other.named_modules())
    if mine.keys() != theirs.keys():
        return "its submodules"
    seen |= {(id(module), id(theirs[path])) for path, module in mine.items()}
    for path, module in mine.items():
        twin = theirs[path]
        if not _same_class(type(module), type(twin)):
            return path or "its class"
        if (name := _unlike(_own(module), _own(twin), seen)) is not None:
            return f"{path}.{name}" if path else name
    for kind in ("named_parameters", "named_buffers"):
        ours, others = dict(getattr(one, kind)()), dict(getattr(other, kind)())
        if ours.keys() != others.keys():
            return "its parameters"
        for name, tensor in ours.items():
            twin = others[name]
            if _layout(tensor) != _layout(twin) or (tensors and not _same(tensor, twin, seen)):
                return name
    return None


def _same_class(one: type, other: type) -> bool:
    """Whether two classes are one, or were made alike: torch makes one for each parametrization."""
    if one is other:
        return True
    return (one.__qualname__, one.__bases__) == (other.__qualname__, other.__bases__)


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


def _unlike(one: Mapping[str, Any], other: Mapping[str, Any], seen: Seen) -> str | None:
    for key in dict.fromkeys([*one, *other]):
        if key not in one or key not in other or not _same(one[key], other[key], seen):
            return key
    return None


def _same(a: Any, b: Any, seen: Seen) -> bool:
    """Whether two values are equal, as far as can be told."""
    if a is b or (id(a), id(b)) in seen:
        return True
    if type(a) is not type(b):
        return False
    match a:
        case str() | bytes() | int() | float() | complex() | set() | frozenset():
            return a == b or (a != a and b != b)  # two NaN are alike
        case torch.Tensor():
            return a.shape == b.shape and a.dtype == b.dtype and _equal(a, b)
        case np.ndarray():
            return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
        case nn.Module():
            return difference(a, b, tensors=True, seen=seen) is None
    seen.add((id(a), id(b)))
    match a:
        case dict():
            return a.keys() == b.keys() and all(_same(a[key], b[key], seen) for key in a)
        case list() | tuple():
            return len(a) == len(b) and all(_same(*pair, seen) for pair in zip(a, b, strict=True))
        case types.FunctionType():
            return a.__code__ == b.__code__ and _same(_closed(a), _closed(b), seen)
        case types.MethodType():
            return a.__func__ is b.__func__ and _same(a.__self__, b.__self__, seen)
    inside = getattr(a, "__dict__", None)
    return inside is not None and _same(inside, b.__dict__, seen)


def _equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.layout is not torch.strided:
        a, b = a.to_dense(), b.to_dense()
    return bool(((a == b) | ((a != a) & (b != b))).all())


def _closed(function: types.FunctionType) -> list[Any]:
    """What a function carries with it."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [function.__defaults__, function.__kwdefaults__, cells]
