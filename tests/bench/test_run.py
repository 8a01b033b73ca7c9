"""A study's way through processes and back to one store."""

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from arithmix.bench.asked import asks
from arithmix.bench.run import _jobs, _split, run
from arithmix.progress import Progress
from arithmix.records.store import Store
from arithmix.studies import experiment

VARIANTS = ["dmu", "dmu[gate=single]", "dmu[rate=0.02]"]
PART = experiment("dmu").study().narrow(operations=["add", "div"], ranges=["sym"], seeds=[0, 1])


def made(path, study=PART, **more):
    with Store(path) as store:
        summary = run(
            study, store, compiled=False, progress=Progress(Console(file=io.StringIO())), **more
        )
        return summary, {row.asked.key: row for row in store.rows()}


def test_processes_make_the_rows_of_one(tmp_path):
    study = PART.narrow(units=VARIANTS)
    summary, alone = made(tmp_path / "one.db", study, processes=1)
    assert (summary.members, summary.trained) == (12, 12)
    again, together = made(tmp_path / "two.db", study, processes=2)
    assert again == summary and alone.keys() == together.keys()
    for key, row in alone.items():
        twin = together[key]
        assert (row.status, row.steps, row.parameters) == (twin.status, twin.steps, twin.parameters)
        for name in ("step", "validation", "test", "sparsity"):
            mine, theirs = getattr(row.curve, name), getattr(twin.curve, name)
            assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize(("parts", "sizes"), [(1, [900]), (2, [512, 388]), (99, [64] * 14 + [4])])
def test_a_job_is_shared_out_in_whole_lanes(parts, sizes):
    study = experiment("dmu").study()
    (job,) = _jobs(asks(study), "dmu", "cpu", False)
    shares = _split(job, parts)
    assert [len(share.asked) for share in shares] == sizes
    assert tuple(ask for share in shares for ask in share.asked) == job.asked


BROKEN = """import multiprocessing, os, sys
import torch

class Broken(torch.nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.w = torch.nn.Parameter(torch.zeros(3, 3))

    def forward(self, x):
        return x @ self.w
"""
IN_A_CHILD = """
        if multiprocessing.parent_process() is not None:
            {line}
        return x.sum(-1, keepdim=True) * self.w[0, 0]
"""


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("Wrong", None, r"wrong_unit:Wrong failed in a first try \(wrong_unit.py, line 10, in "),
        ("Gone", "os._exit(7)", "ended with code 7, perhaps for want of memory"),
        ("Left", "sys.exit(3)", r"\(left_unit.py, line 11, in .*\): it called sys.exit\(3\)"),
        ("Divided", "1 / 0", r"\(divided_unit.py, line 11, in .*ZeroDivisionError: division by"),
    ],
)
def test_what_goes_wrong_in_a_process_is_one_sentence(tmp_path, monkeypatch, name, line, said):
    text = BROKEN.replace("Broken", name)
    if line is not None:
        text = text.replace("\n        return x @ self.w\n", IN_A_CHILD.format(line=line))
    (tmp_path / f"{name.lower()}_unit.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    study = PART.narrow(units=[f"{name.lower()}_unit:{name}", "dmu"])
    with pytest.raises(ValueError, match=said):
        made(tmp_path / "some.db", study, processes=2)


PROGRAM = """
from tests.bench.test_run import VARIANTS, made
from arithmix.studies import experiment

if __name__ == "__main__":
    made("killed.db", experiment("dmu").study().narrow(units=VARIANTS, seeds=[0]), processes=2)
"""


def test_no_process_outlives_a_killed_parent(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    there = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])}
    parent = subprocess.Popen([sys.executable, "program.py"], cwd=tmp_path, env=there)
    children = []
    while len(children) < 2 and parent.poll() is None:
        time.sleep(0.2)
        children = _children(parent.pid)
    time.sleep(3)
    still = [pid for pid in children if _runs(pid)]
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert len(children) == len(still) == 2, "there was nobody to outlive the parent"
    for _ in range(100):
        alive = [pid for pid in children if _runs(pid)]
        if not alive:
            return
        time.sleep(0.1)
    pytest.fail(f"{alive} are still there")


def _children(parent):
    """The processes that multiprocessing has started for `parent` to work in."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            above = int(stat.read_text().rpartition(")")[2].split()[1])
            line = (stat.parent / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if above == parent and b"spawn_main" in line:
            found.append(int(stat.parent.name))
    return found


def _runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
