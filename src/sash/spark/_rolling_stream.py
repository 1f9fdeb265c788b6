"""The plan of rolling aggregates over streams."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sash import windows
from sash._rolling_windows import read_closed, read_times, read_windows
from sash.spark._frames import extended_schema
from sash.spark._keep_rolling import RollingKeeper, RollingQuery
from sash.spark._metrics import Counters
from sash.spark._shards import Shards
from sash.spark._streams import new_token
from sash.spark._windows_stream import StreamPlan


class RollingStream(StreamPlan):
    """One call with a stream, checked: windows that end with each row."""

    def __init__(
        self, df: Any, on: Any, by: Any, aggs: Any, window: Any, closed: Any, **others: Any
    ) -> None:
        size = self._size(window, closed)
        late_rows = others.pop("late_rows")
        super().__init__(
            df, on, windows.rolling(size), aggs, by, emit="complete", late_rows=False, **others
        )
        self.late_rows = bool(late_rows)
        self.names = self.frame.names
        self.row_types = self.frame.types(self.names)
        self.outputs = [a.output for a in self.op._aggregates]
        for name in (*self.outputs, "revision", "change"):
            if name in self.names:
                raise ValueError(
                    f"the stream has a column {name!r}, and the result another one: rename it"
                    + (", or use alias()" if name in self.outputs else "")
                )
        added = (*self.outputs, "revision", "change")
        self.added = pa.schema([self.result.field(name) for name in added])
        self.result = pa.schema([*self.row_types.items(), *self.added])
        self.frame.refuse_alike(self.result.names)

    @staticmethod
    def _size(window: Any, closed: Any) -> int:
        """Return the length of the window in microseconds."""
        times = read_times("on", pa.array([], pa.timestamp("us")))
        found = read_windows(times, window, None, False)
        if len(found) > 1 or found[0].after:
            raise ValueError(
                f"window: of a stream, one window that reaches back, such as '1h', not {window!r}"
            )
        left, right = read_closed(closed, "right")
        if not right:
            raise ValueError(
                f"closed: windows of a stream hold their own row, 'right' or 'both', not {closed!r}"
            )
        return found[0].before + left

    def frame_of_results(self, metrics: Any) -> Any:
        """Return the lazy result."""
        query = RollingQuery(
            self.arguments(), self.types, self.nullable, Counters(), self.names,
            self.row_types, self.outputs,
        )  # fmt: skip
        late = "row" if self.late_rows else None
        shards = Shards(
            RollingKeeper, query, new_token(), self.shards, self.about(rows=True), self.result, late
        )
        return self.results_of(shards, extended_schema(self.frame, self.added), metrics)
