"""Errors of a full disk: Spark's say that a task has failed, and their last cause says why."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sash.jobs._check_part import Check
from sash.jobs._known import is_local
from sash.jobs._load import Job
from sash.jobs._model import FileSink
from sash.jobs._problems import name_of

_FULL = re.compile(
    r"No space left on device|Disk quota exceeded|not enough space on the disk"
    r"|database or disk is full"
)
_WRITTEN = re.compile(
    r"Task failed while writing rows to (?:file:/*(?=/))?(.+?)(?:\. SQLSTATE|\.?$)", re.M
)
_SPILLED = re.compile(r"ShuffleWriter|DiskBlockObjectWriter|SpillWriter|storage\.DiskStore")
_NEAR = 3_000
"""Characters of a stack trace after its message, to find who was writing."""
_LITTLE = 1 << 20
"""Bytes that are left on a disk which may be the reason of any failure."""


class DiskFullError(RuntimeError):
    """A disk that a job writes to has no space left."""


@dataclass(frozen=True)
class Place:
    """A folder that a job writes to."""

    name: str
    """What it is in the job file."""
    path: str

    @property
    def free(self) -> int | None:
        """The bytes that are free there, where that can be known."""
        return shutil.disk_usage(self._there).free if is_local(self.path) else None

    @property
    def _there(self) -> Path:
        path = Path(self.path).absolute()
        return next(one for one in (path, *path.parents) if one.exists())

    def __str__(self) -> str:
        """Return the folder with its disk, as far as that is known."""
        if not is_local(self.path):
            return f"{self.name} {self.path!r}"
        disk = next(one for one in (self._there, *self._there.parents) if os.path.ismount(one))
        total = shutil.disk_usage(disk).total
        amount = f"{self.free:,} of {total:,} bytes are free now"
        return f"{self.name} {self.path!r}, on the disk mounted at {str(disk)!r} ({amount})"


@contextmanager
def full_disk_named(job: Job) -> Iterator[None]:
    """Raise `DiskFullError` for an error that a full disk has caused, with the folder's name."""
    try:
        yield
    except Exception as error:
        places = places_of(job)
        text = "\n".join(map(str, causes_of(error)))
        if _FULL.search(text):
            raise DiskFullError(_words(text, places, job.said.streams)) from error
        for place in places:
            if place.free is not None and place.free < _LITTLE:
                error.add_note(f"the disk may be full: there is little space for {place}")
        raise


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, and what has led to it."""
    seen: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in seen:
        yield one
        seen.append(one)
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)


def places_of(job: Job) -> list[Place]:
    """Return all folders that a job writes to, Spark's own too."""
    sinks = Check(job.said, job.path.parent).all_sinks()
    found = [
        Place(name_of((*path, "path")), job.place(sink.path))
        for path, sink in sinks
        if isinstance(sink, FileSink)
    ]
    if job.said.streams:
        found.append(Place("[run] checkpoint", job.checkpoint))
    if job.history is not None:
        found.append(Place("[live] path", str(job.history)))
    return [*found, Place("Spark's temporary files in", _temporary(job))]


def _temporary(job: Job) -> str:
    given = job.said.spark.get("spark.local.dir") or os.environ.get("SPARK_LOCAL_DIRS")
    return str(given or tempfile.gettempdir()).split(",", maxsplit=1)[0]


def _words(text: str, places: list[Place], stream: bool) -> str:
    again = "; it goes on from its checkpoint" if stream else ""
    return (
        f"the disk is full: no space left for {_full_one(text, places)}. Free some space there, or "
        f"name another disk's folder, and run the job again{again}"
    )


def _full_one(text: str, places: list[Place]) -> Place:
    """Return the place that was written to; where the error does not say, the fullest."""
    found = _FULL.search(text)
    trace = text[found.start() :][:_NEAR] if found else ""
    written = _WRITTEN.search(text)
    if _SPILLED.search(trace):
        return places[-1]
    if written is not None:
        named = [p for p in places if f"{written[1]}/".startswith(f"{p.path}/")]
        return named[0] if named else Place("the sink", written[1])
    return min(places, key=lambda place: float("inf") if place.free is None else place.free)
