"""Streaming queries: the plan that Spark runs for each micro-batch.

rows -> pack (by shard) -> shuffle -> shards, with state -> unpack -> results
"""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pyarrow as pa

from sash._durations import nanoseconds
from sash._partials import OWN
from sash.spark._frames import Frame, col, schema_of
from sash.spark._pack import CELLS, SHARD, Pack, Unpack, labels_of
from sash.spark._pyspark import arrow_only, functions, map_in_arrow, pyspark_types
from sash.spark._shards import AHEAD, COUNTS, Shards, processor
from sash.structures import whole_number

_TIME = f"{OWN}time"
MOST_DELAY = 1 << 62
"""Nanoseconds, of which Spark's clock has a few more."""
MOST_SHARDS = 1 << 16
"""Each has state and a task of its own in every micro-batch."""
_DELAY = "spark.watermarkDelayMs"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
STATE_SETTINGS = {
    _PROVIDER: _ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
"""What streams with state need, and what makes them fast."""


def check_times(df: Any, on: Any) -> None:
    """Raise unless the column of times, if it is there, can have a watermark."""
    found = [f.dataType for f in df.schema.fields if f.name == on]
    if found and not isinstance(found[0], pyspark_types().TimestampType):
        raise TypeError(
            f"column {on!r} holds {found[0].simpleString()}: Spark's watermarks are of timestamps "
            "(with a time zone); cast it to one"
        )


def with_watermark(frame: Frame, on: str, watermark: Any, max_ahead: Any) -> Any:
    """Return a stream with a watermark on its column of times: the one it has, or a new one.

    With ``max_ahead``, a column `AHEAD` says which rows are too far ahead of the time of their
    micro-batch; they do not move the watermark. That time is in the checkpoint, so that a retry
    drops the same rows.
    """
    field = frame.df.schema[on]
    if _DELAY in (field.metadata or {}):
        _refuse_second(on, field.metadata[_DELAY], watermark, max_ahead)
        return frame.df
    if watermark is None:
        others = [f.name for f in frame.df.schema.fields if _DELAY in (f.metadata or {})]
        there = f" (there is one, on {others[0]!r})" if others else ""
        raise ValueError(
            f"a stream needs a watermark on {on!r}{there}, or no window would ever be complete: "
            "say how much later than others rows may come, as in watermark='10 minutes'"
        )
    delay = f"{_length('watermark', watermark, 1_000_000) // 1_000_000} milliseconds"
    if max_ahead is not None:
        f = functions()
        length = f.lit(timedelta(microseconds=_length("max_ahead", max_ahead, 1_000) // 1_000))
        ahead = col(on) > f.current_timestamp() + length
        known = frame.df.select(*map(col, frame.names), ahead.alias(AHEAD))
        marked = known.withColumn(_TIME, f.when(~col(AHEAD), col(on)))
        return marked.withWatermark(_TIME, delay).select(*map(col, [*frame.names, AHEAD]))
    # Under a name of ours: Spark reads the one it is given as SQL, or as a path with dots.
    named = frame.df.select(*(col(n).alias(_TIME if n == on else n) for n in frame.names))
    marked = named.withWatermark(_TIME, delay)
    return marked.select(*(col(_TIME).alias(on) if n == on else col(n) for n in frame.names))


def _refuse_second(on: str, delay: Any, watermark: Any, max_ahead: Any) -> None:
    """Raise where a stream has a watermark already and another one is asked for."""
    if watermark is not None:
        raise ValueError(
            f"the stream has a watermark on {on!r} already, of {delay} ms: leave out watermark="
        )
    if max_ahead is not None:
        raise ValueError(
            f"max_ahead: the stream has a watermark on {on!r} already, which rows far ahead move: "
            "leave out withWatermark, and give watermark= here"
        )


def _length(what: str, value: Any, unit: int) -> int:
    """Return a length of time in nanoseconds, whole units of it."""
    length = nanoseconds(what, value)
    if length < 0 or length % unit:
        units = "milliseconds" if unit == 1_000_000 else "microseconds"
        raise ValueError(f"{what}: whole {units} from 0 on, not {value!r}")
    if length >= MOST_DELAY:
        raise ValueError(f"{what}: {value!r} is longer than all times of Spark's")
    return length


def check_settings(session: Any) -> None:
    """Raise unless the session keeps the state of streams in RocksDB."""
    found = session.conf.get(_PROVIDER)
    if found != _ROCKSDB:
        raise ValueError(
            f"streams with state of this kind need Spark's RocksDB store: set {_PROVIDER} to "
            f"{_ROCKSDB} (sash.spark.local_session does)"
        )


def shards_of(shards: Any, session: Any, keyed: bool) -> int:
    """Return the number of shards."""
    if not keyed:
        if shards not in (None, 1):
            raise ValueError("shards: without keys there is one; leave it out")
        return 1
    if shards is None:
        return int(session.conf.get("spark.sql.shuffle.partitions"))
    return whole_number("shards", shards, 1, MOST_SHARDS)


def results_of(
    frame: Frame, rows: Any, keys: list[str], shards: Shards, schema: Any, metrics: str
) -> Any:
    """Return the lazy result of a stream: ``rows`` has the columns that go to the shards."""
    f = functions()
    labels = labels_of(shards.shards)
    if keys:
        rows = rows.select("*", place_of(frame, keys, shards.shards).alias(SHARD))
    cells = map_in_arrow(rows, Pack(labels), schema_of(CELLS))
    out = pa.schema([("cell", pa.binary()), *((name, pa.int64()) for name in COUNTS)])
    with arrow_only():
        told = cells.groupBy("shard").transformWithStateInPandas(
            processor(shards), schema_of(out), "Append", "EventTime"
        )
    sums = [f.coalesce(f.sum(col(n)), f.lit(0)).alias(n) for n in COUNTS]
    told = told.observe(metrics, *sums).select("cell")
    return map_in_arrow(told, Unpack(), schema)


def place_of(frame: Frame, keys: list[str], shards: int) -> Any:
    """Return which of the shards a key belongs to: for good, so this must never change."""
    f = functions()
    return f.pmod(f.hash(*frame.key_expressions(keys)), f.lit(shards))


def metrics_name(metrics: Any) -> str:
    """Return the name that counts go by in a query's progress."""
    if metrics is None:
        return "sash"
    if not isinstance(metrics, str) or not metrics:
        raise TypeError(
            "metrics: of a stream, counts are in the query's progress (lastProgress.observedMetrics"
            f"); give the name they should have there, not {metrics!r}"
        )
    return metrics


def new_token() -> str:
    """Return what tells a plan from all others."""
    return uuid.uuid4().hex
