"""A unit as people write it: `dmu`, `dmu[gate=single]`, or `my_file:MyUnit` for their own.

In brackets stand arguments of its constructor, or numbers of its recipe: `dmu[rate=0.001]`.
"""

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ..names import choose
from ..records.source import code, digest
from . import units
from ._base import Unit
from ._blame import UnitError, blamed
from ._lend import lent, seed_all
from ._recipe import Argument, Recipe

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
    def own(self) -> bool:
        """Whether it is a user's own class and not one of the package."""
        return not self.cls.__module__.startswith(f"{__package__}.")

    @property
    def source(self) -> str | None:
        """A digest of the user's own code behind it, so that an edited unit is a new unit."""
        return digest(self.name.partition(":")[0]) if self.own else None

    def recipe(self, operation: str, inputs: int) -> Recipe:
        """The class's own recipe for an operation, or for that and a number of inputs."""
        own = getattr(self.cls, "recipe", lambda operation: Recipe())
        if self._is_method("recipe"):
            raise UnitError(
                f"{self.name}.recipe takes self, but no unit is made yet when it is asked; "
                f"write @staticmethod above `def recipe(operation)`"
            )
        with self.blamed(f"in recipe({operation!r})"):
            asked = (operation, inputs)[: len(inspect.signature(own).parameters)]
            recipe = own(*asked)
        if not isinstance(recipe, Recipe):
            raise UnitError(
                f"{self.name}.recipe({operation!r}) must return an arithmix.Recipe; "
                f"got {type(recipe).__name__}"
            )
        return replace(recipe, **self.trained)  # pyrefly: ignore[bad-argument-type]

    def build(
        self, inputs: int, operation: str, seed: int, *, dtype: torch.dtype, device: str = "cpu"
    ) -> nn.Module:
        """Make the member that `seed` draws: `cls(inputs, 1, ...)`."""
        recipe = self.recipe(operation, inputs)
        arguments = {**recipe.arguments, **self.arguments}
        if not issubclass(self.cls, Unit):
            return self._build_foreign(inputs, arguments, seed, dtype).to(device)
        make: Callable[..., Unit] = self.cls
        with self.blamed("when it was made"):
            unit = make(inputs, 1, generator=torch.Generator(), dtype=dtype, **arguments)
            generator = torch.Generator().manual_seed(seed)
            for _ in range(recipe.draws):
                unit.reset_parameters(generator)
        return unit.to(device)

    def blamed(self, doing: str) -> AbstractContextManager[None]:
        """Around a call of the class's code: what a user's own raises is said with its place."""
        return blamed(self.name, doing) if self.own else nullcontext()

    def _is_method(self, name: str) -> bool:
        """Whether a class attribute is a function that wants an instance first."""
        found = inspect.getattr_static(self.cls, name, None)
        names = list(inspect.signature(found).parameters) if inspect.isfunction(found) else []
        return names[:1] in (["self"], ["cls"])

    def _build_foreign(
        self, inputs: int, arguments: dict[str, Argument], seed: int, dtype: torch.dtype
    ) -> nn.Module:
        # A module that knows nothing of generators draws from the global ones, lent to it.
        with lent(), self.blamed("when it was made"):
            seed_all(seed)
            module = self.cls(inputs, 1, **arguments)
            if any(is_lazy(tensor) for tensor in (*module.parameters(), *module.buffers())):
                with torch.no_grad():
                    module(torch.ones(2, inputs))  # which says what shapes they have
        return module._apply(lambda tensor: _cast(tensor, dtype))


def _cast(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """Real numbers to `dtype`, complex ones to pairs of it, others as they are."""
    if tensor.is_complex():
        return tensor.to(dtype.to_complex())
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def parse(text: str) -> Spec:
    """Read a unit as people write it.

    >>> parse("dmu[gate=single]").arguments
    {'gate': 'single'}
    """
    name, bracket, inside = text.strip().partition("[")
    if bracket and not inside.endswith("]"):
        raise ValueError(f"a unit is written name or name[key=value,...]; got {text!r}")
    arguments: dict[str, Argument] = {}
    for pair in filter(None, inside.removesuffix("]").split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"an argument of {name} is written key=value; got {pair!r}")
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
    known = code(module_name).files
    if not known:
        raise ValueError(
            f"the unit {name!r} can't be loaded: there is no module {module_name!r}; it is written "
            f"module:Class, with the module's file in the present folder or installed"
        )
    digest(module_name)  # of the files as they are imported
    with blamed(name, "when it was imported"), _present_folder_first():
        module = importlib.import_module(module_name)
    loaded = getattr(module, "__file__", None)
    if loaded is None or Path(loaded).resolve() != known[0].resolve():
        raise ValueError(
            f"the unit {name!r} can't be loaded: {module_name} is the name of another module, "
            f"which is in use; give {known[0].name} another name"
        )
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


@contextmanager
def _present_folder_first() -> Iterator[None]:
    """Find the user's modules before others of the same name; afterwards, only after these.

    Else a file called random.py would take the place of Python's own in every process.
    """
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)


def _free_arguments(name: str, cls: type[nn.Module]) -> list[str]:
    """What a constructor takes besides features, population, generator, device and dtype."""
    parameters = inspect.signature(cls).parameters.values()
    taken = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if len(taken) < 2 and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        raise ValueError(
            f"{name} must be made as {cls.__name__}(in_features, out_features); "
            f"its constructor takes {', '.join(taken) or 'nothing'}"
        )
    own = {"population", "generator", "device", "dtype"}
    return [word for word in taken[2:] if word not in own]


def _check_recipe(spec: Spec) -> None:
    try:
        replace(Recipe(), **spec.trained)  # pyrefly: ignore[bad-argument-type]
    except ValueError as error:
        raise ValueError(f"{spec.name}[...]: {error}") from None
