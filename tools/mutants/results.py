"""What became of each mutant, kept in a file so that a run can go on where another stopped."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from .places import Mutant
from .sample import HEADERS


@dataclass(frozen=True)
class Result:
    """By which test a mutant was caught, and how; of a survivor, neither."""

    by: str
    how: str
    header: str  # a digest of its header: the result of another text does not count
    python: bool  # all Python tests that come by it were run too

    @property
    def native(self) -> bool:
        """Was it caught by a native test?"""
        return bool(self.by) and "::" not in self.by


class Results:
    """The results of mutants by their keys."""

    def __init__(self, path: Path) -> None:
        self._path = path
        read = json.loads(path.read_text()) if path.exists() else {}
        self._all = {key: Result(**fields) for key, fields in read.items()}

    def get(self, mutant: Mutant) -> Result | None:
        """The result of a mutant, unless its header has changed since."""
        found = self._all.get(mutant.key)
        return found if found and found.header == _digest(mutant.file) else None

    def put(self, mutant: Mutant, by: str, how: str, python: bool) -> None:
        """Keeps a result, and all so far in the file."""
        self._all[mutant.key] = Result(by, how, _digest(mutant.file), python)
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps({k: asdict(r) for k, r in self._all.items()}, indent=1))
        fresh.rename(self._path)

    def is_open(self, mutant: Mutant, *, python: bool) -> bool:
        """Has it still to meet the native (or the Python) tests?"""
        found = self.get(mutant)
        return found is None or (python and not found.by and not found.python)


@cache
def _digest(file: str) -> str:
    return hashlib.sha256((HEADERS / file).read_bytes()).hexdigest()[:16]
