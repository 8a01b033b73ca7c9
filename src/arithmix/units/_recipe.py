"""Recipe: how a unit's paper trains it. Data, not code."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..names import choose

Argument = str | int | float | bool | None
DTYPES = ("float32", "float64")
MOST = {"steps": 10**9, "batch": 10**6, "draws": 100}


@dataclass(frozen=True)
class Restart:
    """When a member that has stalled draws its parameters anew.

    Each step notes the last known validation error. Every `every` steps, if more than `after` are
    noted, a member starts again whose first half of notes is on average no larger than the second
    by more than its deviation, and whose second half is above `above` on average.
    """

    every: int = 10
    after: int = 5000
    above: float = 1.0


@dataclass(frozen=True)
class Recipe:
    """How a unit is trained: Adam with its default betas on fresh batches, and these numbers."""

    rate: float = 1e-3
    steps: int = 50_000
    batch: int = 128
    clip_norm: float | None = None
    """Largest gradient norm, of each member by itself."""
    clip_value: float | None = None
    """Largest absolute value of any gradient entry."""
    target_limit: float | None = None
    """Samples whose target is larger in magnitude are left out of training."""
    restart: Restart | None = None
    draws: int = 2
    """Which draw of the parameters training starts from: the original benchmark resets twice."""
    dtype: str = "float32"
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    """The unit's own constructor arguments for this operation."""

    def __post_init__(self) -> None:
        for key in ("rate", "clip_norm", "clip_value", "target_limit"):
            value = getattr(self, key)
            real = isinstance(value, int | float) and not isinstance(value, bool)
            if not (real and 0 < value < math.inf) and not (value is None and key != "rate"):
                raise ValueError(f"{key} must be a finite number above 0; got {value!r}")
        for key, most in MOST.items():
            value = getattr(self, key)
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
                raise ValueError(f"{key} must be a whole number from 1 to {most:,}; got {value!r}")
        if not isinstance(self.restart, Restart | None):
            raise ValueError(f"restart must be an arithmix.Restart or None; got {self.restart!r}")
        choose(str(self.dtype), DTYPES, "dtype")
        if not isinstance(self.arguments, Mapping):
            raise ValueError(f"arguments must be a dictionary; got {self.arguments!r}")
        for key, value in self.arguments.items():
            if not isinstance(value, Argument):
                raise ValueError(
                    f"arguments of a recipe are text, numbers, True, False or None, since rows "
                    f"keep them; got {key}={value!r}"
                )
