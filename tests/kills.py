"""Runs that are killed or interrupted at moments spread over their whole life.

    python -m tests.kills 200 50

sends 200 SIGKILL and 50 SIGINT to runs, to forced runs and to two writers of one file, looks at the
file after each, and says what it saw.
"""

import itertools
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from arithmix.records.row import Row
from arithmix.records.store import Store

ORDINARY = Path(__file__).parent / "bench" / "ordinary.py"
UNITS = "unified[steps=80],ordinary:Counting[steps=400]"
"""Some that are trained side by side, and some one by one, whose rows come one by one."""
STUDY = ["nalm", "--units", UNITS, "--operations", "add", "--ranges", "sym,n20,p20"]
STUDY += ["--seeds", "0,1", "--eager"]
MEMBERS = 12
KINDS = ("run", "forced", "writers")


def command(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "arithmix", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, cwd=cwd, timeout=300)


def begin(*words: object, cwd: Path) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "arithmix", *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True, cwd=cwd)


def rows(path: Path) -> dict[str, Row]:
    with Store(path, create=False) as store:
        return {row.asked.key: row for row in store.rows()}


def assert_equal_rows(one: dict[str, Row], other: dict[str, Row]) -> None:
    assert one.keys() == other.keys()
    for key, row in one.items():
        twin = other[key]
        assert (row.asked, row.status, row.steps) == (twin.asked, twin.status, twin.steps)
        assert row.parameters == twin.parameters
        for name in ("step", "validation", "test", "sparsity"):
            mine, theirs = getattr(row.curve, name), getattr(twin.curve, name)
            assert mine.tobytes() == theirs.tobytes()


def undisturbed(folder: Path) -> dict[str, Row]:
    """The rows of the study, run in `folder` without any interruption."""
    shutil.copy(ORDINARY, folder)
    done = command("run", *STUDY, "--db", "whole.db", cwd=folder)
    assert f"trained {MEMBERS}" in done.stdout, done.stderr
    return rows(folder / "whole.db")


class Campaign:
    """Disturbs runs in a folder of its own, and compares what they leave with `whole`."""

    def __init__(self, whole: dict[str, Row], folder: Path, seed: int = 0) -> None:
        self.whole, self.folder = whole, folder
        self.dice = random.Random(seed)
        self.seen: Counter[str] = Counter()
        shutil.copy(ORDINARY, folder)

    def disturb(self, kind: str, how: signal.Signals) -> None:
        """Start what `kind` says, end it somewhere in its life, and look at what is there."""
        path = self.folder / f"{kind}.db"
        if kind == "forced" and not path.exists():
            command("run", *STUDY, "--db", path, cwd=self.folder)
        before = set(rows(path)) if path.exists() and path.stat().st_size else set()
        if kind != "forced" and len(before) > MEMBERS - 3:
            for part in self.folder.glob(f"{path.name}*"):  # with the log of a killed run
                part.unlink()
            before = set()
        words = ["run", *STUDY, "--db", path, *(["--force"] if kind == "forced" else [])]
        started = [begin(*words, cwd=self.folder) for _ in range(2 if kind == "writers" else 1)]
        left = MEMBERS if kind == "forced" else MEMBERS - len(before)
        written = self._wait(path, started[0], newest(path), left)
        alive = [process for process in started if process.poll() is None]
        for process in alive:
            process.send_signal(how)
        said = [process.communicate() for process in started]
        self._look(kind, how, path, before)
        if not alive:
            self.seen["too late"] += 1
            return
        moment = "before its first row" if written <= 0 else "after its last row"
        self.seen["between rows" if 0 < written < left else moment] += 1
        for process, (out, err) in zip(started, said, strict=True):
            if how == signal.SIGINT and process in alive and "to train" in out:
                # A signal that arrives when all is said ends the interpreter as it always does.
                ended = process.returncode in (0, 130) or out.splitlines()[-1].startswith("solved")
                assert ended, (process.returncode, out, err)
                assert "Traceback" not in err, err

    def _wait(self, path: Path, process: subprocess.Popen[str], start: int, left: int) -> int:
        """Wait until some of the rows are written, and a little longer; say how many were."""
        wanted = self.dice.randrange(1, left) if self.dice.random() < 0.8 else 0
        while newest(path) - start < wanted and process.poll() is None:
            time.sleep(0.01)
        time.sleep(self.dice.uniform(0.0, 0.15) if wanted else self.dice.uniform(0.0, 4.0))
        return newest(path) - start

    def _look(self, kind: str, how: signal.Signals, path: Path, before: set[str]) -> None:
        self.seen[f"{how.name} {kind}"] += 1
        if not path.exists() or not path.stat().st_size:
            assert not before
            return
        found = rows(path)
        assert before <= found.keys() <= self.whole.keys(), "rows were lost"
        if kind == "forced":
            assert len(found) == MEMBERS, "rows were lost"
        assert_equal_rows(found, {key: self.whole[key] for key in found})

    def finish(self) -> None:
        """Let everything that was disturbed come to its end."""
        for kind in KINDS:
            path = self.folder / f"{kind}.db"
            if path.exists():
                done = command("run", *STUDY, "--db", path, cwd=self.folder)
                assert done.returncode == 0, done.stderr
                assert_equal_rows(rows(path), self.whole)


def newest(path: Path) -> int:
    """How many rows were ever written to a file: replaced ones get a new number."""
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)) as db:
            return db.execute("SELECT coalesce(max(rowid), 0) FROM rows").fetchone()[0]
    except sqlite3.Error:
        return 0  # not laid out yet


def main(kills: int, interrupts: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "often").mkdir()
        campaign = Campaign(undisturbed(folder), folder / "often")
        signals = [signal.SIGKILL] * kills + [signal.SIGINT] * interrupts
        campaign.dice.shuffle(signals)
        began = time.monotonic()
        for number, (how, kind) in enumerate(zip(signals, itertools.cycle(KINDS), strict=False), 1):
            campaign.disturb(kind, how)
            if number % 10 == 0:
                print(f"{number}: {dict(campaign.seen)}", flush=True)
        campaign.finish()
        print(f"{len(signals)} in {time.monotonic() - began:.0f} s: {dict(campaign.seen)}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
