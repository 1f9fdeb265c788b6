"""What a rolling call's ``window``, ``rows``, ``closed`` and ``center`` mean, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sash._aggregate import repeated
from sash._durations import nanoseconds
from sash.structures import whole_number

CLOSED = {
    "right": (False, True),
    "left": (True, False),
    "both": (True, True),
    "neither": (False, False),
}
LIMIT = 1 << 63
MOST_NAMES = 10_000
MOST_OVERLAPS = 10_000_000
"""The windows that one row can be in: all of them come out, and are kept until they do."""
DAY = 86_400_000
"""Of milliseconds, in which dates are read."""
UNIT = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
"""What the units of columns are in nanoseconds."""
_UNIT_NAMES = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


@dataclass(frozen=True)
class Window:
    """One window: so far before each row, so far after it, by time or by count of rows."""

    before: int
    after: int
    by_count: bool
    label: str

    @property
    def size(self) -> int:
        """How long it is."""
        return self.before + self.after


@dataclass(frozen=True)
class Times:
    """The time column as integers, and what is needed to write its type again."""

    values: npt.NDArray[np.int64]
    type: pa.DataType
    unit: str | None
    """The unit of one step, ``None`` for integers that are no times of the clock."""
    name: str
    step: int = 1
    """What an integer length counts, in units: a day of dates is 86,400,000 milliseconds."""

    def length(self, what: str, value: Any, least: int = 1) -> int:
        """Return a duration in the column's unit."""
        if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64)):
            length = int(value) * self.step
        elif self.unit is None:
            if isinstance(value, (str, timedelta, np.timedelta64)):
                raise TypeError(
                    f"{what}: column {self.name!r} holds integers ({self.type}), so give the "
                    f"length as an integer, not {value!r}"
                )
            raise TypeError(f"{what} must be an integer, not {value!r}")
        else:
            fine = nanoseconds(what, value)
            length, rest = divmod(fine, UNIT[self.unit])
            if rest:
                raise ValueError(
                    f"{what}: {value!r} is not a whole number of {_UNIT_NAMES[self.unit]}, the "
                    f"unit of column {self.name!r} ({self.type}); cast the column to a finer one"
                )
        if length < least:
            raise ValueError(f"{what} must be at least {least}, not {value!r}")
        if length >= LIMIT:
            raise ValueError(f"{what} must be below 2^63 of the column's unit, not {value!r}")
        return length

    def typed(self, values: npt.NDArray[np.int64]) -> pa.Array:
        """Return integers as what the column holds."""
        if pa.types.is_date(self.type):
            stamps = pa.array(values).view(pa.timestamp("ms"))
            whole = not len(values) or not (values % DAY).any()
            return stamps.cast(self.type) if whole else stamps
        if self.unit is None:  # an end may need a wider integer than any time in the column
            return pa.array(values)
        return pa.array(values).view(self.type)


def read_times(name: str, column: pa.Array) -> Times:
    """Return the time column as integers, or raise saying what is wrong with it."""
    kind = column.type
    if column.null_count:
        row = int(np.flatnonzero(~column.is_valid().to_numpy(zero_copy_only=False))[0])
        raise ValueError(
            f"column {name!r} has {column.null_count} null times, the first in row {row}: "
            "filter them out or fill them in"
        )
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return Times(_int64(column.view(pa.int64())), kind, kind.unit, name)
    if pa.types.is_date(kind):
        stamps = _int64(column.cast(pa.timestamp("ms")).view(pa.int64()))
        return Times(stamps, kind, "ms", name, DAY if kind == pa.date32() else 1)
    if pa.types.is_integer(kind):
        if kind == pa.uint64() and len(column) and pc.max(column).as_py() >= LIMIT:
            raise OverflowError(f"column {name!r}: {pc.max(column)} does not fit in 64 bits")
        return Times(_int64(column.cast(pa.int64())), kind, None, name)
    if pa.types.is_null(kind) and not len(column):
        return Times(np.empty(0, np.int64), pa.int64(), None, name)
    hints = {
        "string": "parse it first, for example with pyarrow.compute.strptime",
        "large_string": "parse it first",
        "string_view": "parse it first",
        "double": "multiply and round it to integers, or make timestamps of it",
    }
    hint = hints.get(str(kind), "convert it")
    raise TypeError(f"column {name!r}: expected timestamps, dates or integers, got {kind}; {hint}")


