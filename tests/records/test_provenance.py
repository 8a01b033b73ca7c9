import importlib.util
import shutil
import subprocess

import pytest

from arithmix.records import provenance as ours


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A copy of the package's module in a checkout of its own, and a way to call git there."""
    monkeypatch.delenv("ARITHMIX_COMMIT", raising=False)
    folder = tmp_path / "package" / "records"
    folder.mkdir(parents=True)
    (tmp_path / "package" / "other.py").write_text("one = 1\n")
    shutil.copy(ours.__file__, folder / "provenance.py")
    spec = importlib.util.spec_from_file_location("copied", folder / "provenance.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def git(*words):
        who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
        command = ["git", "-C", str(tmp_path), *who, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    return tmp_path, module._commit, git


def test_a_checkout_tells_its_commit_and_whether_anything_in_the_package_changed(checkout):
    folder, commit, git = checkout
    git("add", "package")
    git("commit", "-qm", "first")
    head = git("rev-parse", "--short=12", "HEAD")
    assert commit() == head
    (folder / "package" / "other.py").write_text("one = 2\n")
    assert commit() == f"{head}+changes"


def test_the_commit_of_somebody_elses_checkout_is_not_ours(checkout):
    folder, commit, git = checkout
    (folder / "theirs.py").write_text("two = 2\n")
    git("add", "theirs.py")
    git("commit", "-qm", "theirs")
    assert commit() == "unknown"


def test_a_copy_can_be_told_its_commit(checkout, monkeypatch):
    _, commit, _ = checkout
    monkeypatch.setenv("ARITHMIX_COMMIT", "0123456789ab")
    assert commit() == "0123456789ab"
