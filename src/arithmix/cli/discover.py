"""`arithmix discover`."""

import csv
from pathlib import Path
from typing import Annotated

import typer

from ..names import choose
from ..table import Table, write
from ._options import Device, Format, console, find_device, print_line


def discover(
    data: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV file of numbers.")],
    target: Annotated[str | None, typer.Option(help="The column to explain; the last one.")] = None,
    depth: Annotated[int, typer.Option(help="The largest number of steps.")] = 3,
    constants: Annotated[str, typer.Option(help="Numbers a formula may use, as 1,2.")] = "",
    memory: Annotated[float, typer.Option(help="GiB of memory before a beam is used.")] = 2.0,
    device: Device = "auto",
    form: Format = "terminal",
) -> None:
    """Find the formula that turns the columns of a file into one of them."""
    names, lines = read(data)
    goal = len(names) - 1 if target is None else names.index(choose(target, names, "column"))
    numbers = [_constant(word) for word in constants.split(",") if word.strip()]
    from ..dag import Discover

    inputs = [row[:goal] + row[goal + 1 :] for row in lines]
    found = Discover(
        depth, constants=numbers, budget=int(memory * 2**30), device=find_device(device)
    ).fit(inputs, [row[goal] for row in lines], names[:goal] + names[goal + 1 :])
    table = Table(
        f"{names[goal]} of {data.name}",
        ["formula", "error on held-out rows", "probability", "steps"],
        [
            [one.expression, f"{one.error:.2e}", f"{one.probability:.3f}", str(one.plan.depth)]
            for one in found.candidates_
        ],
        f"searched {found.searched_}; the error is relative to the root mean square",
    )
    if form == "terminal":
        print_line(f"{names[goal]} = {found.expression_}")
    write([table], form, console())


def read(path: Path) -> tuple[list[str], list[list[float]]]:
    """The names of the columns, x0, x1, ... and y where there are none, and the rows."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ValueError(f"{path} can't be read: {reason}") from None
    first = text.partition("\n")[0]
    mark = max(",;\t", key=first.count)
    cells = [row for row in csv.reader(text.splitlines(), delimiter=mark) if row]
    if not cells or len(cells[0]) < 2:
        raise ValueError(f"{path} needs two columns at least, with commas between them")
    names = [word.strip() for word in cells[0]]
    if all(_number(word) is not None for word in names):
        names = [*(f"x{i}" for i in range(len(names) - 1)), "y"]
        header = 0
    else:
        header = 1
    if len(set(names)) < len(names) or "" in names:
        raise ValueError(f"the columns of {path} need different names; got {', '.join(names)}")
    rows = []
    for place, row in enumerate(cells[header:], header + 1):
        if len(row) != len(names):
            raise ValueError(f"row {place} of {path} has {len(row)} cells; {len(names)} are needed")
        values = [_number(word) for word in row]
        for name, word, value in zip(names, row, values, strict=True):
            if value is None:
                raise ValueError(f"row {place} of {path} has {word!r} for {name}, not a number")
        rows.append([value for value in values if value is not None])
    if len(rows) < 4:
        raise ValueError(f"{path} has {len(rows)} rows of numbers; four are needed at least")
    return names, rows


def _number(word: str) -> float | None:
    """The finite number that a cell holds."""
    try:
        value = float(word)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def _constant(word: str) -> float:
    value = _number(word)
    if value is None:
        raise ValueError(f"constants are numbers, as 1,2; got {word!r}")
    return value
