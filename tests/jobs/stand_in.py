"""A stand-in for Spark that runs a job's stream with files only: `_Stream` and all that it writes.

It guarantees what Spark does and no more. A micro-batch is handed over until its number is in the
log of commits, so again after any failure in between. Files are added to a folder by writing parts
in a folder within, moving them and adding ``_SUCCESS``. An entry of the log is written under
another name and moved. All of it calls ``os``, which `faulty_io` has fail.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any
from unittest import mock

import pyarrow as pa

from sash import jobs
from sash.jobs import _history, _run, _sinks, _storage
from sash.jobs._output import MARKER, Output
from sash.live import History

STAMP = pa.timestamp("us", tz="UTC")
HOUR = 3_600_000_000
JOB = """
name = "totals"
by = "user"
[source]
format = "csv"
path = "in"
stream = true
columns = { user = "string", time = "timestamp", x = "double" }
[time]
column = "time"
watermark = "1h"
[[windows]]
name = "hour"
kind = "tumbling"
size = "1h"
[[aggregates]]
function = "sum"
column = "x"
name = "total"
[[sinks]]
format = "json"
path = "out"
[late_rows]
format = "json"
path = "late"
[live]
path = "live.sqlite"
rows = 4
"""


def job_in(folder: Path) -> jobs.Job:
    path = folder / "job.toml"
    path.write_text(JOB)
    (folder / "in").mkdir()
    return jobs.load(path)


def results(rows: list[tuple[str, int, float, int, str]]) -> pa.Table:
    """User, hour, total, revision and change."""
    user, hour, total, revision, change = zip(*rows, strict=True) if rows else ((),) * 5
    return pa.table(
        {
            "user": pa.array(user, pa.string()),
            "window": pa.array(["hour"] * len(rows), pa.string()),
            "window_start": pa.array([n * HOUR for n in hour], STAMP),
            "window_end": pa.array([(n + 1) * HOUR for n in hour], STAMP),
            "total": pa.array(total, pa.float64()),
            "revision": pa.array(revision, pa.int64()),
            "change": pa.array(change, pa.string()),
        }
    )


def late(*rows: tuple[str, int]) -> pa.Table:
    return pa.table(
        {
            "user": pa.array([r[0] for r in rows], pa.string()),
            "time": pa.array([r[1] for r in rows], STAMP),
        }
    )


BATCHES = [
    (results([("a", 0, 1.0, 0, "complete"), ("b", 0, 2.0, 0, "complete")]), late()),
    (results([("a", 0, 3.0, 1, "correction"), ("a", 1, 4.0, 0, "complete")]), late(("a", 5))),
    (results([]), late()),
    (results([("a", n, 1.5, 0, "complete") for n in range(2, 5)]), late(("b", 6), ("c", 7))),
]
"""The rows and late rows of micro-batches: with corrections, and windows that go."""


@dataclass
class Frame:
    """What `_Stream` and the sinks use of a DataFrame."""

    told: pa.Table
    late: pa.Table
    is_late: bool = False

    def persist(self) -> None:
        """Nothing is lost."""

    def unpersist(self) -> None:
        """Nothing is kept."""

    def selectExpr(self, *wanted: str) -> Frame:  # noqa: N802
        assert wanted == ("count(*)", "count_if(change = 'late')")
        return self

    def first(self) -> tuple[int, int]:
        return len(self.told) + len(self.late), len(self.late)

    def __getitem__(self, name: str) -> Any:
        return _Condition(False) if name == "change" else None

    def where(self, condition: _Condition) -> Frame:
        return Frame(self.told, self.late, condition.is_late)

    def drop(self, *names: str) -> Frame:
        return self

    def select(self, *names: str) -> Frame:
        return self

    def toArrow(self) -> pa.Table:  # noqa: N802
        return self.late if self.is_late else self.told

    @property
    def write(self) -> Writer:
        return Writer(self.toArrow())

    sparkSession = None  # noqa: N815


class _Condition:
    def __init__(self, is_late: bool) -> None:
        self.is_late = is_late

    def __eq__(self, other: object) -> Any:
        return _Condition(other == "late")

    __hash__ = None  # type: ignore[assignment]

    def __invert__(self) -> _Condition:
        return _Condition(not self.is_late)


class Writer:
    """What sinks use of a DataFrameWriter; of the modes, adding to a folder."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def format(self, name: str) -> Writer:
        return self

    def options(self, **options: str) -> Writer:
        return self

    def mode(self, name: str) -> Writer:
        assert name == "append"
        return self

    def save(self, path: str) -> None:
        folder = Path(path)
        made(folder / "_temporary")
        rows = [json.dumps(row, default=str) + "\n" for row in self._table.to_pylist()]
        names = [f"part-{n:05}-{uuid.UUID(int=n)}-c000.json" for n in range(len(rows))]
        for name, part in zip(names, rows, strict=True):
            written(folder / "_temporary" / name, part)
        for name in names:
            (folder / "_temporary" / name).replace(folder / name)
        (folder / "_temporary").rmdir()
        written(folder / "_SUCCESS", "")


