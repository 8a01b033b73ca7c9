"""Files that are written whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a path to write to; it takes the place of `path` only once all is written.

    So a full disk or an interrupt leaves what was there before, and never half a file.

    Raises:
        ValueError: The file can't be written, in one sentence.
    """
    try:
        if path.exists() and not path.is_file():  # a pipe or a device can't be replaced
            yield path
            return
        part = path.with_name(f".{path.name}.part")
        try:
            yield part
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise ValueError(f"{path} can't be written: {error.strerror or error}") from error
