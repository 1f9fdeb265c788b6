"""Time cut into ranges, so that one key can be worked on in several places.

A range is ``[k * width, (k + 1) * width)``. Each row goes to its own range, and a copy of it to a
neighbour whose windows reach as far as this row: results come from a row's own range only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sash.spark._frames import col
from sash.spark._pyspark import functions

SHARE = 8
"""A range is so many times as long as windows reach: one row in so many is copied."""
_MICROS, _MILLIS = 1_000_000, 86_400_000


@dataclass(frozen=True)
class Ranges:
    """Ranges of one width over one column of times, in a unit that Spark computes exactly."""

    on: str
    kind: str
    """``int``, ``us`` (timestamps), ``s`` (timestamps without zone) or ``d`` (dates)."""
    width: int
    before: int
    after: int

    @classmethod
    def reaching(
        cls, on: str, type_: pa.DataType, before: int, after: int, width: int | None
    ) -> Ranges | None:
        """Return ranges for windows that reach so far, in the unit of `read_times`; or nothing.

        There is nothing to be had where a range would be longer than time itself.
        """
        kind, unit = "int", 1
        if pa.types.is_date(type_):
            kind, unit = "d", _MILLIS
        elif pa.types.is_timestamp(type_):
            kind, unit = ("s", _MICROS) if type_.tz is None else ("us", 1)
        elif pa.types.is_duration(type_):
            return None
        before, after = -(-before // unit), -(-after // unit)
        least = before + after + 1
        width = SHARE * least if width is None else max(-(-width // unit), least)
        return cls(on, kind, width, before, after) if width < 1 << 60 else None

    def expression(self) -> Any:
        """Return the ranges of a row, as an array."""
        f = functions()
        t = self._time()
        rest = f.pmod(t, f.lit(self.width).cast("long"))
        quotient = f.call_function("div", t, f.lit(self.width).cast("long"))
        own = f.when((t < 0) & (rest != 0), quotient - f.lit(1)).otherwise(quotient)
        # Windows of the next range reach back to here, those of the one before ahead to here.
        next_needs = rest >= f.lit(self.width - self.before)
        last_needs = rest <= f.lit(self.after)
        ranges = f.array(own)
        if self.after:
            ranges = f.when(last_needs, f.array(own, own - f.lit(1))).otherwise(ranges)
        if self.before:
            ranges = f.when(next_needs, f.array(own, own + f.lit(1))).otherwise(ranges)
        return ranges

    def _time(self) -> Any:
        f, column = functions(), col(self.on)
        if self.kind == "us":
            return f.unix_micros(column)
        if self.kind == "d":
            return f.unix_date(column).cast("long")
        if self.kind == "s":  # no time zone has a say in it
            days = f.unix_date(column.cast("date")).cast("long")
            clock = f.hour(column) * 3600 + f.minute(column) * 60 + f.second(column)
            return days * f.lit(86_400) + clock.cast("long")
        return column.cast("long")

    def of(self, times: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return each time's own range."""
        unit = {"int": 1, "us": 1, "s": _MICROS, "d": _MILLIS}[self.kind]
        return times // unit // self.width
