"""What goes wrong in a user's own code is said with the user's own file and line."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..records.source import code


class UnitError(ValueError):
    """Something that a user's own unit did, in one sentence."""


@contextmanager
def blamed(unit: str, doing: str) -> Iterator[None]:
    """Say in one sentence what a user's own unit raised, and where in the user's files.

    `sys.exit` counts: a unit that ends the program has failed, too.
    """
    try:
        yield
    except UnitError:
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise UnitError(f"{unit} failed {doing}{_where(unit, error)}: {_what(error)}") from error


def _where(unit: str, error: BaseException) -> str:
    """The last line of the user's own files that led to the error."""
    own = {path.resolve() for path in code(unit.partition(":")[0]).files}
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).resolve() in own:
        return f" ({_shown(Path(error.filename))}, line {error.lineno})"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).resolve() in own
    ]
    if not frames:
        return ""
    last = frames[-1]
    line = f": `{last.line}`" if last.line else ""
    return f" ({_shown(Path(last.filename))}, line {last.lineno}, in {last.name}{line})"


def _shown(path: Path) -> str:
    path, here = path.resolve(), Path.cwd().resolve()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _what(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"it called sys.exit({'' if error.code is None else repr(error.code)})"
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    line = said.strip().partition("\n")[0]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__
