"""A history that is no regular file, or is locked: refused in words, without waiting."""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import histories as h
import pytest
from serving import request, served

from sash import jobs
from sash.cli import main
from sash.jobs._history import Recorder
from sash.live import History, HistoryError, _file, serve

JOB = """
name = "totals"
[source]
format = "rate"
[time]
column = "timestamp"
watermark = "1s"
[[windows]]
kind = "tumbling"
size = "10s"
[[aggregates]]
function = "count"
[[sinks]]
format = "console"
[live]
path = "live.sqlite"
"""


def job_in(folder: Path) -> Path:
    (folder / "job.toml").write_text(JOB)
    return folder / "job.toml"


def _bound(path: Path) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as made:
        before = Path.cwd()
        os.chdir(path.parent)  # addresses of sockets are short
        made.bind(path.name)
        os.chdir(before)


KINDS: dict[str, Callable[[Path], None]] = {
    "a named pipe": os.mkfifo,
    "a directory": Path.mkdir,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a socket": _bound,
}
WAYS: dict[str, Callable[[Path], Any]] = {
    "read": History.open,
    "write": lambda path: History.create_or_open(path, h.ABOUT),
    "record": lambda path: Recorder.of(jobs.load(job_in(path.parent)), None),
    "serve": serve,
}


def in_time(work: Callable[[], Any]) -> Any:
    """Return what it returns or raise what it raises, and fail where it would wait for ever."""
    ended: list[tuple[Any, BaseException | None]] = []

    def run() -> None:
        try:
            ended.append((work(), None))
        except BaseException as error:
            ended.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert ended, "it still waits"
    found, error = ended[0]
    if error is not None:
        raise error
    return found


@contextmanager
def released(path: Path) -> Iterator[None]:
    """Let those go that wait for the other end of a pipe, whether a test passes or not."""
    try:
        yield
    finally:
        if path.is_fifo():
            os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_refused(kind: str, way: str, path: Path) -> None:
    KINDS[kind](path)
    with released(path), pytest.raises(HistoryError) as raised:
        in_time(lambda: WAYS[way](path))
    said = f" is {kind}, and a history is a regular file: give another path"
    assert str(raised.value) in (f"{path}{said}", f"{path.resolve()}{said}")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_nor_is_what_lies_beside_it(ending: str, way: str, path: Path) -> None:
    """SQLite opens these too."""
    History.create_or_open(path, h.ABOUT).close()
    beside = Path(f"{path}{ending}")
    os.mkfifo(beside)
    with released(beside), pytest.raises(HistoryError) as raised:
        in_time(lambda: WAYS[way](path))
    assert str(raised.value).startswith(f"{beside} is a named pipe")


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_says_so(kind: str, path: Path) -> None:
    """It came after the server."""
    with served(path) as server, released(path):
        KINDS[kind](path)
        for name in ("health", "about", "keys"):
            reply = in_time(lambda name=name: request(server, f"/api/{name}"))
            assert f"is {kind}" in reply.json["broken"]


def test_the_command_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "live.sqlite"
    os.mkfifo(path)
    with released(path):
        assert in_time(lambda: main(["live", str(job_in(tmp_path)), "--port", "0"])) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "live.sqlite is a named pipe, and a history is a regular file" in said


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_names_that_no_file_has(tmp_path: Path, name: str) -> None:
    for way in ("read", "write", "serve"):
        with pytest.raises(HistoryError, match="cannot be used as a history"):
            WAYS[way](tmp_path / name)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HistoryError, match=r"the folder .*/file of the history cannot be made"):
        History.create_or_open(tmp_path / "file" / "live.sqlite", h.ABOUT)


# ---- locks -------------------------------------------------------------------------------------


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        yield


@pytest.mark.parametrize("way", ["read", "write", "record"])
def test_a_lock_is_not_waited_for_long(
    way: str, told: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_file, "PATIENCE", 0.01)
    with locked(told), pytest.raises(HistoryError, match=r"Another program has locked it") as found:
        in_time(lambda: WAYS[way](told))
    assert str(told) in str(found.value)


def test_the_page_shows_a_lock(told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_file, "PATIENCE", 0.01)
    with served(told) as server:
        with locked(told):
            found = in_time(lambda: request(server, "/api/health"))
            assert "Another program has locked it" in found.json["broken"]
        assert request(server, "/api/health").json["windows"] == 7


def test_a_lock_while_a_stream_runs(told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be written is written when it comes again."""
    monkeypatch.setattr(_file, "_PATIENCE_WHILE_RUNNING", 0.01)
    with History.create_or_open(told, h.ABOUT) as history:
        before = history.meta()
        with closing(sqlite3.connect(told, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(HistoryError, match="Another program has locked it"):
                history.record(2, h.results(h.hourly("c", [1.0])))
        assert history.meta() == before
        history.record(2, h.results(h.hourly("c", [1.0])))
        assert history.meta()["windows"] == before["windows"] + 1


def test_how_long_a_lock_is_waited_for(told: Path) -> None:
    """The page asks again after eight seconds."""
    with History.open(told) as history:
        assert history._rows("PRAGMA busy_timeout") == [(5000,)]
    with History.create_or_open(told, h.ABOUT) as history:
        assert history._rows("PRAGMA busy_timeout") == [(30_000,)]
