"""Where numbers come from: versions, machine, commit. Nothing of when: equal means equal."""

import hashlib
import json
import os
import platform
import subprocess
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import version
from pathlib import Path


@dataclass(frozen=True)
class Provenance:
    """The facts under which rows were made."""

    facts: dict[str, str]

    @cached_property
    def id(self) -> str:
        """A hash of the facts."""
        words = json.dumps(self.facts, sort_keys=True)
        return hashlib.sha256(words.encode()).hexdigest()[:16]


def provenance(**more: str) -> Provenance:
    """Collect the facts of this machine and checkout, and `more` that the caller knows."""
    return Provenance({**_facts(), **more})


@cache
def _facts() -> dict[str, str]:
    package = __name__.partition(".")[0]
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "torch": version("torch"),
        "numpy": version("numpy"),
        "arithmix": import_module(package).__version__,
        "commit": _commit(),
    }


def _commit() -> str:
    """What ARITHMIX_COMMIT says, as for a copy, or else the checkout's commit.

    An installed package may lie inside somebody else's checkout, whose commit says nothing of it.
    """
    if told := os.environ.get("ARITHMIX_COMMIT"):
        return told
    here = Path(__file__)

    def git(*words: str) -> str:
        command = ["git", "-C", str(here.parent), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", here.name)
        package = str(here.parent.parent)
        changed = git("status", "--porcelain", "--untracked-files=no", package)
        return git("rev-parse", "--short=12", "HEAD") + ("+changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
