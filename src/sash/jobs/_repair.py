"""A job file without the values that are wrong, so that the rest of it can be checked too."""

from __future__ import annotations

import copy
from typing import Any

from pydantic import ValidationError

from sash.jobs._model import JobFile
from sash.jobs._places import Path, at
from sash.jobs._problems import path_in

_ROUNDS = 3
_LISTS = ("windows", "aggregates", "sinks")


def usable_part(data: Any) -> tuple[JobFile | None, list[Path]]:
    """Return a job that differs from the file where this is wrong, and all places of that.

    A wrong value is left out; where that is not enough, a plain table takes the place of its table.
    """
    data, broken = copy.deepcopy(data), list[Path]()
    for number in range(_ROUNDS):
        try:
            return JobFile.model_validate(data), broken
        except ValidationError as error:
            found = [
                (path_in(data, one["loc"], one["type"] == "missing"), one["type"])
                for one in error.errors(include_url=False)
            ]
        for path, kind in found:
            if number == 0 and kind != "missing" and _left_out(data, path):
                broken.append(path)
            else:
                broken.append(_replaced(data, path))
    return None, broken


def _left_out(data: Any, path: Path) -> bool:
    """Remove a key; elements of lists stay, since others are known by their numbers."""
    table = at(data, path[:-1])
    if not path or not isinstance(table, dict):
        return False
    table.pop(path[-1], None)
    return True


def _replaced(data: Any, path: Path) -> Path:
    """Put a plain table in place of one that is wrong, and return its place."""
    if path[0] in _LISTS and len(path) > 1:
        data[path[0]][path[1]] = _plain(path[0], int(path[1]))
        return path[:2]
    if path[0] in ("aggregates", "sinks"):
        data[path[0]] = [_plain(path[0], 0)]
    elif path[0] in ("source", "time"):
        data[path[0]] = _plain(path[0], 0)
    else:
        data.pop(path[0], None)
    return path[:1]


def _plain(name: str | int, number: int) -> dict[str, Any]:
    plain = {
        "source": {"format": "rate"},
        "time": {"column": "timestamp"},
        "windows": {"kind": "tumbling", "size": "1h", "name": f"wrong window {number}"},
        "aggregates": {"function": "count", "name": f"wrong aggregate {number}"},
        "sinks": {"format": "console"},
    }
    return plain[str(name)]
