"""The plan of rolling aggregates over batch DataFrames."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sash._aggregate import repeated
from sash._compile import aggregates_of
from sash._rolling import Call
from sash._rolling_windows import names_of
from sash.spark._frames import (
    CELL,
    Frame,
    col,
    extended_schema,
    gathered,
    partitions_of,
    refuse_parts_of_days,
    schema_of,
)
from sash.spark._metrics import counters_of
from sash.spark._pyspark import functions, map_in_arrow
from sash.spark._ranges import Ranges
from sash.spark._rolling_task import RollingTask
from sash.spark._shipping import check_results, check_shippable
from sash.spark._types import as_carried


class RollingPlan:
    """One call, checked: nothing has run yet."""

    def __init__(
        self, df: Any, on: Any, by: Any, ties: Any, split: Any, partitions: Any, **others: Any
    ) -> None:
        self.frame = Frame(df, "rolling")
        if not isinstance(on, str):
            raise TypeError(
                "rows of a DataFrame have no order: name the column that orders them, on='...', "
                f"not {on!r}"
            )
        self.keys, self.ties = names_of("by", by), names_of("ties", ties)
        self.on = on
        if (twice := repeated(self.keys)) is not None:
            raise ValueError(f"by: column {twice!r} is named twice")
        self.frame.check([("on", on), *(("by", k) for k in self.keys)])
        self.frame.check([("ties", t) for t in self.ties])
        self.frame.check_keys(self.keys)
        aggregates = aggregates_of(others.pop("aggs"))[0]
        self.arguments: dict[str, Any] = {
            **others, "aggs": aggregates, "on": on, "by": self.keys, "order": "event",
        }  # fmt: skip
        self.types = self.frame.types(self.frame.names)
        self.call = Call(self._empty(self.types), **self.arguments)
        schema: pa.Schema = self.call.run(1, False).schema
        named = {a.output: a for a in self.call.aggregates}
        check_results(((n, named[a]) for (a, _), n in self.call.outputs.items()), schema)
        self.schema = as_carried(schema)
        self.frame.refuse_alike(schema.names)
        self._check_dates()
        check_shippable((a.output, a) for a in self.call.aggregates)
        self.ranges = self._ranges(split)
        self.partitions = partitions_of(partitions, bool(self.keys or self.ranges))

    @staticmethod
    def _empty(types: dict[str, pa.DataType]) -> pa.Table:
        return pa.schema(list(types.items())).empty_table()

    def _check_dates(self) -> None:
        every = self.call.every
        if every is None or not pa.types.is_date(self.types[self.on]):
            return
        lengths = (every, self.call.offset, self.call.windows[0].size)
        refuse_parts_of_days("every", self.on, lengths)

    def _ranges(self, split: Any) -> Ranges | None:
        automatic = isinstance(split, str) and split == "auto"
        counted = [w.label for w in self.call.windows if w.by_count]
        if split is False or (automatic and (counted or self.keys)):
            return None
        if counted:
            raise ValueError(
                f"split: rows={counted[0].removesuffix('rows')} counts rows, and no range of time "
                "holds a known number of them; leave split out"
            )
        assert self.call.times is not None
        width = None
        if not automatic and split is not True:
            width = self.call.times.length("split", split)
        before = max(w.before for w in self.call.windows)
        after = max(w.after for w in self.call.windows)
        return Ranges.reaching(self.on, self.types[self.on], before, after, width)

    @property
    def added(self) -> pa.Schema:
        """The columns that are made, all of them where there are steps."""
        if self.call.every is not None:
            return self.schema
        return pa.schema([f for f in self.schema if f.name not in self.types])

    def sorted_rows(self) -> Any:
        """Return the rows, those of a key together and in order of time."""
        df, keys = self.frame.df, self.frame.key_expressions(self.keys)
        ties = [col(t) for t in self.ties]
        if self.ranges is None:
            return gathered(df, keys, self.partitions, [*keys, col(self.on), *ties])
        # An outer one: a row without a time goes to no range, and is refused by name.
        ranges = functions().explode_outer(self.ranges.of_row()).alias(CELL)
        moved = self.ranges.moved(col(CELL))
        rows = gathered(
            df.select("*", ranges), [*keys, col(CELL)], self.partitions, [*keys, moved, *ties]
        )
        return rows.select(*(moved.alias(n) if n == self.on else col(n) for n in df.columns))

    def frame_of_results(self, metrics: Any) -> Any:
        """Return the lazy result."""
        by = [*self.keys, *([CELL] if self.ranges is not None else [])]
        outputs = ", ".join(a.output for a in self.call.aggregates)
        task = RollingTask(
            {**self.arguments, "by": by},
            self.types[self.on],
            self.added,
            self.ranges,
            counters_of(metrics, self.frame),
            f"sash_rolling[{outputs} over {', '.join(w.label for w in self.call.windows)}]",
        )
        steps = self.call.every is not None
        schema = schema_of(self.schema) if steps else extended_schema(self.frame, self.added)
        return map_in_arrow(self.sorted_rows(), task, schema)
