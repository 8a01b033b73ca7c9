"""The command line as a user meets it, in processes of its own."""

import csv
import io
import shutil
import signal
from pathlib import Path

import pytest

import arithmix

from .kills import KINDS, Campaign, assert_equal_rows, begin, command, rows, undisturbed

SMALL = ["dmu", "--seeds", "0,1", "--operations", "add,div", "--ranges", "sym,n20,p20", "--eager"]
DISTURBED = 12


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small study, run without interruption."""
    folder = tmp_path_factory.mktemp("finished")
    done = command("run", *SMALL, "--out", "whole.db", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "solved 12/12"
    return folder / "whole.db"


def test_disturbed_over_its_whole_life_a_study_ends_with_the_same_rows(tmp_path):
    (tmp_path / "often").mkdir()
    campaign = Campaign(undisturbed(tmp_path), tmp_path / "often")
    signals = [signal.SIGKILL] * 4 + [signal.SIGINT]
    for number in range(DISTURBED):
        campaign.disturb(KINDS[number % len(KINDS)], signals[number % len(signals)])
    campaign.finish()
    assert campaign.seen["between rows"] >= DISTURBED / 2, campaign.seen


def test_an_interrupt_says_how_to_go_on(tmp_path):
    for how in (signal.SIGINT, signal.SIGTERM):
        process = begin("run", *SMALL, "--out", "some.db", cwd=tmp_path)
        assert process.stdout is not None
        # The end of its output ends the loop too: then it has failed, and the last check says so.
        said = next((line for line in process.stdout if "to train" in line), "")
        process.send_signal(how)
        out, err = process.communicate()
        assert "to train" in said, err
        assert process.returncode == 130
        assert "run the same command again to go on" in out
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
        ("terminal", "solved 100/120"),  # 25 seeds come with the package
        ("markdown", "| range | add | paper |"),
        ("latex", r"\begin{tabular}{lrrrrrrrr}"),
        ("csv", "\ndmu,add,sym,2,dmu,"),
    ):
        options = ["--seeds", "0-29", "--ranges", "sym", "--format", form, "--db", finished]
        done = command("table", "dmu", *options, cwd=finished.parent)
        assert sign in done.stdout, done.stderr
    done = command("status", "--db", finished, cwd=finished.parent)
    assert "12/900" in done.stdout and "12 stopped" in done.stdout


def test_thresholds_are_the_papers_within_five_percent(tmp_path):
    done = command("thresholds", "--format", "csv", cwd=tmp_path)
    lines = [line for line in csv.DictReader(io.StringIO(done.stdout)) if "dmu" in line["table"]]
    values = {(line["row"], line["column"]): float(line["value"]) for line in lines}
    assert len(values) == 9 * 8
    for (range_, column), value in values.items():
        ours = values[range_, column.removesuffix(" paper")]
        assert abs(ours / value - 1) < 0.05


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
        (["run", "dmu", "--seeds", "5-2"], "got '5-2'"),
        (["run", "dmu", "--seeds", "0-99999999"], "at most 10,000 seeds can be run at once"),
        (["run", "dmu", "--device", "gpu"], "no device is called 'gpu'"),
        (["table", "ablation-rate"], "there are no records at arithmix.db"),
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


def test_the_version_is_told(tmp_path):
    done = command("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"arithmix {arithmix.__version__}\n")


def test_a_forced_run_keeps_each_row_until_its_new_one_is_ready(finished, tmp_path):
    shutil.copy(finished, tmp_path / "forced.db")
    process = begin("run", *SMALL, "--force", "--out", "forced.db", cwd=tmp_path)
    assert process.stdout is not None
    said = next((line for line in process.stdout if "to train" in line), "")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert "12 of 12 members to train" in said, err
    assert "the others there are as they were" in out
    assert_equal_rows(rows(tmp_path / "forced.db"), rows(finished))
