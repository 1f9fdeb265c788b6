"""Failures of files and of SQLite, at the call that a test chooses and not when a disk does."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

ERRORS = (errno.EIO, errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EMFILE)
CRASHED = 77
"""The exit status of a process that has crashed by `crash`."""
_CALLS = ("open", "write", "fsync", "mkdir", "rmdir", "unlink", "rename", "replace")
_SAID = {
    errno.EIO: ("disk I/O error", sqlite3.SQLITE_IOERR),
    errno.ENOSPC: ("database or disk is full", sqlite3.SQLITE_FULL),
    errno.EROFS: ("attempt to write a readonly database", sqlite3.SQLITE_READONLY),
    errno.EACCES: ("unable to open database file", sqlite3.SQLITE_CANTOPEN),
    errno.EMFILE: ("unable to open database file", sqlite3.SQLITE_CANTOPEN),
}
Fail = Callable[[str, str], NoReturn]
"""What is done instead of a call, or after it: given its name and its path."""


def error(number: int) -> Fail:
    """Return what fails with this error, as the system or SQLite would raise it."""

    def fail(name: str, path: str) -> NoReturn:
        if not name.startswith("sqlite"):
            raise OSError(number, os.strerror(number), path)
        said, code = _SAID[number]
        raised = sqlite3.OperationalError(said)
        raised.sqlite_errorcode = code
        raise raised

    return fail


def crash(name: str, path: str) -> NoReturn:
    """End the process at once: nothing is closed, rolled back or written any more."""
    os._exit(CRASHED)


class Faults:
    """Counts the calls that concern a folder, and has one of them fail.

    ``after`` has the call done first, and its success not reported; ``for_good`` has all later
    ones fail too.
    """

    def __init__(
        self, folder: Path, at: int, fail: Fail, *, after: bool = False, for_good: bool = False
    ) -> None:
        self._folder, self._at, self._fail = str(folder), at, fail
        self._after, self._for_good = after, for_good
        self.calls = 0
        self.failed: str | None = None
        """The call that failed."""

    def call(self, name: str, path: str, work: Callable[[], Any]) -> Any:
        """Do a call, or have it fail."""
        self.calls += 1
        if self.calls != self._at and not (self._for_good and self.calls > self._at):
            return work()
        if self._after:
            work()
        self.failed = f"{name} of {path}"
        return self._fail(name, path)

    def of_os(self, name: str) -> Callable[..., Any]:
        """Return a function of ``os`` that may fail."""
        real = getattr(os, name)

        def called(target: Any, *more: Any, **named: Any) -> Any:
            path = _path_of(target)
            if not path.startswith(self._folder):
                return real(target, *more, **named)
            return self.call(name, path, lambda: real(target, *more, **named))

        return called

    def connect(self, database: str | Path, *more: Any, **named: Any) -> sqlite3.Connection:
        """Connect to SQLite, with statements that may fail."""
        faults, path = self, str(database).removeprefix("file://").partition("?")[0]

        class Connection(sqlite3.Connection):
            def execute(self, *arguments: Any) -> sqlite3.Cursor:
                found: sqlite3.Cursor = faults.call(
                    f"sqlite execute {arguments[0].split()[0]}",
                    path,
                    lambda: sqlite3.Connection.execute(self, *arguments),
                )
                return found

            def executemany(self, *arguments: Any) -> sqlite3.Cursor:
                found: sqlite3.Cursor = faults.call(
                    "sqlite executemany",
                    path,
                    lambda: sqlite3.Connection.executemany(self, *arguments),
                )
                return found

        named["factory"] = Connection
        return self.call("sqlite connect", path, lambda: _connect(database, *more, **named))  # type: ignore[no-any-return]


_connect = sqlite3.connect


def _path_of(target: Any) -> str:
    if isinstance(target, int):  # a file descriptor
        return str(Path(f"/proc/self/fd/{target}").readlink())
    return os.fspath(target) if isinstance(target, str | os.PathLike) else ""


@contextmanager
def injected(folder: Path, at: int, fail: Fail, **how: bool) -> Iterator[Faults]:
    """Have the call number ``at`` inside fail, of those to files in ``folder``."""
    faults = Faults(folder, at, fail, **how)
    calls = {name: faults.of_os(name) for name in _CALLS}
    with (
        mock.patch.multiple(os, **calls),
        mock.patch.object(sqlite3, "connect", faults.connect),
    ):
        yield faults
