"""The time column of an operator: its unit, lengths in it, moments in it."""

from __future__ import annotations

import time
from datetime import date, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sash._durations import nanoseconds, since_epoch
from sash._rolling_windows import UNIT, read_times, refuse_overlaps
from sash._tables import Table
from sash.windows import Window

REACH = (1 << 62) - 1
"""Times lie between -REACH and REACH of the unit: sums of a few of them fit in 64 bits."""
LONGEST = 1 << 60
END = REACH + 2 * LONGEST
"""The watermark after the last row."""


class Clock:
    """Times of one type as integers."""

    def __init__(self, name: str, kind: pa.DataType) -> None:
        self.name, self.kind = name, kind
        self._empty = read_times(name, pa.array([], kind))

    def length(self, what: str, value: Any, least: int = 1) -> int:
        """Return a duration in the column's unit."""
        if isinstance(value, int) and not isinstance(value, bool) and value == 0 and least == 0:
            return 0
        length = self._empty.length(what, value, least)
        if length >= LONGEST:
            raise ValueError(f"{what} must be below 2^60 of the column's unit, not {value!r}")
        return length

    def window(self, window: Window) -> tuple[int, int, int]:
        """Return a window's size, slide and offset."""
        if window.kind == "calendar" or window.by_rows:
            return 1, 1, 0
        what = f"{window.name}: {'gap' if window.kind == 'session' else 'size'}"
        size = self.length(what, window.size)
        if window.kind != "periodic":
            return size, 1, 0
        slide = self.length(f"{window.name}: slide", window.slide)
        if slide > size:
            raise ValueError(
                f"{window.name}: slide must be at most the size: {window.slide!r} > "
                f"{window.size!r} leaves rows out"
            )
        refuse_overlaps(window.name, size, slide, f"{window.size!r} every {window.slide!r}")
        offset = 0
        if window.offset is not None:
            offset = self._empty.length(f"{window.name}: offset", window.offset, -LONGEST)
        return size, slide, offset % slide

    def times(self, table: Table) -> npt.NDArray[np.int64]:
        """Return the times of a batch."""
        times = read_times(self.name, table.column(self.name)).values
        if len(times):
            worst = times.max() if times.max() > REACH else times.min()
            if abs(int(worst)) > REACH:
                row = int(np.flatnonzero(times == worst)[0])
                raise OverflowError(
                    f"column {self.name!r}: the time in row {row} is more than 2^62 - 1 from the "
                    f"epoch ({int(worst)} as an integer); a coarser unit would fit"
                )
        return times

    def now(self) -> int:
        """Return the time of the system's clock."""
        if self._empty.unit is None or pa.types.is_duration(self.kind):
            raise ValueError(
                f"max_ahead: column {self.name!r} holds {self.kind}, of which the system's clock "
                "knows nothing: say what time it is, as in process(batch, now=...)"
            )
        return time.time_ns() // UNIT[self._empty.unit]

    def moment(self, what: str, value: Any) -> int:
        """Return a point in time as an integer."""
        self._check_zone(what, value)
        if isinstance(value, pa.Scalar):
            value = _unwrapped(value)
        if isinstance(value, (bool, float)) or value is None or value != value:  # NaT
            raise TypeError(f"{what} must be a time of column {self.name!r}, not {value!r}")
        if isinstance(value, (int, np.integer)) and not isinstance(value, np.timedelta64):
            found = int(value) * self._empty.step
        else:
            found = self._in_unit(what, value)
        if abs(found) > REACH:
            raise OverflowError(f"{what}: {value!r} is more than 2^62 - 1 from the epoch")
        return found

    def _in_unit(self, what: str, value: Any) -> int:
        spans = pa.types.is_duration(self.kind)
        wanted = (timedelta, np.timedelta64) if spans else (date, np.datetime64)
        if self._empty.unit is None or not isinstance(value, wanted):
            raise TypeError(
                f"{what}: {value!r} is not a time of column {self.name!r} ({self.kind})"
            )
        fine = nanoseconds(what, value) if spans else since_epoch(what, value)
        found, rest = divmod(fine, UNIT[self._empty.unit])
        if rest:
            raise ValueError(
                f"{what}: {value!r} is finer than the unit of column {self.name!r} ({self.kind})"
            )
        return found

    def _check_zone(self, what: str, value: Any) -> None:
        if isinstance(value, pa.TimestampScalar):
            zoned = value.type.tz is not None
        elif isinstance(value, date) and value == value:
            zoned = getattr(value, "tzinfo", None) is not None
        else:
            return
        zone = getattr(self.kind, "tz", None)
        if pa.types.is_timestamp(self.kind) and zoned != (zone is not None):
            kind = "has no time zone" if zone is None else f"has the time zone {zone}"
            raise TypeError(f"{what}: column {self.name!r} {kind}, unlike {value!r}")

    def typed(self, values: npt.NDArray[np.int64]) -> pa.Array:
        """Return integers as times of the column's type."""
        return self._empty.typed(values)

    def shown(self, value: int) -> Any:
        """Return one time as Python shows it; an integer where it cannot."""
        try:
            return self.typed(np.array([value], np.int64))[0].as_py()
        except (ValueError, OverflowError):
            return value


def _unwrapped(value: pa.Scalar) -> Any:
    """Return a scalar of Arrow as one of NumPy, which has all its units; others as Python's."""
    kind = value.type
    if not value.is_valid or not (pa.types.is_timestamp(kind) or pa.types.is_duration(kind)):
        return value.as_py()
    if pa.types.is_duration(kind):
        return np.timedelta64(value.value, kind.unit)
    return np.datetime64(value.value, kind.unit)