def made(folder: Path) -> None:
    if not folder.parent.is_dir():
        made(folder.parent)
    folder.mkdir()


def removed(folder: Path) -> None:
    for one in sorted(folder.iterdir()) if folder.is_dir() else ():
        removed(one) if one.is_dir() else one.unlink()
    if folder.is_dir():
        folder.rmdir()


def written(path: Path, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(handle, text.encode())
        os.fsync(handle)
    except OSError as error:  # of which a full disk's does not say where
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(handle)


class _Place:
    """What `Output` uses of a path of Hadoop's, and of what is there."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def getPath(self) -> Any:  # noqa: N802
        return self

    def toUri(self) -> Any:  # noqa: N802
        return _Uri(self.path)

    def getName(self) -> str:  # noqa: N802
        return self.path.name

    def isDirectory(self) -> bool:  # noqa: N802
        return self.path.is_dir()


@dataclass
class _Uri:
    path: Path

    def getPath(self) -> str:  # noqa: N802
        return str(self.path)


class _Files:
    """What `Output` uses of a file system of Hadoop's."""

    def exists(self, place: _Place) -> bool:
        return place.path.exists()

    def listStatus(self, place: _Place) -> list[_Place]:  # noqa: N802
        return [_Place(one) for one in place.path.iterdir()]

    def create(self, place: _Place, overwrite: bool) -> _Writing:
        if not place.path.parent.is_dir():
            made(place.path.parent)
        return _Writing(place.path)

    def delete(self, place: _Place, recursive: bool) -> None:
        place.path.rmdir() if place.path.is_dir() else place.path.unlink()


class _Writing:
    def __init__(self, path: Path) -> None:
        self._path = path
        written(path, "")

    def write(self, data: bytearray) -> None:
        written(self._path, data.decode())

    def close(self) -> None:
        """Nothing is open."""


class _Output(Output):
    def __init__(self, session: Any, path: str) -> None:
        self._path, self._local, self._files = path, True, _Files()

    def _place(self, name: str) -> Any:
        return _Place(Path(self._path, name))


class Query:
    """A running stream. It runs when it is waited for."""

    def __init__(self, checkpoint: Path, take: Callable[[Any, int], None]) -> None:
        self._checkpoint, self._take = checkpoint, take
        self.isActive = True
        self.recentProgress: list[dict[str, Any]] = []
        if not (checkpoint / "commits").is_dir():
            made(checkpoint / "commits")
        if not (checkpoint / "metadata").exists():
            self._commit("metadata")

    def awaitTermination(self, seconds: float) -> bool:  # noqa: N802
        done = [int(n) for n in _names_in(None, f"{self._checkpoint}/commits") if n.isdigit()]
        number = max(done, default=-1) + 1
        if number == len(BATCHES):
            self.isActive = False
            return True
        self._take(Frame(*BATCHES[number]), number)
        self._commit(f"commits/{number}")
        self.recentProgress.append(_report(number))
        return False

    def _commit(self, name: str) -> None:
        beside = self._checkpoint / f"{name}.tmp"
        written(beside, "v1")
        beside.rename(self._checkpoint / name)

    def stop(self) -> None:
        self.isActive = False


def _report(number: int) -> dict[str, Any]:
    return {
        "batchId": number,
        "durationMs": {"addBatch": 1},
        "observedMetrics": {},
        "numInputRows": 10,
        "eventTime": {},
        "batchDuration": 1000,
        "timestamp": f"2026-03-01T00:00:0{number}Z",
        "stateOperators": [],
    }


class Results:
    """The streaming DataFrame, which is its own writer."""

    def __init__(self, checkpoint: str) -> None:
        self._checkpoint = Path(checkpoint)
        self._take: Any = None

    @property
    def writeStream(self) -> Results:  # noqa: N802
        return self

    def queryName(self, name: str) -> Results:  # noqa: N802
        return self

    def option(self, name: str, value: str) -> Results:
        return self

    def trigger(self, **how: Any) -> Results:
        return self

    def foreachBatch(self, take: Any) -> Results:  # noqa: N802
        self._take = take
        return self

    def start(self) -> Query:
        return Query(self._checkpoint, self._take)


class _AtOnce:
    """An executor without threads: calls come in one order."""

    def __init__(self, workers: int) -> None:
        """Need nothing."""

    def __enter__(self) -> _AtOnce:
        return self

    def __exit__(self, *error: object) -> None:
        """Wait for nothing."""

    def submit(self, work: Any, *arguments: Any) -> Future[Any]:
        found: Future[Any] = Future()
        try:
            found.set_result(work(*arguments))
        except Exception as error:
            found.set_exception(error)
        return found


def _names_in(session: Any, path: str) -> list[str]:
    return [p.name for p in Path(path).iterdir()] if Path(path).is_dir() else []


@contextmanager
def _without_spark() -> Iterator[None]:
    with (
        mock.patch.object(_storage, "names_in", _names_in),
        mock.patch.object(_sinks, "Output", _Output),
        mock.patch.object(_history, "col", lambda name: name),
        mock.patch.object(_run, "ThreadPoolExecutor", _AtOnce),
        mock.patch.object(_history.time, "time", lambda: 0.0),
    ):
        yield


def run(job: jobs.Job) -> None:
    """Run the job's stream from its checkpoint to its end, or until something fails."""
    with _without_spark():
        stream = _run._Stream(job, None, lambda progress: None, ["user", "time", "x"])
        stream.run(Results(job.checkpoint), True, Event())


def abandoned(job: jobs.Job) -> None:
    """Leave the history of a run that was killed, and whose results and checkpoint were removed."""
    run(job)
    assert job.history is not None
    with History.open(job.history) as history:
        about = history.about()
    files = [Path(f"{job.history}{ending}") for ending in ("", "-wal", "-shm")]
    with History.create_or_open(job.history, about) as history:
        history.record_progress({"batch": 99, "at": 0.0})
        left = [path.read_bytes() for path in files]
    for path, data in zip(files, left, strict=True):
        path.write_bytes(data)
    for name in ("out", "late", "totals.checkpoint"):
        removed(job.history.parent / name)


def outcome(folder: Path) -> dict[str, Any]:
    """Return what a run has left for others to read: rows of sinks, and the history.

    Without what Spark's reports say of a micro-batch, which it makes once.
    """
    found: dict[str, Any] = {sink: rows_in(folder / sink) for sink in ("out", "late")}
    with History.open(folder / "live.sqlite") as history:
        for table in ("keys", "windows", "removed", "late"):
            found[f"table {table}"] = sorted(history._rows(f"SELECT * FROM {table}"), key=repr)
        found["meta"] = {**history.meta(), "id": None}
        found["running"] = [p["running"] for p in history.progress(1)]
    return found


def rows_in(sink: Path) -> dict[str, list[str]]:
    """Return the rows of each micro-batch that has any; all of them must be complete."""
    found = {}
    for batch in sorted(one for one in sink.iterdir() if one.name != MARKER):
        assert (batch / "_SUCCESS").exists(), f"{batch} is half-written"
        assert not (batch / "_temporary").exists()
        if parts := sorted(batch.glob("part-*")):
            found[batch.name] = [part.read_text() for part in parts]
    return found
