"""Windows over Spark DataFrames: tumbling, sliding, session and others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from sash import _partials
from sash._bound import Bound, columns_read
from sash._compile import AggregateLike
from sash._operator import WindowOperator
from sash._rolling_windows import names_of
from sash.spark._frames import (
    Frame,
    col,
    gathered,
    partitions_of,
    refuse_parts_of_days,
    schema_of,
)
from sash.spark._metrics import Metrics, counters_of
from sash.spark._pyspark import map_in_arrow
from sash.spark._shipping import check_results, check_shippable
from sash.spark._types import as_carried
from sash.spark._windows_task import Assemble, Fold, Query
from sash.windows import Window

_OF_STREAMS = ("revision", "change")


def windows(
    df: Any,
    *,
    on: str,
    windows: Window | Iterable[Window],
    aggs: AggregateLike,
    by: str | list[str] | None = None,
    ties: str | list[str] | None = None,
    partitions: int | None = None,
    metrics: Metrics | None = None,
) -> Any:
    """Aggregate windows of a Spark DataFrame: one row for each key and window that has rows.

    ``windows`` are what `sash.tumbling`, `sash.sliding`, `sash.session` and `sash.windows` make,
    one or several; ``aggs`` is computed in each of them, ``by`` names the keys. The result has the
    keys, ``window`` (the window's name), ``window_start``, ``window_end`` and the aggregates.

    Workers fold rows into slices where they are; only slices are shuffled, and windows are read off
    them. So a sliding window costs what a tumbling one does, and several windows share the slices.
    Windows that the rows themselves delimit (by count, delta, punctuation, split, rolling) and
    aggregates that depend on the order of rows (such as ``last`` or ``argmax``) need the rows of a
    key in order: then rows are shuffled and sorted, and ``ties`` names columns that put rows of
    equal time in order.

    ``partitions`` is the number of shuffle partitions, else Spark's setting. ``metrics`` takes a
    `Metrics` that counts rows, slices and windows.
    """
    return WindowsPlan(df, on, windows, aggs, by, ties, partitions).frame_of_results(metrics)


class WindowsPlan:
    """One call, checked: nothing has run yet."""

    def __init__(
        self, df: Any, on: Any, windows: Any, aggs: Any, by: Any, ties: Any, partitions: Any
    ) -> None:
        self.frame = Frame(df, "windows")
        self.op = op = WindowOperator(on=on, windows=windows, aggs=aggs, by=by)
        self.keys, self.on, self.ties = op._by, on, names_of("ties", ties)
        wanted = columns_read(op)
        self.frame.check([*wanted, *(("ties", t) for t in self.ties)])
        self.frame.check_keys(self.keys)
        self.types = self.frame.types(list(dict.fromkeys(name for _, name in wanted)))
        self.nullable = [k for k in self.keys if df.schema[k].nullable]
        self._check_dates()
        self.result = self._result()
        check_shippable((a.output, a) for a in op._aggregates)
        check_shippable((w.name, w) for w in op._windows)
        self.partitions = partitions_of(partitions, bool(self.keys))
        self.why_rows = self._why_rows()
        if self.ties and self.why_rows is None:
            raise ValueError("ties: the order of rows does not matter here; leave it out")

    def _why_rows(self) -> str | None:
        """Return why the rows themselves have to travel, if they have to."""
        for window in self.op._windows:
            if window.by_rows:
                return f"{window.name}: rows say where its windows begin and end"
            if window.kind == "rolling":
                return f"{window.name}: a window ends with every row"
        for one in self.op._aggregates:
            if not one.laws.commutative:
                return f"{one.output}: the order of rows matters"
        return None

    def _check_dates(self) -> None:
        if not pa.types.is_date(self.types[self.on]):
            return
        clock = Bound.of_types(self.op, self.types).clock
        for window in self.op._windows:
            if window.by_rows or window.kind == "calendar":
                continue
            size, slide, offset = clock.window(window)
            lengths = (size, slide, offset) if window.kind == "periodic" else (size,)
            refuse_parts_of_days(window.name, self.on, lengths)

    def _result(self) -> pa.Schema:
        told: pa.Table = Bound.of_types(self.op, self.types).nothing_told()
        check_results(((a.output, a) for a in self.op._aggregates), told.schema)
        return as_carried(pa.schema([f for f in told.schema if f.name not in _OF_STREAMS]))

    def query(self, metrics: Metrics | None) -> Query:
        """Return what workers are told."""
        arguments = {
            "on": self.on, "by": self.keys, "windows": self.op._windows,
            "aggs": self.op._aggregates,
        }  # fmt: skip
        return Query(arguments, self.types, self.nullable, counters_of(metrics, self.frame))

    def frame_of_results(self, metrics: Metrics | None) -> Any:
        """Return the lazy result."""
        query = self.query(metrics)
        names = ", ".join(w.name for w in self.op._windows)
        outputs = ", ".join(a.output for a in self.op._aggregates)
        rows = self.frame.df.select(*map(col, dict.fromkeys([*self.types, *self.ties])))
        if self.why_rows is not None:
            keys = self.frame.key_expressions(self.keys)
            order = [*keys, col(self.on), *map(col, self.ties)]
            rows = gathered(rows, keys, self.partitions, order).select(*map(col, self.types))
        else:
            fold = Fold(query, f"sash_fold[{outputs} into slices of {names}]")
            slices = [*query.key_types.items(), *_partials.FIELDS]
            rows = map_in_arrow(rows, fold, schema_of(pa.schema(slices)))
            keys = [col(k) for k in query.keys]
            rows = gathered(rows, keys, self.partitions, [*keys, col(_partials.FIRST)])
        label = f"sash_windows[{outputs} over {names}]"
        task = Assemble(query, self.why_rows is None, self.result, label)
        return map_in_arrow(rows, task, schema_of(self.result))
