"""Output folders: which ones belong to Sash, and which files in them are results.

A folder belongs to Sash if it holds the marker, which is written before the first result. Only
files whose names Spark has made up are ever removed, one by one; anything else is refused by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MARKER = "_sash_output.json"
"""Spark and other readers skip names that begin with an underscore."""
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_RESULT = re.compile(rf"part-\d{{5,}}-{_UUID}(?:-c\d{{3,}})?(?:\.\w+){{1,3}}|_SUCCESS")
_BATCH = re.compile(r"batch=\d{6,}")
_STAGING = re.compile(r"_temporary|\d+|(?:task|attempt)_\w+")
_MOST_NAMED = 5


class SinkError(RuntimeError):
    """A sink that cannot be written to as it is."""


@dataclass(frozen=True)
class Entry:
    """A file or folder below an output folder."""

    name: str
    """Its path below the folder, with slashes."""
    is_folder: bool
    is_link: bool = False

    @property
    def is_result(self) -> bool:
        """Whether Spark has made it, by its exact name and by where it is."""
        *folders, last = self.name.split("/")
        if self.is_link or not _are_folders([*folders, last] if self.is_folder else folders):
            return False
        return self.is_folder or self.name == MARKER or _is_file(last)


def _is_file(name: str) -> bool:
    with_checksum = re.fullmatch(r"\.(.+)\.crc", name)
    return _RESULT.fullmatch(with_checksum[1] if with_checksum else name) is not None


def _are_folders(names: list[str]) -> bool:
    """Whether these, each in the one before, are folders of micro-batches or unfinished tasks."""
    if names and _BATCH.fullmatch(names[0]):
        names = names[1:]
    return not names or (names[0] == "_temporary" and all(map(_STAGING.fullmatch, names)))


class Output:
    """A folder that results are written to, on this machine or in a store."""

    def __init__(self, session: Any, path: str) -> None:
        self._jvm, self._path = session._jvm, path.rstrip("/")
        place = self._place("")
        files = place.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())
        self._local = files.getScheme() == "file"
        # Which lists files of checksums too, and writes none.
        self._files = files.getRawFileSystem() if self._local else files

    def _place(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self._path}/{name}" if name else self._path)

    def is_empty(self) -> bool:
        """Whether there are no results, and nothing else."""
        return all(entry.name == MARKER for entry in self._entries(""))

    def claim(self) -> None:
        """Make the folder one of Sash's, with a marker; raise where it holds other things."""
        there = [entry.name for entry in self._entries("")]
        if MARKER in there:
            return
        if there:
            raise SinkError(
                f"{self._path} holds {_listed(there)}, and no file {MARKER} that would make it a "
                "folder of results: name another path; or, if nothing in it is needed any more, "
                "remove it yourself"
            )
        stream = self._files.create(self._place(MARKER), True)
        words = {"sash": "results are written here, and replaced", "format": 1}
        stream.write(bytearray(json.dumps(words).encode()))
        stream.close()

    def clear(self, below: str = "") -> None:
        """Remove all results, or those of a micro-batch; raise where there are other files."""
        found = list(self._walk(below))
        others = [entry.name for entry in found if not entry.is_result]
        if others:
            raise SinkError(
                f"{self._path} holds {_listed(others)}, not written by Sash: nothing was removed. "
                "Move it elsewhere, or name another path"
            )
        for entry in reversed(found):  # what is in a folder before the folder
            if entry.name != MARKER:
                self._files.delete(self._place(entry.name), False)

    def _walk(self, below: str) -> Iterator[Entry]:
        """Yield everything in a folder; links are not followed."""
        for entry in self._entries(below):
            yield entry
            if entry.is_folder and not entry.is_link:
                yield from self._walk(entry.name)

    def _entries(self, below: str) -> list[Entry]:
        place = self._place(below)
        if not self._files.exists(place):
            return []
        found = []
        for status in self._files.listStatus(place):
            path = status.getPath()
            name = f"{below}/{path.getName()}" if below else path.getName()
            link = self._local and Path(path.toUri().getPath()).is_symlink()
            found.append(Entry(name, bool(status.isDirectory()), link))
        return sorted(found, key=lambda entry: entry.name)


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:_MOST_NAMED]))
    return shown if len(names) <= _MOST_NAMED else f"{shown} and {len(names) - _MOST_NAMED} more"
