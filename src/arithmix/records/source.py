"""The code behind a user's own unit: which files it is made of, and a digest of them.

Nothing is imported to find out, so a command that only reads records runs none of that code.
"""

import ast
import hashlib
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

OURS = __name__.partition(".")[0]


@cache
def digest(module: str) -> str | None:
    """A digest of a module and of the user's own files that it imports; None if it is not found.

    It is taken once, so that it tells of the code that this process has imported.
    """
    found = files(module)
    if not found:
        return None
    text = b"\0".join(path.read_bytes() for path in found)
    return hashlib.sha256(text).hexdigest()[:16]


def files(module: str) -> list[Path]:
    """The file of a module, and then those it imports that are the user's own.

    The user's own are all that are not Python's, not installed and not of this package.
    """
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _locate(name)
        if path is None or name in found or not (name == module or _is_own(path)):
            continue
        found[name] = path
        if _is_own(path):
            waiting += sorted(set(_imports(name, path)), reverse=True)
    return list(dict.fromkeys(found.values()))


def _locate(name: str) -> Path | None:
    """The source file of a module, found without importing it or its packages."""
    folders: Sequence[str] | None = None
    spec: ModuleSpec | None = None
    words = name.split(".")
    for end in range(1, len(words) + 1):
        spec = _find(".".join(words[:end]), folders)
        if spec is None:
            return None
        folders = spec.submodule_search_locations
        if folders is None and end < len(words):
            return None
    file = spec.origin if spec else None
    return Path(file) if file and file.endswith(".py") and Path(file).is_file() else None


def _find(name: str, folders: Sequence[str] | None) -> ModuleSpec | None:
    if folders is None and (spec := PathFinder.find_spec(name, [str(Path.cwd())])) is not None:
        return spec
    for finder in sys.meta_path:
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
            case ast.Call(args=[ast.Constant(value=str(text)), *_]) if _called(node) in (
                "import_module",
                "__import__",
            ):
                yield from _with_packages(text)


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


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))
