"""A user's own module as the command line meets it, in processes of its own."""

import csv
import io
import itertools
import shutil
import sys

import pytest

from arithmix.cli import main

from .kills import ORDINARY, assert_equal_rows, command, rows

NAMES = ["Normed", "Dropped", "Recurrent", "Embedded", "Closed", "Attributed", "Frozen", "Tied"]
NAMES += ["Complex", "Configured", "Counting", "Lazy", "Stacked"]
NUMBERS = itertools.count()
PART = ["--operations", "add", "--ranges", "p20", "--seeds", "0-1"]
UNIT = """
import torch
from helper import scale

class Weighted(torch.nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.w = torch.nn.Parameter(torch.full((in_features, out_features), 0.9))

    def forward(self, x):
        return x @ self.w * scale

    @staticmethod
    def recipe(operation):
        import arithmix
        return arithmix.Recipe(rate=1e-2, steps=400)
"""


def test_ordinary_modules_go_through_run_and_table(tmp_path):
    shutil.copy(ORDINARY, tmp_path)
    units = ",".join(f"ordinary:{name}" for name in NAMES)
    done = command("run", "nalm", "--units", units, *PART, "--eager", cwd=tmp_path)
    assert f"trained {2 * len(NAMES)}" in done.stdout, done.stderr
    assert "ordinary:Normed: its forward pass changes norm.running_mean, so its 2 m" in done.stdout
    assert "trained again when ordinary.py changes" in done.stdout
    again = command("run", "nalm", "--units", units, *PART, "--eager", "--db", "b.db", cwd=tmp_path)
    assert again.returncode == 0
    assert_equal_rows(rows(tmp_path / "arithmix.db"), rows(tmp_path / "b.db"))
    alone = ["--units", "ordinary:Dropped", "--seeds", "1", "--db", "c.db"]
    command("run", "nalm", *PART[:4], *alone, "--eager", cwd=tmp_path)
    for key, row in rows(tmp_path / "c.db").items():
        assert_equal_rows({key: row}, {key: rows(tmp_path / "b.db")[key]})

    shown = command("table", "nalm", *PART, cwd=tmp_path)
    for name in NAMES:
        assert f"ordinary:{name} " in shown.stdout, shown.stderr
    data = command("table", "nalm", *PART, "--format", "csv", cwd=tmp_path)
    lines = {line["unit"]: line for line in csv.DictReader(io.StringIO(data.stdout))}
    assert {f"ordinary:{name}" for name in NAMES} < lines.keys()
    assert (
        lines["ordinary:Tied"]["mean_sparsity"] == "" and lines["ordinary:Tied"]["members"] == "2"
    )
    status = command("status", cwd=tmp_path)
    assert "ordinary:Complex" in status.stdout and "2 trained" in status.stdout


@pytest.fixture
def weighted(tmp_path):
    """A unit whose numbers hang on a helper in another file."""
    (tmp_path / "mine.py").write_text(UNIT)
    (tmp_path / "helper.py").write_text("scale = 1.0\n")

    def run(*more):
        words = ["nalm", "--units", "mine:Weighted", *PART, "--eager", *more]
        return command("run", *words, cwd=tmp_path).stdout.splitlines()

    return tmp_path, run


def test_the_version_that_the_files_hold_is_the_one_that_is_judged(weighted):
    folder, run = weighted
    assert run()[-2:] == ["trained 2, records in arithmix.db", "solved 2/2"]
    (folder / "helper.py").write_text("scale = 0.0\n")
    assert run()[-2:] == ["trained 2, records in arithmix.db", "solved 0/2"]
    (folder / "helper.py").write_text("scale = 1.0\n")
    assert run()[-2:] == ["trained 0, records in arithmix.db", "solved 2/2"]

    def shown():
        done = command("table", "nalm", *PART, "--format", "csv", cwd=folder)
        lines = csv.DictReader(io.StringIO(done.stdout))
        found = [line["solved"] for line in lines if line["unit"] == "mine:Weighted"]
        return found, done.stderr

    found, said = shown()
    assert found == ["2"]
    assert "2 rows of mine:Weighted made by other code than it has now" in said
    (folder / "helper.py").write_text("scale = 0.0\n")
    assert shown()[0] == ["0"]
    (folder / "helper.py").write_text("scale = 0.5\n")
    assert shown()[0] == []
    report = command("report", "--own", cwd=folder)
    assert "4 rows of mine:Weighted made by other code" in report.stderr
    exported = command("export", "rows.csv", cwd=folder)
    assert "wrote 4 rows" in exported.stdout
    with (folder / "rows.csv").open() as file:
        assert len({line["source"] for line in csv.DictReader(file)}) == 2


