"""What is promised about other packages: the oldest that will do, and what is said without them."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from arithmix.records.store import Store

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
# The tools of `dev` are not promised to users, so they may be recent.
PROMISED = PROJECT["dependencies"] + [
    line for extra, lines in EXTRAS.items() if extra != "dev" for line in lines
]


def pins():
    lines = (ROOT / "constraints-minimum.txt").read_text().splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    versions = {canonicalize_name(one.name): str(one.specifier) for one in found}
    assert len(versions) == len(found), "a package is pinned twice"
    return versions


@pytest.mark.parametrize("line", PROMISED)
def test_a_lower_bound_is_the_version_that_is_tested(line):
    promised = Requirement(line)
    (bound,) = promised.specifier
    pin = pins()[canonicalize_name(promised.name)]
    assert bound.operator == ">="
    assert pin.startswith("==")
    assert Version(bound.version) == Version(pin[2:])


def test_every_extra_that_is_promised_is_installed_for_the_tests():
    (own,) = (one for one in map(Requirement, EXTRAS["dev"]) if one.name == PROJECT["name"])
    assert own.extras == EXTRAS.keys() - {"dev"}


def without(module, *words, cwd):
    """Run a command where a module can't be imported."""
    program = (
        f"import sys; sys.modules[{module!r}] = None; from arithmix.cli import main; "
        f"sys.argv = ['arithmix', *{list(words)!r}]; main()"
    )
    line = [sys.executable, "-c", program]
    return subprocess.run(line, capture_output=True, text=True, cwd=cwd, timeout=300)


@pytest.mark.parametrize(
    ("words", "module", "extra"),
    [
        *(
            (f"landscape add p20 -o deep/a.{form}", "matplotlib", "figures")
            for form in ("png", "svg", "pdf")
        ),
        ("landscape add p20 -o deep/a.html", "plotly", "report"),
        ("landscape --all -o folder", "matplotlib", "figures"),
        ("landscape --all -o folder --pictures html", "plotly", "report"),
        ("figures", "matplotlib", "figures"),
        ("report", "plotly", "report"),
        ("export rows.parquet", "pyarrow", "parquet"),
        *(("lm fetch", module, "lm") for module in ("transformers", "gguf", "accelerate")),
    ],
)
def test_an_extra_that_is_missing_is_named_before_any_work(words, module, extra, tmp_path):
    assert any(Requirement(line).name == module for line in EXTRAS[extra])
    done = without(module, *words.split(), cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    sentence = f"arithmix: this needs {module}, which is not here; install arithmix[{extra}]\n"
    assert done.stderr == sentence
    # The records of a landscape are opened before it trains, so there has been no training.
    assert not list(tmp_path.iterdir())


def test_what_needs_no_extra_runs_without_it(tmp_path):
    Store(tmp_path / "arithmix.db").close()
    done = without("pyarrow", "export", "rows.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("wrote 0 rows")
