"""Rolling aggregates over Spark DataFrames."""

from __future__ import annotations

from typing import Any

from sash._compile import AggregateLike
from sash.spark._frames import refuse_others
from sash.spark._metrics import Metrics
from sash.spark._rolling_batch import RollingPlan
from sash.spark._rolling_stream import RollingStream


def rolling(
    df: Any,
    *,
    aggs: AggregateLike,
    on: str,
    window: Any = None,
    rows: Any = None,
    by: str | list[str] | None = None,
    closed: str | None = None,
    min_rows: int = 0,
    center: bool = False,
    every: Any = None,
    offset: Any = None,
    ties: str | list[str] | None = None,
    split: Any = "auto",
    partitions: int | None = None,
    watermark: Any = None,
    lateness: Any = 0,
    max_ahead: Any = None,
    late_rows: bool = False,
    shards: int | None = None,
    metrics: Metrics | str | None = None,
) -> Any:
    """Aggregate a window around each row of a Spark DataFrame, as `sash.rolling` does of a table.

    The arguments that both have mean the same: ``window="1h"`` is ``(t - 1 h, t]`` of the column
    ``on``, for each value of ``by``. The result is a lazy DataFrame with a column added for each
    aggregate (and window), or with ``every`` one row for each key and step.

    Rows are shuffled by key and sorted by time; each partition then streams through one native
    kernel, which keeps one window of rows. The cost of a row does not depend on the window's size.

    Rows of a DataFrame have no order of their own: ``ties`` names columns that put rows of equal
    time in order, for aggregates and ``rows=`` windows that depend on it.

    ``split=True`` cuts time into ranges, eight times as long as the windows, that are worked on
    separately, so that one big key uses all cores; ``split="6h"`` does so with ranges of that
    length. ``"auto"`` is ``True`` where there are no keys and ``False`` where there are; turn it on
    when one key has much of the rows. ``partitions`` is the number of shuffle partitions, else
    Spark's setting. ``metrics`` takes a `Metrics` that counts rows.

    **Of a stream**, a row comes out when the watermark has passed it, so that its window is
    complete, with all its columns. One window by time that reaches back and holds its own row
    (``closed`` is "right" or "both") can be asked for. ``watermark``, ``lateness``, ``max_ahead``,
    ``late_rows``, ``shards`` and ``metrics`` are as in `windows`: rows that a late row changes come
    out again with the next ``revision``, and ``change`` says so. Rows that are dropped come out, if
    asked for, with ``change="late"`` and no results.
    """
    plan = rolling_plan(
        df, aggs=aggs, on=on, window=window, rows=rows, by=by, closed=closed, min_rows=min_rows,
        center=center, every=every, offset=offset, ties=ties, split=split, partitions=partitions,
        watermark=watermark, lateness=lateness, max_ahead=max_ahead, late_rows=late_rows,
        shards=shards,
    )  # fmt: skip
    return plan.frame_of_results(metrics)


_OF_STREAMS = {
    "watermark": None, "lateness": 0, "max_ahead": None, "late_rows": False, "shards": None,
}  # fmt: skip
_OF_BATCHES = {
    "rows": None, "min_rows": 0, "center": False, "every": None, "offset": None, "ties": None,
    "split": "auto", "partitions": None,
}  # fmt: skip


def rolling_plan(
    df: Any, *, aggs: Any, on: Any, window: Any, by: Any, closed: Any, **others: Any
) -> RollingPlan | RollingStream:
    """Return the plan of a call, checked, for a stream or for a batch."""
    stream = {name: others.pop(name) for name in _OF_STREAMS}
    if getattr(df, "isStreaming", False):
        refuse_others("not for streams", {n: (others[n], _OF_BATCHES[n]) for n in others})
        return RollingStream(df, on, by, aggs, window, closed, **stream)
    given = {name: (value, _OF_STREAMS[name]) for name, value in stream.items()}
    refuse_others("this DataFrame is not a stream", given)
    ties, split, partitions = (others.pop(name) for name in ("ties", "split", "partitions"))
    asked = {"aggs": aggs, "window": window, "closed": closed, **others}
    return RollingPlan(df, on, by, ties, split, partitions, **asked)
