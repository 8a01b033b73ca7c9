"""The unit contract, and Recipe: how a unit's paper trains it.

A unit is an ordinary `nn.Module`. A population of them is the same module with a leading axis on
every parameter: `*pop batch in -> *pop batch out`, and the population of shape () is a plain layer.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..names import choose

Argument = str | int | float | bool | None
DTYPES = ("float32", "float64")


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
        for key in ("steps", "batch", "draws"):
            value = getattr(self, key)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{key} must be a whole number above 0; got {value!r}")
        if not isinstance(self.restart, Restart | None):
            raise ValueError(f"restart must be an arithmix.Restart or None; got {self.restart!r}")
        choose(self.dtype, DTYPES, "dtype")


class Unit(nn.Module):
    """A neural arithmetic unit.

    A subclass has a `name`, the operations it can represent exactly, and `draw`, `solution` and
    `forward`; the rest have defaults. Settings of its own are set before `super().__init__`, which
    draws the parameters from them.

    Args:
        in_features: Numbers in.
        out_features: Numbers out.
        population: Leading shape of every parameter; () is a plain layer.
        generator: Where the parameters are drawn from; torch's default generator if None.
        device: Where the parameters live.
        dtype: Their dtype; torch's default if None. Draws are made in float32 and cast.
    """

    name: ClassVar[str]
    exact: ClassVar[frozenset[str]]
    """The operations it can represent."""
    signed: ClassVar[bool] = True
    """Whether its products and quotients have a sign, or are those of magnitudes."""

    def __init__(
        self,
        in_features: int,
        out_features: int = 1,
        *,
        population: tuple[int, ...] = (),
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if in_features < 1 or out_features < 1:
            raise ValueError(
                f"a unit needs at least one input and one output; "
                f"in_features={in_features} and out_features={out_features} came"
            )
        self.in_features = in_features
        self.out_features = out_features
        self.population = population
        dtype = dtype or torch.get_default_dtype()
        drawn = [self.draw(generator) for _ in range(math.prod(population))]
        for key in drawn[0]:
            value = torch.stack([member[key] for member in drawn])
            value = value.reshape(*population, *drawn[0][key].shape)
            self.register_parameter(key, nn.Parameter(value.to(device=device, dtype=dtype)))

    @classmethod
    def recipe(cls, operation: str, inputs: int = 2) -> Recipe:
        """How the unit's paper trains it for `operation` of two among `inputs` numbers."""
        return Recipe()

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """Initial parameters of one member, in float32."""
        raise NotImplementedError

    def solution(self, operation: str) -> dict[str, Tensor]:
        """A state for `load_state_dict` with which the unit computes `operation` of its inputs."""
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Compute the outputs; the input of a population is `*pop batch in`."""
        raise NotImplementedError

    def loss(
        self, x: Float[Tensor, "*pop batch in"], y: Float[Tensor, "*pop batch out"]
    ) -> Float[Tensor, "*pop"]:
        """What training minimises, per member: the mean squared error."""
        return (self.forward(x) - y).square().mean((-2, -1))

    def penalty(
        self, step: Float[Tensor, ""], validation: Float[Tensor, "*pop"]
    ) -> Float[Tensor, "*pop"]:
        """What is added to the loss at `step`, given the last known validation error."""
        return torch.zeros_like(validation)

    def project(self) -> None:
        """Bring the parameters back into their domain, in place, after an update."""

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """Distance of each member's parameters from a discrete solution; 0 is discrete."""
        raise NotImplementedError

    def harden(self) -> "Unit":
        """Make the unit the exact one nearest to it, in place, and return it.

        Like `eval()` it is a mode and not part of the state: call it again after loading one.
        """
        raise NotImplementedError

    def expression(self) -> str:
        """Read the unit back as a formula of x0, x1, ...; several outputs read as a tuple."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        """Show the settings in `print(unit)`."""
        return ", ".join(f"{key}={value}" for key, value in settings(self).items())


def settings(module: nn.Module) -> dict[str, object]:
    """What a module was made with besides tensors: its public plain attributes."""
    return {
        key: value
        for key, value in vars(module).items()
        if not key.startswith("_") and key != "training"
    }
