"""The code behind a user's own unit: which files it is made of, and a digest of them.

Nothing is imported to find out, so a command that only reads records runs none of that code.
"""

import ast
import hashlib
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

OURS = __name__.partition(".")[0]
PATH = list(sys.path)
"""Where modules are looked for: as it is before any unit is imported, which may add to it."""


@dataclass(frozen=True)
class Code:
    """What a module is made of."""

    files: tuple[Path, ...]
    """Its own file, and then those it imports that are the user's own."""
    unseen: tuple[str, ...]
    """Modules that it names and that could not be found without running it."""


@cache
def digest(module: str) -> str | None:
    """A digest of a module and of the user's own files that it imports; None if it is not found.

    It is taken once, so that it tells of the code that this process has imported.
    """
    found = code(module).files
    if not found:
        return None
    text = b"\0".join(path.read_bytes() for path in found)
    return hashlib.sha256(text).hexdigest()[:16]


@cache
def code(module: str) -> Code:
    """The files that make a module what it is.

    The user's own are all that are not Python's, not installed and not of this package.
    """
    found: dict[str, Path] = {}
    unseen: list[str] = []
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        spec = _locate(name)
        path = _file(spec)
        if spec is None and "." not in name:
            unseen.append(name)
        if path is None or not (name == module or _is_own(path)):
            continue
        found[name] = path
        if _is_own(path):
            waiting += sorted(set(_imports(name, path)), reverse=True)
    return Code(tuple(dict.fromkeys(found.values())), tuple(dict.fromkeys(unseen)))


def forget() -> None:
    """Look at the files anew."""
    code.cache_clear()
    digest.cache_clear()


def _locate(name: str) -> ModuleSpec | None:
    """Where a module is, found without importing it or its packages."""
    folders: Sequence[str] | None = None
    spec: ModuleSpec | None = None
    words = name.split(".")
    for end in range(1, len(words) + 1):
        spec = _find(".".join(words[:end]), folders)
        folders = spec.submodule_search_locations if spec else None
        if folders is None and end < len(words):
            return None
    return spec


def _file(spec: ModuleSpec | None) -> Path | None:
    file = spec.origin if spec else None
    return Path(file) if file and file.endswith(".py") and Path(file).is_file() else None


def _find(name: str, folders: Sequence[str] | None) -> ModuleSpec | None:
    places = [str(Path.cwd()), *PATH] if folders is None else list(folders)
    if (spec := PathFinder.find_spec(name, places)) is not None:
        return spec
    for finder in (one for one in sys.meta_path if one is not PathFinder):
        try:
            spec = finder.find_spec(name, folders)
        except Exception:  # a finder of somebody else's, which may raise what it likes
            continue
        if spec is not None:
            return spec
    return None


def _is_own(path: Path) -> bool:
    place = path.resolve()
    if any(part in ("site-packages", "dist-packages") for part in place.parts):
        return False
    package = Path(__file__).resolve().parent.parent
    python = [Path(sysconfig.get_path(key)).resolve() for key in ("stdlib", "platstdlib")]
    return not any(place.is_relative_to(folder) for folder in (package, *python))


def _imports(name: str, path: Path) -> Iterator[str]:
    """Every module that a file may import, wherever in it the import stands."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return  # importing it will say so
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                for alias in node.names:
                    yield from _with_packages(alias.name)
            case ast.ImportFrom():
                base = _base(node, package)
                yield from _with_packages(base)
                for alias in node.names:
                    yield from _with_packages(f"{base}.{alias.name}" if base else alias.name)
            case ast.Call() if _called(node) in ("import_module", "__import__"):
                yield from _with_packages(_named(node, package))


def _base(node: ast.ImportFrom, package: str) -> str:
    """The module that `from ... import` names, with its leading dots resolved."""
    words = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    return ".".join([*words, node.module] if node.module else words)


def _with_packages(name: str) -> Iterator[str]:
    """A module and the packages it is in: importing it runs them all."""
    words = [word for word in name.split(".") if word]
    for end in range(1, len(words) + 1):
        if words[0] != OURS:
            yield ".".join(words[:end])


def _named(node: ast.Call, package: str) -> str:
    """The module that a call of `import_module` names in plain text; nothing if it computes it."""
    given = dict(zip(("name", "package"), node.args, strict=False))
    given |= {word.arg: word.value for word in node.keywords if word.arg}
    match given.get("name"), given.get("package"):
        case ast.Constant(value=str(name)), anchor if name.startswith("."):
            # Anything but plain text is taken for `__package__`.
            base = anchor.value if isinstance(anchor, ast.Constant) else package
            level = len(name) - len(name.lstrip("."))
            words = str(base).split(".")[: len(str(base).split(".")) - level + 1]
            return ".".join([*words, name.lstrip(".")])
        case ast.Constant(value=str(name)), _:
            return name
    return ""


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))
