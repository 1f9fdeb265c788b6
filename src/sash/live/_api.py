"""The questions that the page asks, answered from a history."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sash.live._changes import key_label, key_text
from sash.live._file import HistoryError, MissingHistoryError
from sash.live._history import History
from sash.live._series import MOST_COLUMNS, Point, SeriesCache, column_edges

MOST_KEYS = 200
MOST_ROWS = 200
_SILENT = 10.0  # seconds without news until the page says so
_MOST_TIME = 2**62

Params = dict[str, str]


class ParameterError(ValueError):
    """A parameter is missing or has no meaning."""


class Api:
    """Answers to questions, by their names. The file is opened for each of them.

    So it may come later than the server, or be replaced meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cache = SeriesCache()
        self._lock = threading.Lock()  # of the cache
        self._answers: dict[str, Callable[[History, Params], dict[str, Any]]] = {
            "about": _about,
            "keys": _keys,
            "series": self._series,
            "table": _table,
            "health": _health,
        }

    def answer(self, name: str, params: Params) -> dict[str, Any] | None:
        """Return the answer to a question, None if there is no such question."""
        if name not in self._answers:
            return None
        try:
            with History.open(self._path) as history, history.snapshot():
                return self._answers[name](history, params)
        except MissingHistoryError as error:
            return {"missing": str(error)}
        except HistoryError as error:
            return {"broken": str(error)}
        except ParameterError:
            raise
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            # SQLite has no checksums: a damaged file may hold anything anywhere
            return {"broken": f"{self._path} is damaged: {error}"}

    def _series(self, history: History, params: Params) -> dict[str, Any]:
        about = history.about()
        key = _key(params)
        window = _one_of(params, "window", about["windows"])
        aggregate = _one_of(params, "aggregate", about["aggregates"])
        if history.meta()["kinds"][params["aggregate"]] == "text":
            raise ParameterError(f"aggregate {params['aggregate']} holds text, which has no line")
        number = _whole(params, "columns", 1, MOST_COLUMNS)
        asked = _asked(params)
        found = history.key_number(key)
        if found is None:
            return _line(None, None)
        with self._lock:
            series = self._cache.get(history, found, window, aggregate)
            extent = series.extent
            stretch = _stretch(asked, extent, _watermark(history))
            if stretch is None:
                return _line(extent, None)
            columns = series.columns(*stretch, number)
            before, after = series.neighbours(*stretch)
        late = history.late(found, column_edges(*stretch, number))
        return {
            **_line(extent, stretch),
            "points": [_plain(point) for column in columns for point in column.line()],
            "before": _plain(before),
            "after": _plain(after),
            "windows": sum(column.points for column in columns),
            "nans": sum(column.nans for column in columns),
            "corrections": [[c.corrected, c.corrections] for c in columns if c.corrections],
            "late": [[time, count] for _, time, count in late],
            "open_from": history.first_open((found, window)),
        }


def _line(extent: tuple[int, int] | None, stretch: tuple[int, int] | None) -> dict[str, Any]:
    """Return the answer for a series without anything in it."""
    return {
        "extent": extent,
        "from": stretch and stretch[0],
        "to": stretch and stretch[1],
        "points": [],
        "before": None,
        "after": None,
        "windows": 0,
        "nans": 0,
        "corrections": [],
        "late": [],
        "open_from": None,
    }


def _about(history: History, params: Params) -> dict[str, Any]:
    return history.about()


def _keys(history: History, params: Params) -> dict[str, Any]:
    keys, total = history.keys(params.get("search", ""), MOST_KEYS)
    return {"keys": [{"key": key, "label": key_label(key)} for key in keys], "total": total}


def _table(history: History, params: Params) -> dict[str, Any]:
    about = history.about()
    window = _one_of(params, "window", about["windows"])
    most = _whole(params, "rows", 1, MOST_ROWS) if "rows" in params else 50
    at = _whole(params, "at", -_MOST_TIME, _MOST_TIME) if "at" in params else None
    key = history.key_number(_key(params))
    rows = [] if key is None else history.windows(key, window, most=most, at=at)
    return {"rows": rows}


def _health(history: History, params: Params) -> dict[str, Any]:
    meta = history.meta()
    recent = history.progress(300)
    last = recent[-1] if recent else None
    silent = time.time() - last["at"] if last else None
    lag = None
    if last and last["latest"] is not None and last["watermark"] is not None:
        lag = last["latest"] - last["watermark"]
    return {
        "id": meta["id"],
        "batch": meta["batch"],
        "about": meta["about"],
        "kinds": meta["kinds"],
        "state": _state(last, silent),
        "seconds": silent,
        "last": last,
        "recent": [[one["at"], one["rows_per_second"]] for one in recent],
        "windows": meta["windows"],
        "open": meta["open"] if meta["about"]["emit"] == "updates" else None,
        "corrections": meta["corrections"],
        "late_rows": meta["late_rows"],
        "lag": lag,
    }


def _state(last: dict[str, Any] | None, silent: float | None) -> str:
    if last is None or silent is None:
        return "starting"
    if last["running"] is False:
        return "stopped"
    return "silent" if silent > _SILENT else "running"


def _key(params: Params) -> str:
    given = _given(params, "key")
    try:
        parts = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise ParameterError("key must be a JSON list of texts") from error
    if not isinstance(parts, list) or any(p is not None and not isinstance(p, str) for p in parts):
        raise ParameterError("key must be a JSON list of texts")
    return key_text(parts)


def _given(params: Params, name: str) -> str:
    if name not in params:
        raise ParameterError(f"{name} is missing")
    return params[name]


def _one_of(params: Params, name: str, known: list[str]) -> int:
    given = _given(params, name)
    if given not in known:
        raise ParameterError(f"{name} must be one of {', '.join(known)}")
    return known.index(given)


def _whole(params: Params, name: str, least: int, most: int) -> int:
    given = _given(params, name)
    if not given.removeprefix("-").isdecimal() or len(given) > 20:
        raise ParameterError(f"{name} must be a whole number")
    if not least <= int(given) <= most:
        raise ParameterError(f"{name} must be from {least} to {most}, not {int(given)}")
    return int(given)


def _asked(params: Params) -> tuple[int, int] | int | None:
    """Return the stretch that was asked for, how long the newest one is to be, or None for all."""
    if "span" in params:
        return _whole(params, "span", 1, _MOST_TIME)
    if "from" not in params and "to" not in params:
        return None
    first, end = (_whole(params, name, -_MOST_TIME, _MOST_TIME) for name in ("from", "to"))
    if first >= end:
        raise ParameterError(f"from must be before to, not {first} and {end}")
    return first, end


def _stretch(
    asked: tuple[int, int] | int | None, extent: tuple[int, int] | None, watermark: int | None
) -> tuple[int, int] | None:
    """Return what to show; the newest stretch goes on to the watermark if that is near."""
    if isinstance(asked, tuple):
        return asked
    if extent is None:
        return None
    end = extent[1]
    near = (extent[1] - extent[0] if asked is None else asked) // 4
    if watermark is not None and end < watermark <= end + near:
        end = watermark
    return (extent[0] if asked is None else end + 1 - asked), end + 1


def _watermark(history: History) -> int | None:
    recent = history.progress(1)
    return recent[-1]["watermark"] if recent else None


def _plain(point: Point | None) -> list[Any] | None:
    """Return a point as JSON has it, which knows no infinities."""
    if point is None:
        return None
    when, value = point
    return [when, value if math.isfinite(value) else str(value)]
