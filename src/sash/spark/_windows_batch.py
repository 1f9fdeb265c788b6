"""The plan of windows over batch DataFrames."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sash import _partials
from sash._bound import Bound, columns_read
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
from sash.spark._metrics import counters_of
from sash.spark._pyspark import map_in_arrow
from sash.spark._shipping import check_results, check_shippable
from sash.spark._types import as_carried
from sash.spark._windows_task import Assemble, Fold, Query


class WindowsPlan:
    """One call, checked: nothing has run yet."""

    def __init__(
        self,
        df: Any,
        on: Any,
        windows: Any,
        aggs: Any,
        by: Any,
        ties: Any,
        partitions: Any,
        **others: Any,
    ) -> None:
        self.frame = Frame(df, "windows")
        self.op = op = WindowOperator(on=on, windows=windows, aggs=aggs, by=by, **others)
        self.keys, self.on, self.ties = op._by, on, names_of("ties", ties)
        wanted = columns_read(op)
        self.frame.check([*wanted, *(("ties", t) for t in self.ties)])
        self.frame.check_keys(self.keys)
        self.types = self.frame.types(list(dict.fromkeys(name for _, name in wanted)))
        self.nullable = [k for k in self.keys if df.schema[k].nullable]
        self._check_dates()
        told: pa.Table = Bound.of_types(op, self.types).nothing_told()
        check_results(((a.output, a) for a in op._aggregates), told.schema)
        self.result = as_carried(self.columns_told(told.schema))
        self.frame.refuse_alike(self.result.names)
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

    def columns_told(self, told: pa.Schema) -> pa.Schema:
        """Return which of the operator's columns come out."""
        return pa.schema([f for f in told if f.name not in ("revision", "change")])

    def arguments(self) -> dict[str, Any]:
        """Return what workers make operators with."""
        op = self.op
        return {"on": self.on, "by": self.keys, "windows": op._windows, "aggs": op._aggregates}

    def frame_of_results(self, metrics: Any) -> Any:
        """Return the lazy result."""
        counters = counters_of(metrics, self.frame)
        query = Query(self.arguments(), self.types, self.nullable, counters)
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
