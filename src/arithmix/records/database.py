"""An SQLite file of ours: made once, opened to write or to read, and never mistaken for another."""

import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

WAIT = 5.0
"""Seconds to wait for another process that writes."""
APPLICATION = 0x41524D58  # "ARMX": says whose file this is
SCHEMA = 1


class StoreError(ValueError):
    """A store that can't be used, in one sentence."""


class Database:
    """A file to write to. It is made, with its folder, if it is not there.

    Args:
        path: The file.
        tables: The statements that lay out a new one.
    """

    def __init__(self, path: Path, tables: str) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"the folder {path.parent} can't be made: {error.strerror}; name another file"
            ) from error
        with self.plainly():
            self.connection = _connect(path)
            if not self._is_ours():
                # Of several processes that find a new file at once one lays it out: what decides
                # is read again with the file locked.
                with self.transaction():
                    if not self._is_ours():
                        self._lay_out(tables)
            self._log_ahead()

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything or nothing."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    @contextmanager
    def plainly(self) -> Iterator[None]:
        """Say in one sentence what SQLite says in a few words."""
        try:
            yield
        except sqlite3.Error as error:
            said = str(error).lower()
            for sign, sentence in COMPLAINTS.items():
                if sign in said:
                    raise StoreError(sentence.format(path=self.path)) from error
            raise StoreError(f"{self.path} can't be used: {error}; name another file") from error

    def _is_ours(self) -> bool:
        """Whether this is a sound file of ours; False if it is empty.

        Raises:
            StoreError: It is somebody else's, or of another layout.
        """
        # One statement, so that all three are of the same moment.
        application, schema, tables = self.connection.execute(
            "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
            "FROM pragma_application_id, pragma_user_version"
        ).fetchone()
        if application != APPLICATION and (application or tables):
            raise StoreError(
                f"{self.path} is a database of another program and is left as it is; "
                f"name another file"
            )
        if application == APPLICATION and schema != SCHEMA:
            raise StoreError(
                f"{self.path} has the layout {schema} and this arithmix reads {SCHEMA}; "
                f"read it with the arithmix that made it, or name another file"
            )
        if application == APPLICATION:
            (fine,) = self.connection.execute("PRAGMA quick_check(1)").fetchone()
            if fine != "ok":
                raise sqlite3.DatabaseError("malformed")
        return application == APPLICATION

    def _lay_out(self, tables: str) -> None:
        for statement in filter(str.strip, tables.split(";")):
            self.connection.execute(statement)
        self.connection.execute(f"PRAGMA user_version = {SCHEMA}")
        self.connection.execute(f"PRAGMA application_id = {APPLICATION}")

    def _log_ahead(self) -> None:
        """Let readers read while rows are written, and let no row be lost to a power cut."""
        self.connection.execute("PRAGMA synchronous = FULL")
        end = time.monotonic() + WAIT
        while True:
            try:
                self.connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                # This one statement does not wait for another process, whatever the timeout.
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
                time.sleep(0.01)


class ReadOnly(Database):
    """A file to read. It is not changed by a bit, and may lie where nothing can be written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._copy: TemporaryDirectory[str] | None = None
        if not _holds_something(path):
            raise StoreError(f"there are no records at {path}; `arithmix run` makes them")
        with self.plainly():
            self.connection = _connect(path)
            try:
                self._check()
            except sqlite3.OperationalError as error:
                if "locked" in str(error):
                    raise
                self._open_copy()

    def close(self) -> None:
        """Close the file, and forget its copy if there was one."""
        super().close()
        if self._copy is not None:
            self._copy.cleanup()

    def _check(self) -> None:
        self.connection.execute("PRAGMA query_only = ON")
        self._is_ours()

    def _open_copy(self) -> None:
        """Read a copy: SQLite needs a file beside one with a log even to read it."""
        self.connection.close()
        self._copy = TemporaryDirectory(prefix="arithmix-")
        try:
            for part in (self.path, self.path.with_name(f"{self.path.name}-wal")):
                if part.exists():
                    shutil.copy(part, self._copy.name)
        except OSError as error:
            raise sqlite3.OperationalError("unable to open") from error
        self.connection = _connect(Path(self._copy.name) / self.path.name)
        self._check()


def _connect(path: Path) -> sqlite3.Connection:
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name a file in it")
    return sqlite3.connect(path, timeout=WAIT, isolation_level=None)


def _holds_something(path: Path) -> bool:
    """Whether there is a file, or something in its place that opening it will complain of."""
    try:
        return path.stat().st_size > 0 or not path.is_file()
    except OSError:
        return False


COMPLAINTS = {
    "locked": "{path} is in use by another program; try again when that has ended",
    "readonly": "{path} can't be written; make it and its folder writable or name another file",
    "unable to open": "{path} can't be opened; make its folder writable or name another file",
    "not a database": "{path} is not an arithmix database and is left as it is; name another file",
    "malformed": "{path} is damaged, perhaps cut short, and is left as it is; name another file",
    "full": "the disk is full and the last rows were not written to {path}; "
    "what was there is whole: make room and run the same command again",
    "disk i/o": "{path} can't be read or written as it should (disk I/O error); "
    "look at the disk and run the same command again",
}
