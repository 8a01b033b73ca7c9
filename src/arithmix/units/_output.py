"""What a module must give back: one number for each sample, as `batch 1`."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def outputs(forward: Callable[[Tensor], Any], x: Tensor) -> Tensor:
    """Call `forward` on `x`; anything but one real number for each sample is an error.

    Without this a scalar, or an output that lacks its last axis, would be broadcast against the
    targets and trained to nonsense.
    """
    y = forward(x)
    if not isinstance(y, Tensor):
        raise TypeError(f"forward must return a tensor; got {type(y).__name__}")
    wanted = (*x.shape[:-1], 1)
    if y.shape != wanted:
        raise ValueError(
            f"for an input of shape {tuple(x.shape)} forward must return {tuple(wanted)}; "
            f"got {tuple(y.shape)}"
        )
    if not torch.is_floating_point(y):
        raise TypeError(f"forward must return real floating-point numbers; got {y.dtype}")
    return y