def test_a_short_training_is_judged_by_its_last_row(tmp_path):
    words = ["--units", "unified[steps=500]", *PART, "--eager"]
    done = command("run", "nalm", *words, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "solved 2/2"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "import torch\n1 / 0\n",
            "failed when it was imported (bad.py, line 2, in <module>: `1 / 0`)",
        ),
        ("import sys\nsys.exit(5)\n", "it called sys.exit(5)"),
        ("def f(:\n", "(bad.py, line 1): SyntaxError"),
        ("import nothing_like_it\n", "No module named 'nothing_like_it'"),
        ("x = 1\n", "bad has no torch.nn.Module"),
    ],
)
def test_what_goes_wrong_in_an_import_is_said_with_its_line(says, text, said):
    says(text, said)


def _recipe(words):
    return f"    @staticmethod\n    def recipe(operation): return arithmix.Recipe({words})"


HEAD = """import sys, torch, arithmix

class Bad(torch.nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(in_features, out_features)){made}

    def forward(self, x):
        {forward}
{recipe}
"""


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            {"made": "; raise OSError('no file')"},
            "failed when it was made (bad.py, line 6, in __init__",
        ),
        ({"made": "; sys.exit()"}, "it called sys.exit()"),
        ({"forward": "return x @ self.v"}, "(bad.py, line 9, in forward: `return x @ self.v`)"),
        ({"forward": "return (x @ self.w)[:, 0]"}, "must return (128, 1); got (128,)"),
        ({"forward": "return (x @ self.w).sum()"}, "got ()"),
        ({"forward": "return x * self.w.sum()"}, "got (128, 2)"),
        ({"forward": "return x.sum(-1, keepdim=True)"}, "does not depend on its parameters"),
        (
            {"made": "\n        del self.w", "forward": "return x[:, :1]"},
            "no parameters that require",
        ),
        ({"recipe": "    def recipe(self, operation): ..."}, "bad:Bad.recipe takes self"),
        ({"recipe": _recipe("batch=0")}, "batch must be a whole number from 1 to 1,000,000; got 0"),
        ({"recipe": _recipe("rate=float('inf')")}, "rate must be a finite number above 0; got inf"),
        ({"recipe": _recipe("dtype='int8'")}, "no dtype is called 'int8'"),
        ({"recipe": _recipe("dtype=torch.int8")}, "no dtype is called 'torch.int8'"),
        ({"recipe": _recipe("arguments={'z': torch.ones(2)}")}, "arguments of a recipe are text"),
        ({"recipe": _recipe("arguments=None")}, "arguments must be a dictionary; got None"),
        ({"forward": "raise GeneratorExit"}, "line 9, in forward: `raise GeneratorExit`)"),
        (
            {"recipe": "    recipe = staticmethod(lambda o: 5)"},
            "must return an arithmix.Recipe; got int",
        ),
    ],
)
def test_what_goes_wrong_in_a_unit_is_said_with_its_line(says, parts, said):
    default = {"made": "", "forward": "return x @ self.w", "recipe": ""}
    says(HEAD.format(**default | parts), said)


@pytest.fixture
def says(tmp_path, monkeypatch, capsys):
    """Run a unit of the text given, in this process, and check the one sentence that is said."""

    def run(text, said):
        name = f"bad_{next(NUMBERS)}"  # a module of this name is imported once
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "path", list(sys.path))
        words = ["run", "nalm", "--units", f"{name}:Bad", *PART, "--eager"]
        monkeypatch.setattr(sys, "argv", ["arithmix", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        heard = capsys.readouterr().err
        assert ended.value.code == 2
        assert said.replace("bad", name) in heard
        assert len(heard.strip().splitlines()) == 1

    return run
