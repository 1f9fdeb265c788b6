"""The plan of windows over streams."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sash.spark._frames import col, schema_of
from sash.spark._keep_windows import WindowKeeper
from sash.spark._metrics import Counters
from sash.spark._shards import AHEAD, LATE, Shards
from sash.spark._state import about_query
from sash.spark._streams import (
    check_settings,
    check_times,
    metrics_name,
    new_token,
    results_of,
    shards_of,
    with_watermark,
)
from sash.spark._windows_batch import WindowsPlan
from sash.spark._windows_task import Query


class StreamPlan(WindowsPlan):
    """One call with a stream, checked."""

    def __init__(
        self,
        df: Any,
        on: Any,
        windows: Any,
        aggs: Any,
        by: Any,
        *,
        watermark: Any,
        lateness: Any,
        max_ahead: Any,
        emit: Any,
        late_rows: Any,
        shards: Any,
    ) -> None:
        check_times(df, on)
        self.late_rows = bool(late_rows)
        self._of_operator = {"lateness": lateness, "emit": emit}
        super().__init__(df, on, windows, aggs, by, None, None, **self._of_operator)
        self.nullable = self.keys  # whatever the schema says now: it may change between runs
        session = self.frame.df.sparkSession
        self.stream = with_watermark(self.frame, on, watermark, max_ahead)
        check_settings(session)
        self.shards = shards_of(shards, session, bool(self.keys))
        self.names = self.frame.names if self.late_rows else list(self.types)
        if self.late_rows and LATE in map(str.lower, self.result.names):
            raise ValueError(f"late_rows adds a column {LATE!r}, and there is one: rename yours")
        if self.late_rows:
            kinds = self.frame.types(self.names)
            self.result = self.result.append(pa.field(LATE, pa.struct(list(kinds.items()))))

    def columns_told(self, told: pa.Schema) -> pa.Schema:
        """Return all of the operator's columns."""
        return told

    def arguments(self) -> dict[str, Any]:
        """Return what workers make operators with."""
        return {**super().arguments(), **self._of_operator}

    def about(self, rows: bool) -> dict[str, Any]:
        """Return the query as the state says it; ``rows``: its rows come out again."""
        return {**about_query(self.op, self.types, rows), "nullable": self.nullable}

    def frame_of_results(self, metrics: Any) -> Any:
        """Return the lazy result."""
        query = Query(self.arguments(), self.types, self.nullable, Counters(), self.names)
        late = "struct" if self.late_rows else None
        shards = Shards(
            WindowKeeper, query, new_token(), self.shards, self.about(rows=False), self.result, late
        )
        return self.results_of(shards, schema_of(self.result), metrics)

    def results_of(self, shards: Shards, schema: Any, metrics: Any) -> Any:
        """Return the lazy result."""
        extra = [AHEAD] if AHEAD in self.stream.columns else []
        rows = self.stream.select(*map(col, [*self.names, *extra]))
        return results_of(self.frame, rows, self.keys, shards, schema, metrics_name(metrics))
