"""The unit contract.

A unit is an ordinary `nn.Module`. A population of them is the same module with a leading axis on
every parameter: `*pop batch in -> *pop batch out`, and the population of shape () is a plain layer.
"""

import math
from numbers import Integral
from typing import Any, ClassVar, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ._recipe import Recipe as Recipe

# Not typing.Self, which the check of shapes at run time can't read outside a decorated class.
Own = TypeVar("Own", bound="Unit")


class Unit(nn.Module):
    """A neural arithmetic unit.

    A subclass has a `name` and the operations it can represent exactly, and it writes `draw`,
    `solution`, `soft`, `hard`, `round_`, `sparsity` and `expression`; the rest have defaults.
    `forward`, `loss` and `harden` are the same for all: they check what they are given and call
    `soft` or `hard`, `objective` and `round_`. Settings of its own are set before
    `super().__init__`, which checks the sizes and draws the parameters; what is made from the
    sizes comes after it.

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
    signed: bool = True
    """Whether its products and quotients have a sign, or are those of magnitudes.

    Where that depends on the settings, the class has the default's and an instance its own.
    """
    hardened: bool = False
    """Whether it computes exactly; set by `harden` and by a state that is loaded."""

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
        check_sizes(in_features, out_features)
        self.in_features = in_features
        self.out_features = out_features
        self.population = population
        self.hardened = False
        dtype = dtype or torch.get_default_dtype()
        for key, value in self._draw_all(generator).items():
            value = value.to(device=device, dtype=dtype)
            if key in self.constants:
                self.register_buffer(key, value)
            else:
                self.register_parameter(key, nn.Parameter(value))

    @classmethod
    def recipe(cls, operation: str, inputs: int = 2) -> Recipe:
        """How the unit's paper trains it for `operation` of two among `inputs` numbers."""
        return Recipe()

    @property
    def constants(self) -> frozenset[str]:
        """Which of the tensors that `draw` returns are not trained: buffers, not parameters."""
        return frozenset()

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """Initial parameters of one member, and its `constants`, in float32."""
        raise NotImplementedError

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw every member's tensors anew, in place; the unit is soft again."""
        with torch.no_grad():
            for key, value in self._draw_all(generator).items():
                getattr(self, key).copy_(value)
        self.hardened = False

    def solution(self, operation: str) -> dict[str, Tensor]:
        """A state for `load_state_dict` with which the unit computes `operation` of its inputs."""
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Compute the outputs; the input of a population is `*pop batch in`.

        Raises:
            ValueError: `x` has another width than the unit.
        """
        check_width(x, self.in_features, self.population)
        return self.hard(x) if self.hardened else self.soft(x)

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """What `forward` computes in training, and until `harden`."""
        raise NotImplementedError

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """What `forward` computes after `harden`: the operation itself, rounded once."""
        raise NotImplementedError

    def loss(
        self, x: Float[Tensor, "*pop batch in"], y: Float[Tensor, "*pop batch out"]
    ) -> Float[Tensor, "*pop"]:
        """What training minimises, per member: the unit's `objective`.

        Raises:
            ValueError: `x` has another width than the unit, or `y` is not of the output's shape.
        """
        check_width(x, self.in_features, self.population)
        # A y that broadcasts would be compared with every output, and training would go on.
        check_target(y, (*x.shape[:-1], self.out_features))
        return self.objective(x, y)

    def objective(
        self, x: Float[Tensor, "*pop batch in"], y: Float[Tensor, "*pop batch out"]
    ) -> Float[Tensor, "*pop"]:
        """The mean squared error, where a unit has nothing better to minimise."""
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

    def harden(self: Own) -> Own:
        """Make the unit the exact one nearest to it, in place, and return it.

        A hardened unit is saved as one: its `state_dict` has an entry `hardened` more, and a unit
        that loads it computes exactly too. A state without the entry makes a unit soft. The entry
        is no tensor of the unit: `torch.func.functional_call` takes the state without it.

        Up to three finite float32 inputs give a finite output, soft or hardened, however large they
        are; more of them, or another dtype, as long as it can hold every sum, product and quotient
        of the inputs. NaN gives NaN. A hardened unit computes with infinite inputs as IEEE 754 has
        it, so inf - inf, 0 * inf and inf / inf are NaN, but an infinite result is held at the
        dtype's largest number. Its 0 / 0 is 0, by definition. A soft unit promises nothing there.
        """
        with torch.no_grad():
            self.round_()
        self.hardened = True
        return self

    def round_(self) -> None:
        """Round the parameters in place, to those of the exact unit nearest to this one."""
        raise NotImplementedError

    def expression(self) -> str:
        """Read the unit back as a formula of x0, x1, ...; several outputs read as a tuple."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        """Show the settings in `print(unit)`."""
        return ", ".join(f"{key}={value}" for key, value in settings(self).items())

    def _draw_all(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """One draw for each member, in their order, as tensors `*pop ...`."""
        drawn = [self.draw(generator) for _ in range(math.prod(self.population))]
        return {
            key: torch.stack([member[key] for member in drawn]).reshape(
                *self.population, *value.shape
            )
            for key, value in drawn[0].items()
        }

    def _save_to_state_dict(
        self, destination: dict[str, Any], prefix: str, keep_vars: bool
    ) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if self.hardened:
            destination[prefix + "hardened"] = torch.tensor(True)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        entry = state_dict.pop(prefix + "hardened", None)
        # All: states of members that are stacked into a population's have one entry each.
        self.hardened = entry is not None and bool(entry.all())
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


def check_sizes(in_features: int, out_features: int) -> None:
    """Raise a ValueError for sizes that no unit has."""
    if not all(isinstance(size, Integral) and size >= 1 for size in (in_features, out_features)):
        raise ValueError(
            f"a unit needs at least one input and one output; "
            f"got in_features={in_features!r} and out_features={out_features!r}"
        )


def check_width(x: Tensor, width: int, population: tuple[int, ...] = ()) -> None:
    """Raise a ValueError for an `x` with another last axis, or without the population's first."""
    if x.dim() == 0 or x.shape[-1] != width:
        raise ValueError(
            f"the unit takes {width} input{'s' * (width > 1)}, so x must be of shape "
            f"(..., {width}); got {tuple(x.shape)}"
        )
    axes = len(population)
    if population and (x.dim() < axes + 2 or x.shape[:axes] != population):
        shape = ", ".join(map(str, population))
        raise ValueError(
            f"a population of {population} takes x of shape ({shape}, batch, {width}), the rows of "
            f"each member apart; got {tuple(x.shape)}"
        )


def check_target(y: Tensor, shape: tuple[int, ...]) -> None:
    """Raise a ValueError for a `y` that is not of the output's `shape`."""
    if y.shape == shape:
        return
    advice = ""
    if y.dim() > 1 and y.mT.shape == shape:
        advice = "; turn it with y.mT"
    elif y.numel() == math.prod(shape):
        advice = f"; reshape it with y.reshape{shape}"
    raise ValueError(f"y must be of the shape of the output, {shape}; got {tuple(y.shape)}{advice}")


def settings(module: nn.Module) -> dict[str, object]:
    """What a module was made with besides tensors: its public plain attributes."""
    return {
        key: value
        for key, value in vars(module).items()
        if not key.startswith("_") and key != "training"
    }