def _int64(column: pa.Array) -> npt.NDArray[np.int64]:
    return np.ascontiguousarray(column.to_numpy(zero_copy_only=False), np.int64)


def read_windows(times: Times | None, window: Any, rows: Any, center: bool) -> list[Window]:
    """Return the windows of a call; ``window`` and ``rows`` may each name several."""
    if window is None and rows is None:
        raise TypeError("give a window: by time as window='1h', or by count as rows=1000")
    if window is not None and times is None:
        raise TypeError("a window by time needs the time column: on='...'; or use rows=")
    found = [_by_time(times, label, value, center) for label, value in _each("window", window)]
    found += [_by_count(label, value, center) for label, value in _each("rows", rows)]
    if (twice := repeated(w.label for w in found)) is not None:
        raise ValueError(f"two windows are called {twice!r}: name them in a dict")
    return found


def _each(what: str, value: Any) -> list[tuple[str | None, Any]]:
    if value is None:
        return []
    if isinstance(value, Mapping):
        if not value:
            raise ValueError(f"{what}: name at least one window")
        return [(str(label), one) for label, one in value.items()]
    if isinstance(value, list):
        if not value:
            raise ValueError(f"{what}: name at least one window")
        return [(None, one) for one in value]
    return [(None, value)]


def _pair(what: str, value: Any, center: bool) -> tuple[Any, Any] | None:
    """Return (before, after) where a window was given so."""
    if not isinstance(value, tuple):
        return None
    if len(value) != 2:
        raise ValueError(f"{what}: a pair is (before, after), not {value!r}")
    if center:
        raise ValueError(f"{what}: center=True halves a length; {value!r} is a pair already")
    return value


def _by_time(times: Times | None, label: str | None, value: Any, center: bool) -> Window:
    assert times is not None
    pair = _pair("window", value, center)
    if pair is not None:
        before, after = (times.length("window", one, 0) for one in pair)
        if before + after == 0:
            raise ValueError(f"window must be longer than 0, not {value!r}")
        return Window(before, after, False, label or "_".join(map(duration_label, pair)))
    size = times.length("window", value)
    after = size // 2 if center else 0
    return Window(size - after, after, False, label or duration_label(value))


def _by_count(label: str | None, value: Any, center: bool) -> Window:
    pair = _pair("rows", value, center)
    if pair is not None:
        before, after = (whole_number("rows", one, 0) for one in pair)
        if before + after == 0:
            raise ValueError(f"rows must be more than 0, not {value!r}")
        return Window(before, after, True, label or f"{before}_{after}rows")
    size = whole_number("rows", value, 1)
    after = (size - 1) // 2 if center else 0
    return Window(size - after, after, True, label or f"{size}rows")


def duration_label(value: Any) -> str:
    """Return a length as part of a name."""
    if isinstance(value, str):
        return value.replace(" ", "")
    if isinstance(value, (timedelta, np.timedelta64)):
        return _short(nanoseconds("window", value))
    return str(value)


def _short(fine: int) -> str:
    """Return a duration in the largest unit that divides it."""
    for unit, seconds in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        if fine % (seconds * 10**9) == 0:
            return f"{fine // (seconds * 10**9)}{unit}"
    return f"{fine}ns" if fine % 1000 else f"{fine // 1000}us"


def refuse_overlaps(what: str, size: int, slide: int, given: str) -> None:
    """Raise where a row would be in more windows than can be told."""
    if size > slide * MOST_OVERLAPS:
        raise ValueError(
            f"{what}: {given} would put each row into {-(-size // slide)} windows, and at most "
            f"{MOST_OVERLAPS} can be told: choose a longer step"
        )


def read_closed(closed: Any, default: str) -> tuple[bool, bool]:
    """Return whether the left and the right end of a window belong to it."""
    name = default if closed is None else closed
    if not isinstance(name, str) or name not in CLOSED:
        raise ValueError(f"closed must be one of {', '.join(map(repr, CLOSED))}, not {closed!r}")
    return CLOSED[name]


def names_of(what: str, value: Any) -> list[str]:
    """Return one or several column names as a list."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Iterable):
        names = list(islice(value, MOST_NAMES + 1))
        if len(names) > MOST_NAMES:
            raise ValueError(f"{what}: at most {MOST_NAMES} columns can be named")
        if all(isinstance(n, str) for n in names):
            return names
    raise TypeError(f"{what} must be a column name or a list of them, not {value!r}")
