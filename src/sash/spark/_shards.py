"""The stateful part of a streaming query: Spark calls it with the rows of a shard.

A shard is all keys whose hash falls on it. One call handles all its keys natively, since a call to
Spark's state store costs about a millisecond and a call for each key would cost that for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sash._ipc import from_bytes, to_bytes
from sash._partials import OWN
from sash._tables import flat
from sash.spark import _live_shards
from sash.spark._pack import bearable
from sash.spark._pyspark import pyspark_module
from sash.spark._rows import batches_out, stretches
from sash.spark._shard_log import (
    ENTRY,
    ENTRY_KEY,
    MANIFEST,
    CheckpointError,
    Manifest,
    ShardLog,
)
from sash.spark._worker import calm, task_context

COUNTS = ("rows", "late_rows", "rows_without_time", "rows_ahead", "windows", "corrections")
"""What is counted, in the columns beside the cells that come out."""
CORRECTIONS = ("correction", "retract")
"""What ``change`` says where a window that was complete has another value."""
CHUNK = 1 << 20
"""Rows that are processed at once."""
AHEAD = f"{OWN}ahead"
"""The column that says which rows are too far ahead, where there is a bound."""
LATE = "late_row"
"""The column of rows that came too late, where they are asked for."""


@dataclass
class _Outcome:
    """What a call has come to."""

    told: list[pa.Table] = field(default_factory=list)
    late: list[pa.Table] = field(default_factory=list)
    rows: int = 0
    without_time: int = 0
    ahead: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """What there is to count, by `COUNTS`."""
        late = sum(t.num_rows for t in self.late)
        windows = sum(t.num_rows for t in self.told)
        corrections = sum(_corrections(t) for t in self.told)
        late -= self.without_time + self.ahead
        values = self.rows, late, self.without_time, self.ahead, windows, corrections
        return dict(zip(COUNTS, values, strict=True))


def _corrections(told: pa.Table) -> int:
    return int(pc.sum(pc.is_in(told["change"], pa.array(CORRECTIONS))).as_py() or 0)


@dataclass
class Shards:
    """What is done with shards; the same in every worker."""

    keeper: Any
    """The class that keeps a shard."""
    query: Any
    token: str
    """Of this plan: another one, with other functions, must not find its shards in a worker."""
    shards: int
    about: dict[str, Any]
    """The query, as far as it can be said in JSON."""
    result: pa.Schema
    """The columns that come out."""
    late: str | None = None
    """How rows that are too late come out: as a "struct" in `LATE`, as a "row", or not."""

    def run(
        self, log: ShardLog, cells: Iterable[bytes], watermark_ms: int, fired: bool
    ) -> Iterator[tuple[bytes, dict[str, int]]]:
        """Take the rows of a shard; yield cells of results, with counts."""
        if log.manifest is None:
            log.begin(self.shards, self.about)
        assert log.manifest is not None
        self._check(log.manifest)
        key = (_run_id(), self.token, log.shard)
        keeper = _live_shards.take(key, log, lambda entries=(): self.keeper(self.query, entries))
        outcome = self._take(keeper, cells, watermark_ms)
        self._save(keeper, log, outcome, fired)
        _live_shards.give_back(key, log, keeper)
        yield from self._cells(outcome)

    def _check(self, manifest: Manifest) -> None:
        if manifest.shards != self.shards:
            raise CheckpointError(
                f"this checkpoint has its keys in {manifest.shards} shards, and this query asks "
                f"for {self.shards}: give shards={manifest.shards}, or start anew with another "
                "checkpointLocation. (Without shards= there are as many as "
                "spark.sql.shuffle.partitions was when the plan was made.)"
            )
        functions = [
            "rolling" if about.get("rows") else "windows" for about in (manifest.query, self.about)
        ]
        if functions[0] != functions[1]:
            raise CheckpointError(
                f"this checkpoint is of sash.spark.{functions[0]}, not of {functions[1]}: start "
                "with another checkpointLocation"
            )

    def _take(self, keeper: Any, cells: Iterable[bytes], watermark_ms: int) -> _Outcome:
        """Move on to the watermark, then take the rows: they are late by it or they are not.

        So the outcome depends on the rows and watermarks alone, and not on what was called when, or
        what was tried before.
        """
        outcome = _Outcome()
        if watermark_ms > 0:  # else there is none yet
            outcome.told.append(keeper.advance(watermark_ms * 1000))
        for rows in _tables(cells):
            plausible, ahead = _within_bounds(rows)
            timed, without_time = _by_time(plausible, self.query.on)
            outcome.ahead += ahead.num_rows
            outcome.late.append(ahead)
            outcome.rows += timed.num_rows
            outcome.without_time += without_time.num_rows
            outcome.late.append(without_time)
            outcome.told.append(keeper.process(timed))
            late = keeper.take_late()
            outcome.rows -= sum(t.num_rows for t in late)
            outcome.late += late
        return outcome

    @staticmethod
    def _save(keeper: Any, log: ShardLog, outcome: _Outcome, fired: bool) -> None:
        """Write what has changed to the state store.

        A watermark that told nothing is no change: the next call moves on to its own anyway.
        """
        assert log.manifest is not None
        changed = log.manifest.last < 0 or outcome.rows or any(t.num_rows for t in outcome.told)
        if changed:
            changes = keeper.changes()
            log.add(keeper.name, changes, keeper.all_again)
        if log.wake(_timer(keeper.due), fired) or changed:
            log.save()

    def _cells(self, outcome: _Outcome) -> Iterator[tuple[bytes, dict[str, int]]]:
        counts = outcome.counts
        tables = [self._completed(t) for t in outcome.told]
        if self.late is not None:
            tables += [self._as_late(t) for t in outcome.late]
        for table in tables:
            for batch in batches_out(table, self.result):
                for some in bearable(pa.Table.from_batches([batch])):
                    yield to_bytes(some), counts
                    counts = dict.fromkeys(COUNTS, 0)
        if any(counts.values()):
            yield b"", counts

    def _completed(self, told: pa.Table) -> pa.Table:
        if self.late != "struct":
            return told
        late = self.result.field(LATE)
        return told.append_column(late, pa.nulls(told.num_rows, late.type))

    def _as_late(self, rows: pa.Table) -> pa.Table:
        columns = {f.name: pa.nulls(rows.num_rows, f.type) for f in self.result}
        columns["change"] = pa.array(["late"] * rows.num_rows, pa.string())
        if self.late == "struct":
            kind = columns[LATE].type
            parts = [flat(rows.column(f.name)).cast(f.type) for f in kind]
            columns[LATE] = pa.StructArray.from_arrays(parts, fields=list(kind))
        else:
            columns |= {name: rows.column(name) for name in rows.column_names}
        return pa.table(columns)


def _timer(due: int | None) -> int | None:
    """Return the timer that Spark calls once the watermark, in milliseconds, reaches a time.

    Spark's first watermark is past 1970, and it never calls a timer that is set before.
    """
    return None if due is None else max(1, -(-due // 1000))


def _run_id() -> str:
    """Return what tells queries, and the runs of a query, from each other."""
    context = task_context()
    return "" if context is None else str(context.getLocalProperty("spark.jobGroup.id"))


def _tables(cells: Iterable[bytes]) -> Iterator[pa.Table]:
    """Yield cells as tables that are worth a call."""
    batches = (batch for cell in cells if cell for batch in from_bytes(cell).to_batches())
    return stretches(batches, CHUNK)


def _within_bounds(rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return the rows that are not too far ahead, and those that are."""
    if AHEAD not in rows.column_names:
        return rows, rows.slice(0, 0)
    ahead = flat(rows.column(AHEAD)).fill_null(False)  # null: there is no time
    rows = rows.drop_columns([AHEAD])
    if not ahead.true_count:
        return rows, rows.slice(0, 0)
    return rows.filter(pc.invert(ahead)), rows.filter(ahead)


