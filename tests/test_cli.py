"""The command line as a user meets it, in processes of its own."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from arithmix.records.store import Store

SMALL = ["dmu", "--seeds", "0,1", "--operations", "add,div", "--ranges", "sym,n20,p20", "--eager"]
KILLS = 20


def command(*words, cwd):
    line = [sys.executable, "-m", "arithmix", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, cwd=cwd, timeout=300)


def begin(*words, cwd):
    line = [sys.executable, "-m", "arithmix", *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True, cwd=cwd)


def rows(path):
    with Store(path, create=False) as store:
        return {row.asked.key: row for row in store.rows()}


def assert_equal_rows(one, other):
    assert one.keys() == other.keys()
    for key, row in one.items():
        twin = other[key]
        assert (row.asked, row.status, row.steps) == (twin.asked, twin.status, twin.steps)
        assert row.parameters == twin.parameters
        for name in ("step", "validation", "test", "sparsity"):
            mine, theirs = getattr(row.curve, name), getattr(twin.curve, name)
            assert mine.tobytes() == theirs.tobytes()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small study, run without interruption."""
    folder = tmp_path_factory.mktemp("finished")
    done = command("run", *SMALL, "--out", "whole.db", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "solved 12/12"
    return folder / "whole.db"


def test_killed_twenty_times_a_study_ends_with_the_same_rows(finished, tmp_path):
    dice = random.Random(0)
    for _ in range(KILLS):
        process = begin("run", *SMALL, "--out", "often.db", cwd=tmp_path)
        time.sleep(dice.uniform(0.5, 5.0))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    last = command("run", *SMALL, "--out", "often.db", cwd=tmp_path)
    assert last.stdout.splitlines()[-1] == "solved 12/12"
    assert_equal_rows(rows(tmp_path / "often.db"), rows(finished))


def test_an_interrupt_says_how_to_go_on(tmp_path):
    for how in (signal.SIGINT, signal.SIGTERM):
        process = begin("run", *SMALL, "--out", "some.db", cwd=tmp_path)
        while "to train" not in (process.stdout.readline() if process.stdout else ""):
            pass
        process.send_signal(how)
        out, err = process.communicate()
        assert process.returncode == 130
        assert "the same command goes on" in out
        assert "Traceback" not in err


def test_a_finished_study_is_not_trained_again(finished):
    again = command("run", *SMALL, "--out", finished, cwd=finished.parent)
    assert "trained 0" in again.stdout
    forced = [*SMALL[:-1], "--ranges", "p20", "--eager", "--force", "--out", finished]
    before = rows(finished)
    done = command("run", *forced, cwd=finished.parent)
    assert "trained 4" in done.stdout, done.stderr
    assert_equal_rows(rows(finished), before)


def test_a_part_trained_alone_has_the_rows_of_the_whole(finished, tmp_path):
    part = ["dmu", "--seeds", "1", "--operations", "add", "--ranges", "n20", "--eager"]
    command("run", *part, "--out", "part.db", cwd=tmp_path)
    whole = rows(finished)
    for key, row in rows(tmp_path / "part.db").items():
        assert_equal_rows({key: row}, {key: whole[key]})


def test_tables_come_in_four_forms(finished):
    for form, sign in (
        ("terminal", "solved 12/100"),
        ("markdown", "| range | add | paper |"),
        ("latex", r"\begin{tabular}{lrrrrrrrr}"),
        ("csv", "range,add,paper,sub,paper"),
    ):
        options = ["--seeds", "0-24", "--ranges", "sym", "--format", form, "--db", finished]
        done = command("table", "dmu", *options, cwd=finished.parent)
        assert sign.replace("12/100", "4/100") in done.stdout, done.stderr
    done = command("status", "--db", finished, cwd=finished.parent)
    assert "12/900" in done.stdout and "12 stopped" in done.stdout


def test_thresholds_are_the_papers_within_five_percent(tmp_path):
    done = command("thresholds", "--format", "csv", cwd=tmp_path)
    lines = [line.split(",") for line in done.stdout.splitlines()]
    ours = [line for line in lines if line[0] in ("sym", "n01", "p20")]
    assert len(ours) == 6
    for line in ours[:3]:
        values = np.array(line[1:], dtype=float)
        assert (np.abs(values[::2] / values[1::2] - 1) < 0.05).all()


OWN_UNIT = """
import torch

class Weighted(torch.nn.Module):
    def __init__(self, in_features, out_features, scale=0.1):
        super().__init__()
        self.w = torch.nn.Parameter(scale * torch.randn(out_features, in_features))

    def forward(self, x):
        return x @ self.w.T
"""


def test_ones_own_module_runs_through_the_same_command(tmp_path):
    source = OWN_UNIT + "\n    @staticmethod\n    def recipe(operation):\n        import arithmix\n"
    source += "        return arithmix.Recipe(rate=1e-2, steps=6000)\n"
    (tmp_path / "my_file.py").write_text(source)
    words = ["--units", "my_file:Weighted[scale=0.5]", "--operations", "add", "--ranges", "p20"]
    done = command("run", "dmu", *words, "--seeds", "0-2", "--eager", cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "solved 3/3", done.stdout + done.stderr
    shown = command("table", "dmu", *words, "--seeds", "0-2", cwd=tmp_path)
    assert "Success of my_file:Weighted[scale=0.5]" in shown.stdout, shown.stderr
    Path(tmp_path / "my_file.py").write_text(source.replace("1e-2", "2e-2"))
    again = command("run", "dmu", *words, "--seeds", "0-2", "--eager", cwd=tmp_path)
    assert "trained 3" in again.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "dum"], "no study is called 'dum'; did you mean dmu? (the studies are "),
        (["run", "dmu", "--units", "dmuu"], "no unit is called 'dmuu'; did you mean dmu"),
        (["run", "dmu", "--units", "dmu[gat=1]"], "dmu has no argument 'gat'; it takes selector"),
        (["run", "dmu", "--units", "dmu[gate=1"], "name[key=value,...]"),
        (["run", "dmu", "--units", "dmu[gate=triple]"], "no gate is called 'triple'"),
        (["run", "dmu", "--units", "nowhere:Thing"], "can't be loaded"),
        (["run", "dmu", "--operations", "ad"], "did you mean add"),
        (["run", "dmu", "--ranges", "p2"], "did you mean p20"),
        (["run", "dmu", "--ranges", ","], "--ranges names nothing"),
        (["run", "dmu", "--seeds", "x"], "seeds are written as 0-24"),
        (["run", "dmu", "--seeds", "5-2"], "'5-2' came"),
        (["run", "dmu", "--device", "gpu"], "no device is called 'gpu'"),
        (["table", "dmu"], "there are no records at arithmix.db"),
        (["table", "dmu", "--format", "latx"], "did you mean latex"),
        (["status", "--db", "none.db"], "there are no records at none.db"),
        (["export", "rows.csv"], "there are no records"),
        (["run", "dmu", "--out", "/proc/none/a.db"], "can't be made"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_two(words, sentence, tmp_path):
    done = command(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir()) or words[0] == "run"
