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

from sash._arrow import with_nulls
from sash._rolling_windows import DAY
from sash.spark._frames import CELL, col
from sash.spark._pyspark import functions

SHARE = 8
"""A range is so many times as long as windows reach: one row in so many is copied."""
_FAR = 1 << 61


@dataclass(frozen=True)
class Ranges:
    """Ranges of one width over one column of times, in a unit that Spark computes exactly."""

    on: str
    kind: str
    """``int``, ``zoned`` and ``plain`` timestamps, or ``date``."""
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
        kind = "int"
        if pa.types.is_date(type_):
            kind, before, after = "date", -(-before // DAY), -(-after // DAY)
            width = None if width is None else -(-width // DAY)
        elif pa.types.is_timestamp(type_):
            kind = "plain" if type_.tz is None else "zoned"
        elif pa.types.is_duration(type_):
            return None
        least = before + after + 1
        width = SHARE * least if width is None else max(width, least)
        return cls(on, kind, width, before, after) if width < _FAR else None

    def of_row(self) -> Any:
        """Return the ranges that a row goes to, as an array."""
        f = functions()
        t, width = self._time(), f.lit(self.width).cast("long")
        rest = f.pmod(t, width)
        quotient = f.call_function("div", t, width)
        own = f.when((t < 0) & (rest != 0), quotient - 1).otherwise(quotient)
        # Windows of the range before reach ahead to here, those of the next one back to here.
        first = own - (rest < self.after).cast("long") if self.after else own
        last = own + (rest >= self.width - self.before).cast("long") if self.before else own
        return f.sequence(first, last)

    def moved(self, cell: Any) -> Any:
        """Return the time of a row in a range, moved on by the room that copies need.

        One integer says both, sorts rows by range and time, and is what workers get: Spark sorts
        by one integer fastest, and each column more would have to be sent.
        """
        f = functions()
        t = self._time()
        if self.kind == "int":
            far = f"column {self.on!r} has times beyond 2^61, which need split=False"
            t = f.when(f.abs(t) < _FAR, t).otherwise(f.raise_error(f.lit(far)).cast("long"))
        return t + cell * (self.before + self.after)

    def restored(self, batch: pa.RecordBatch, kind: pa.DataType) -> pa.RecordBatch:
        """Return rows with their time again, of the type it had, and their range."""
        at = batch.schema.get_field_index(self.on)
        moved = batch.column(at).fill_null(0).to_numpy(zero_copy_only=False)
        cells = (moved + self.before) // (self.width + self.before + self.after)
        times = with_nulls(moved - cells * (self.before + self.after), batch.column(at))
        if self.kind in ("date", "int"):
            times = times.cast(pa.int32() if self.kind == "date" else kind)
        times = times if self.kind == "int" else times.view(kind)
        field = pa.field(self.on, kind, batch.schema.field(at).nullable)
        return batch.set_column(at, field, times).append_column(CELL, pa.array(cells))

    def _time(self) -> Any:
        f, column = functions(), col(self.on)
        if self.kind == "zoned":
            return f.unix_micros(column)
        if self.kind == "date":
            return f.unix_date(column).cast("long")
        if self.kind == "plain":  # no time zone has a say in it
            days = f.unix_date(column.cast("date")).cast("long")
            minutes = days * 1440 + f.hour(column) * 60 + f.minute(column)
            micros = (f.extract(f.lit("SECOND"), column) * 1_000_000).cast("long")
            return minutes * 60_000_000 + micros
        return column.cast("long")

    def of(self, times: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return each time's own range."""
        days = times // DAY if self.kind == "date" else times
        return days // self.width
