"""What the commands share: their options, and how they are read."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..names import choose
from ..studies import experiment
from ..study import Study

DATABASE = Path("arithmix.db")
MOST_SEEDS = 10_000
StudyName = Annotated[
    str, typer.Argument(metavar="STUDY", help="A study; `arithmix list` names them.")
]
Database = Annotated[Path, typer.Option("--db", help="The file of records.")]
Format = Annotated[str, typer.Option("--format", help="terminal, markdown, latex or csv.")]
Units = Annotated[str | None, typer.Option(help=r"Units, as dmu,dmu\[gate=single],my_file:MyUnit.")]
Operations = Annotated[str | None, typer.Option(help="Operations, as add,mul.")]
Ranges = Annotated[str | None, typer.Option(help="Ranges, as sym,p20.")]
Device = Annotated[str, typer.Option(help="cpu, cuda, or auto for cuda if it is there.")]
Seeds = Annotated[str | None, typer.Option(help="Seeds, as 0-24 or 0,3,7.")]


def console() -> Console:
    """A terminal as it is; a file or pipe wide enough that no cell is cut."""
    console = Console()
    return console if console.is_terminal else Console(width=200)


def print_line(text: str) -> None:
    """Print a line as it is, however long."""
    Console().print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)


def narrow(
    name: str, units: str | None, operations: str | None, ranges: str | None, seeds: str | None
) -> Study:
    """The part of a study that the options ask for."""
    study = experiment(name).study()
    labels = None
    if units is not None:
        from ..units._spec import parse

        labels = [parse(text).label for text in _split(units, "units", r",(?![^\[]*\])")]
    return study.narrow(
        labels,
        _split(operations, "operations") if operations is not None else None,
        _split(ranges, "ranges") if ranges is not None else None,
        seeds_of(seeds) if seeds is not None else None,
    )


def _split(text: str, what: str, separator: str = ",") -> list[str]:
    words = [word.strip() for word in re.split(separator, text) if word.strip()]
    if not words:
        raise ValueError(f"--{what} names nothing; leave it out for all {what}")
    return words


def seeds_of(text: str) -> list[int]:
    """The seeds that a text as 0-24 or 0,3,7 names."""
    seeds: list[int] = []
    for word in _split(text, "seeds"):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last or last >= 2**32:
            raise ValueError(f"seeds are written as 0-24 or 0,3,7, below 2^32; got {word!r}")
        if len(seeds) + last - first >= MOST_SEEDS:  # before a list of them fills the memory
            raise ValueError(f"at most {MOST_SEEDS:,} seeds can be run at once; got {word!r}")
        seeds += range(first, last + 1)
    return list(dict.fromkeys(seeds))


def need(module: str, extra: str) -> None:
    """Refuse what an extra is for where it is not installed, before any work is done in vain."""
    if find_spec(module) is None:
        raise ValueError(f"this needs {module}, which is not here; install arithmix[{extra}]")


def find_device(name: str) -> str:
    """Cpu or cuda, from what was asked and what is there."""
    import torch

    there = torch.cuda.is_available()
    choose(name, ("auto", "cpu", "cuda"), "device")
    if name == "cuda" and not there:
        raise ValueError("torch sees no CUDA device here; use --device cpu")
    return name if name != "auto" else ("cuda" if there else "cpu")
