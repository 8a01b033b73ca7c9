"""Arithmetic that stays finite, shared by plans and units."""

import math

import torch
from torch import Tensor


class _FiniteGradient(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def setup_context(ctx, inputs, output) -> None:
        pass

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> Tensor:
        return torch.nan_to_num(gradients[0])


def finite_gradient(x: Tensor) -> Tensor:
    """Return `x`, whose gradient is held at the dtype's largest number and is never inf or NaN.

    The derivative of a / b in b is -a / b^2, which no float32 can hold for b = 1e-30.
    """
    return _FiniteGradient.apply(x)  # pyrefly: ignore[bad-return]


class _Loaded(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor) -> Tensor:
        copy = x.clone(memory_format=torch.contiguous_format)
        return copy.as_strided(copy.shape, copy.stride())

    @staticmethod
    def setup_context(ctx, inputs, output) -> None:
        pass

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> Tensor:
        return gradients[0]

    @staticmethod
    def vmap(info, in_dims, *args: Tensor) -> tuple[Tensor, int]:
        return _Loaded.apply(*args), in_dims[0]  # pyrefly: ignore[bad-return]


def loaded(x: Tensor) -> Tensor:
    """Return `x`, which the compiler for a CPU then loads once, and not at each use.

    A strided column is loaded number by number, and a kernel with 35 such loads is not vector code
    at all (torch 2.13). Only `as_strided` makes the compiler keep a copy.
    """
    if not torch.compiler.is_compiling() or x.device.type != "cpu":
        return x
    return _Loaded.apply(x)  # pyrefly: ignore[bad-return]


def working_dtype(*tensors: Tensor) -> torch.dtype:
    """The dtype to compute in: that of the tensors together, but never less than float32."""
    dtype = torch.float32
    for tensor in tensors:
        dtype = torch.promote_types(dtype, tensor.dtype)
    return dtype


def rounded(y: Tensor, dtype: torch.dtype) -> Tensor:
    """Round to `dtype`; what it can't hold becomes the largest number it can."""
    return held(y, torch.finfo(dtype).max).to(dtype)


def held(y: Tensor, largest: float) -> Tensor:
    """Hold what is larger in magnitude; NaN stays NaN. It compiles to less than a clamp."""
    return torch.where(y > largest, largest, torch.where(y < -largest, -largest, y))


def smooth_magnitude(r: Tensor, temperature: float) -> Tensor:
    """sqrt(r^2 + T^2), without the overflow of r^2: far from zero it is |r| to the last bit."""
    far = 1e8 * temperature
    near = r.clamp(-far, far)
    return torch.where(r.abs() > far, r.abs(), (near * near + temperature**2).sqrt())


def default_log_limit(dtype: torch.dtype) -> float:
    """The largest log magnitude of an output: the dtype's, less a factor 1e6 for gradients."""
    return math.log(torch.finfo(dtype).max) - math.log(1e6)