def _by_time(rows: pa.Table, on: str) -> tuple[pa.Table, pa.Table]:
    """Return the rows that have a time, and those that have none."""
    times = flat(rows.column(on))
    if not times.null_count:
        return rows, rows.slice(0, 0)
    return rows.filter(times.is_valid()), rows.filter(times.is_null())


def processor(shards: Shards) -> Any:
    """Return what Spark calls."""
    import pandas

    base = pyspark_module("pyspark.sql.streaming").StatefulProcessor

    class ShardProcessor(base):  # type: ignore[misc, valid-type]
        """Shards by Spark's interface."""

        def init(self, handle: Any) -> None:
            self._handle = handle
            self._manifest = handle.getValueState("manifest", MANIFEST)
            self._entries = handle.getMapState("entries", ENTRY_KEY, ENTRY)

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:  # noqa: N802, N803
            found = [row for frame in rows for row in frame.itertuples(index=False)]
            # In the order they arrived in, however Spark has shuffled them.
            found.sort(key=lambda row: (row.part, row.number))
            yield from self._run(key, [bytes(row.cell) for row in found], timerValues, False)

        def handleExpiredTimer(  # noqa: N802
            self,
            key: Any,
            timerValues: Any,  # noqa: N803
            expiredTimerInfo: Any,  # noqa: N803
        ) -> Any:
            yield from self._run(key, [], timerValues, True)

        def _run(self, key: Any, cells: list[bytes], timer_values: Any, fired: bool) -> Any:
            log = ShardLog(int(key[0]), self._manifest, self._entries, self._handle)
            watermark = timer_values.getCurrentWatermarkInMs()
            for cell, counts in shards.run(log, cells, watermark, fired):
                yield pandas.DataFrame({"cell": [cell], **{n: [counts[n]] for n in COUNTS}})

        def close(self) -> None:
            calm("shards")

    return ShardProcessor()
