"""Which files make a user's own unit what it is."""

import pytest

from arithmix.records.source import code, digest, forget


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A unit with helpers near and far, none of which is ever imported here."""
    texts = {
        "mine.py": "import torch\nimport arithmix\n"
        "from helper import f\nfrom package import thing\n"
        "def late():\n    from package.inner import last\n",
        "helper.py": "import math\nfrom importlib import import_module\nimport_module('dynamic')\n",
        "dynamic.py": "raise RuntimeError('this must not be run')\n",
        "package/__init__.py": "",
        "package/thing.py": "from .inner import *\n",
        "package/inner/__init__.py": "",
        "package/inner/last.py": "from .. import thing\nfrom ..other import x\n",
        "package/other.py": "x = 1\n",
        "package/unused.py": "",
        "unrelated.py": "",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    forget()
    return tmp_path


def test_every_file_that_may_be_imported_is_covered_and_no_other(project):
    found = [str(path.relative_to(project)) for path in code("mine").files]
    assert found[0] == "mine.py"
    assert set(found) == {
        "mine.py",
        "helper.py",
        "dynamic.py",
        *(f"package/{name}.py" for name in ("__init__", "thing", "other")),
        *(f"package/inner/{name}.py" for name in ("__init__", "last")),
    }


@pytest.mark.parametrize("name", ["mine", "helper", "dynamic", "package/inner/last"])
def test_an_edit_anywhere_gives_another_digest(project, name):
    before = digest("mine")
    path = project / f"{name}.py"
    text = path.read_text()
    path.write_text(f"{text}\n# edited\n")
    forget()
    assert digest("mine") != before
    path.write_text(text)
    forget()
    assert digest("mine") == before


def test_an_edit_elsewhere_does_not(project):
    before = digest("mine")
    for name in ("unrelated.py", "package/unused.py"):
        (project / name).write_text("x = 2\n")
    forget()
    assert digest("mine") == before


def test_installed_packages_are_not_followed():
    assert len(code("torch.nn").files) == 1
    assert code("no_such_module").files == () and digest("no_such_module") is None


def test_a_file_with_a_mistake_still_has_a_digest(project):
    (project / "helper.py").write_text("def f(:\n")
    assert digest("mine") is not None


@pytest.mark.parametrize(
    "line",
    [
        "import_module('package.unused')",
        "import_module(name='package.unused')",
        "import_module('.unused', 'package')",
        "import_module('.unused', package='package')",
        "__import__('package.unused')",
    ],
)
def test_an_import_by_name_is_covered_however_it_is_written(project, line):
    (project / "mine.py").write_text(f"from importlib import import_module\n{line}\n")
    assert project / "package" / "unused.py" in code("mine").files


def test_an_import_beside_its_own_package_is_covered(project):
    text = "import importlib\nimportlib.import_module('.other', __package__)\n"
    (project / "package" / "thing.py").write_text(text)
    assert project / "package" / "other.py" in code("package.thing").files


def test_what_is_found_only_by_running_the_code_is_said_and_not_covered(project, monkeypatch):
    (project / "lib").mkdir()
    (project / "lib" / "far.py").write_text("k = 1\n")
    (project / "mine.py").write_text("import sys\nsys.path.insert(0, 'lib')\nimport far\n")
    before = digest("mine")
    assert code("mine").unseen == ("far",)
    # As when the module has been imported: what it did to the path changes nothing.
    monkeypatch.syspath_prepend(project / "lib")
    forget()
    assert digest("mine") == before and code("mine").unseen == ("far",)
