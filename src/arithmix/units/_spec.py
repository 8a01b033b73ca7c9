"""A unit as people write it: `dmu`, `dmu[gate=single]`, or `my_file:MyUnit` for their own.

In brackets stand arguments of its constructor, or numbers of its recipe: `dmu[rate=0.001]`.
"""

import ast
import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import nn

from ..names import choose
from . import units
from ._base import Argument, Recipe, Unit

RECIPE = ("rate", "steps", "batch", "clip_norm", "clip_value", "target_limit", "dtype")
"""What of a recipe can be written with a unit's name."""


@dataclass(frozen=True)
class Spec:
    """A unit's class, and what was written in brackets with its name."""

    name: str
    cls: type[nn.Module]
    arguments: dict[str, Argument] = field(default_factory=dict)
    """For the constructor."""
    trained: dict[str, Argument] = field(default_factory=dict)
    """In the place of the recipe's own numbers."""

    @property
    def label(self) -> str:
        """The one way to write it: arguments sorted by name."""
        written = self.arguments | self.trained
        if not written:
            return self.name
        inside = ",".join(f"{key}={value}" for key, value in sorted(written.items()))
        return f"{self.name}[{inside}]"

    @property
    def source(self) -> str | None:
        """A digest of the file a user's class is in, so that an edited unit is a new unit."""
        if self.cls.__module__.startswith(f"{__package__}."):
            return None
        file = inspect.getsourcefile(self.cls)
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16] if file else None

    def recipe(self, operation: str, inputs: int) -> Recipe:
        """The class's own recipe for an operation, or for that and a number of inputs."""
        own = getattr(self.cls, "recipe", lambda operation: Recipe())
        asked = (operation, inputs)[: len(inspect.signature(own).parameters)]
        recipe = own(*asked)
        if not isinstance(recipe, Recipe):
            raise ValueError(
                f"{self.name}.recipe({operation!r}) must return an arithmix.Recipe; "
                f"{type(recipe).__name__} came"
            )
        return replace(recipe, **self.trained)  # pyrefly: ignore[bad-argument-type]

    def build(
        self, inputs: int, operation: str, seed: int, *, dtype: torch.dtype, device: str = "cpu"
    ) -> nn.Module:
        """Make the member that `seed` draws: `cls(inputs, 1, ...)`."""
        recipe = self.recipe(operation, inputs)
        arguments = {**recipe.arguments, **self.arguments}
        if not issubclass(self.cls, Unit):
            return self._build_foreign(inputs, arguments, seed).to(device=device, dtype=dtype)
        make: Callable[..., Unit] = self.cls
        unit = make(inputs, 1, generator=torch.Generator(), dtype=dtype, **arguments)
        generator = torch.Generator().manual_seed(seed)
        for _ in range(recipe.draws):
            drawn = unit.draw(generator)
            with torch.no_grad():
                for key, parameter in unit.named_parameters():
                    parameter.copy_(drawn[key])
        return unit.to(device)

    def _build_foreign(self, inputs: int, arguments: dict[str, Argument], seed: int) -> nn.Module:
        # A module that knows nothing of generators draws from torch's own, so that is lent to it.
        with torch.random.fork_rng(devices=[]):
            torch.random.default_generator.manual_seed(seed)
            return self.cls(inputs, 1, **arguments)


def parse(text: str) -> Spec:
    """Read a unit as people write it.

    >>> parse("dmu[gate=single]").arguments
    {'gate': 'single'}
    """
    name, bracket, inside = text.strip().partition("[")
    if bracket and not inside.endswith("]"):
        raise ValueError(f"a unit is written name or name[key=value,...]; {text!r} came")
    arguments: dict[str, Argument] = {}
    for pair in filter(None, inside.removesuffix("]").split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"an argument of {name} is written key=value; {pair!r} came")
        arguments[key.strip()] = _literal(value.strip())
    cls = _import(name) if ":" in name else units()[choose(name, units(), "unit")]
    free = _free_arguments(name, cls)
    spec = Spec(
        name,
        cls,
        {key: value for key, value in arguments.items() if key in free},
        {key: value for key, value in arguments.items() if key in RECIPE and key not in free},
    )
    for key in arguments:
        if key not in spec.arguments and key not in spec.trained:
            offer = f"it takes {', '.join([*free, *RECIPE])}"
            raise ValueError(f"{name} has no argument {key!r}; {offer}")
    _check_recipe(spec)
    return spec


def _literal(text: str) -> Argument:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, str | int | float | bool | None) else text


def _import(name: str) -> type[nn.Module]:
    module_name, _, class_name = name.partition(":")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ValueError(
            f"the unit {name!r} can't be loaded: {error}; it is written module:Class, with the "
            f"module's file in the folder where the command runs or installed"
        ) from error
    found = getattr(module, class_name, None)
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        modules = [
            key
            for key, value in vars(module).items()
            if isinstance(value, type)
            and issubclass(value, nn.Module)
            and value.__module__ == module.__name__
        ]
        if not modules:
            raise ValueError(f"{module_name} has no torch.nn.Module to run as a unit")
        try:
            choose(class_name, modules, "class")
        except ValueError as error:
            raise ValueError(f"the unit {name!r} can't be loaded: {error}") from None
    return found  # pyrefly: ignore[bad-return]


def _free_arguments(name: str, cls: type[nn.Module]) -> list[str]:
    """What a constructor takes besides features, population, generator, device and dtype."""
    taken = list(inspect.signature(cls).parameters)
    if len(taken) < 2:
        raise ValueError(
            f"{name} is made as {cls.__name__}(in_features, out_features); "
            f"its constructor takes {', '.join(taken) or 'nothing'}"
        )
    own = {"population", "generator", "device", "dtype"}
    return [word for word in taken[2:] if word not in own]


def _check_recipe(spec: Spec) -> None:
    for key, value in spec.trained.items():
        if key == "dtype":
            choose(str(value), ("float32", "float64"), "dtype")
        elif key in ("steps", "batch"):
            if not (isinstance(value, int) and value > 0):
                raise ValueError(f"{key} of {spec.name} is a whole number above 0; {value!r} came")
        elif not (value is None and key != "rate") and not (
            isinstance(value, int | float) and value > 0
        ):
            raise ValueError(f"{key} of {spec.name} is a number above 0; {value!r} came")
