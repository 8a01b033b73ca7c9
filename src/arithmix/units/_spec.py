"""A unit as people write it: `dmu`, `dmu[gate=single]`, or `my_file:MyUnit` for their own."""

import ast
import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import nn

from ..names import choose
from . import units
from ._base import Argument, Recipe, Unit


@dataclass(frozen=True)
class Spec:
    """A unit's class, and the constructor arguments that were written with its name."""

    name: str
    cls: type[nn.Module]
    arguments: dict[str, Argument] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The one way to write it: arguments sorted by name."""
        if not self.arguments:
            return self.name
        inside = ",".join(f"{key}={value}" for key, value in sorted(self.arguments.items()))
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
        return recipe

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
    spec = Spec(name, cls, arguments)
    _check_arguments(spec)
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


def _check_arguments(spec: Spec) -> None:
    taken = list(inspect.signature(spec.cls).parameters)
    own = {"population", "generator", "device", "dtype"}
    free = [name for name in taken[2:] if name not in own]
    for key in spec.arguments:
        if key not in free:
            offer = f"it takes {', '.join(free)}" if free else "it takes none"
            raise ValueError(f"{spec.name} has no argument {key!r}; {offer}")
    if len(taken) < 2:
        raise ValueError(
            f"{spec.name} is made as {spec.cls.__name__}(in_features, out_features); "
            f"its constructor takes {', '.join(taken) or 'nothing'}"
        )
