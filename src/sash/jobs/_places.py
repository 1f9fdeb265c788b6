"""Where in a TOML file each value stands.

Python's parser tells values and not their lines. The file has been parsed before, so it is known to
be right, and finding the places is a matter of skipping over it.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

Path = tuple[str | int, ...]

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}\n#]*")
_STRINGS = [
    re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
]


def places_of(text: str) -> dict[Path, int]:
    """Return the line of every table, key and element of a TOML document that parses.

    >>> places_of('by = ["a"]\\n[[windows]]\\nsize = "1h"\\n')[("windows", 0, "size")]
    3
    """
    return _Scanner(text).places()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._counted = (0, 1)  # up to which place lines are counted, and the line there
        self._places: dict[Path, int] = {}
        self._lengths: dict[Path, int] = {}  # of arrays of tables

    def places(self) -> dict[Path, int]:
        table: Path = ()
        while True:
            self._skip(_SPACE)
            if self._at >= len(self._text):
                return self._places
            if self._text.startswith("[", self._at):
                table = self._header()
            else:
                self._pair(table)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found[0]

    def _take(self, wanted: str) -> bool:
        if not self._text.startswith(wanted, self._at):
            return False
        self._at += len(wanted)
        return True

    def _mark(self, path: Path) -> None:
        begin, line = self._counted if self._counted[0] <= self._at else (0, 1)
        line += self._text.count("\n", begin, self._at)
        self._counted = (self._at, line)
        for length in range(1, len(path) + 1):  # of a dotted key, its tables begin here too
            self._places.setdefault(path[:length], line)

    def _header(self) -> Path:
        start = self._at
        many = self._take("[[")
        if not many:
            self._take("[")
        path: Path = ()
        names = self._key()
        for i, name in enumerate(names, 1):
            path = (*path, name)
            if path in self._lengths and not (many and i == len(names)):
                path = (*path, self._lengths[path] - 1)  # its last element so far
        if many:
            self._lengths[path] = self._lengths.get(path, 0) + 1
            path = (*path, self._lengths[path] - 1)
        end, self._at = self._at, start
        self._mark(path)
        self._at = end
        self._take("]]" if many else "]")
        return path

    def _key(self) -> list[str]:
        """Read a key, which may have dots, and what stands after it up to the next sign."""
        parts = []
        while True:
            self._skip(_BLANK)
            parts.append(self._part())
            self._skip(_BLANK)
            if not self._take("."):
                return parts

    def _part(self) -> str:
        bare = self._skip(_BARE)
        if bare:
            return bare
        quoted = self._string()
        return str(next(iter(tomllib.loads(f"{quoted} = 0"))))

    def _string(self) -> str:
        for pattern in _STRINGS:
            found = self._skip(pattern)
            if found:
                return found
        return ""

    def _pair(self, table: Path) -> None:
        start = self._at
        path = (*table, *self._key())
        end, self._at = self._at, start
        self._mark(path)
        self._at = end
        self._take("=")
        self._skip(_BLANK)
        self._value(path)

    def _value(self, path: Path) -> None:
        if self._take("["):
            self._elements(path)
        elif self._take("{"):
            self._inline(path)
        elif not self._string():
            self._skip(_SCALAR)

    def _elements(self, path: Path) -> None:
        index = 0
        while True:
            self._skip(_SPACE)
            if self._take("]"):
                return
            self._mark((*path, index))
            self._value((*path, index))
            index += 1
            self._skip(_SPACE)
            self._take(",")

    def _inline(self, path: Path) -> None:
        while True:
            self._skip(_SPACE)
            if self._take("}"):
                return
            self._pair(path)
            self._skip(_SPACE)
            self._take(",")


def at(data: Any, path: Path) -> Any:
    """Return what a path leads to; ``None`` where there is nothing."""
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return None
    return data
