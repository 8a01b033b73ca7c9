"""Which files make a user's own unit what it is."""

import pytest

from arithmix.records.source import digest, files


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
    digest.cache_clear()
    return tmp_path


def test_every_file_that_may_be_imported_is_covered_and_no_other(project):
    found = [str(path.relative_to(project)) for path in files("mine")]
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
    digest.cache_clear()
    assert digest("mine") != before
    path.write_text(text)
    digest.cache_clear()
    assert digest("mine") == before


def test_an_edit_elsewhere_does_not(project):
    before = digest("mine")
    for name in ("unrelated.py", "package/unused.py"):
        (project / name).write_text("x = 2\n")
    digest.cache_clear()
    assert digest("mine") == before


def test_installed_packages_are_not_followed():
    assert len(files("torch.nn")) == 1
    assert files("no_such_module") == [] and digest("no_such_module") is None


def test_a_file_with_a_mistake_still_has_a_digest(project):
    (project / "helper.py").write_text("def f(:\n")
    assert digest("mine") is not None
