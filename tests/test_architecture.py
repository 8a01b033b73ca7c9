"""The shape of the package: imports point down, files are short, units stay in their place."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import arithmix
from arithmix.units import units

SOURCE = Path(arithmix.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
TESTS = sorted(Path(__file__).parent.rglob("*.py"))
# A part may import itself and what stands after it.
LAYERS = [
    {"__main__"},
    {"cli"},
    {"report"},
    {"studies"},
    {"landscape"},
    {"lm"},
    {"bench"},
    {"units"},
    {"dag"},
    {"measure"},
    {"records", "progress", "table"},
    {"study"},
    {"tasks"},
    {"names", "files"},
]


def part(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path):
    """The parts of the package that a file imports."""
    package = path.relative_to(SOURCE).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            names = [node.module] if node.module else [alias.name for alias in node.names]
            for name in names:
                if not base and name == "__version__":
                    continue  # what the package itself says, without importing any part
                yield (*base, *name.split("."))[0]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_down(path):
    if path == SOURCE / "__init__.py":
        return
    order = {name: i for i, layer in enumerate(LAYERS) for name in layer}
    for name in imported(path):
        assert order[name] > order[part(path)] or name == part(path), f"{path.name} imports {name}"


def test_no_file_is_long():
    long = {p.name: n for p in FILES + TESTS if (n := len(p.read_text().splitlines())) > 400}
    assert not long


@pytest.mark.parametrize(
    ("module", "light"),
    [
        ("arithmix", ("torch", "scipy", "rich", "typer")),
        ("arithmix.table", ("torch",)),
        ("arithmix.lm", ("torch", "numpy", "transformers")),
    ],
)
def test_imports_are_light(module, light):
    program = f"import sys, {module}; print([m for m in {light!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_the_public_names_are_these():
    assert sorted(arithmix.__all__) == ["DMU", "Recipe", "Restart", "Unit"]
    assert all(hasattr(arithmix, name) for name in arithmix.__all__)


def test_no_unit_is_named_outside_its_place():
    for path in FILES:
        if part(path) in ("units", "studies", "__init__"):
            continue
        words = {
            node.value
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        # The ruler of the paper has the name of its unit.
        assert not words & (set(units()) - {"dmu"}), path.name


def test_nothing_sets_global_state():
    for path in FILES:
        if path.name == "_lend.py":
            continue  # the one place, and it puts everything back; tests/bench/test_alone.py
        tree = ast.parse(path.read_text())
        calls = {ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
        assert not calls & {"torch.manual_seed", "np.random.seed", "torch.set_default_dtype"}
        assert not any(isinstance(node, ast.Global) for node in ast.walk(tree))
