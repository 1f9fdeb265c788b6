"""Windows over Spark DataFrames: tumbling, sliding, session and others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sash._compile import AggregateLike
from sash.spark._frames import refuse_others
from sash.spark._metrics import Metrics
from sash.spark._windows_batch import WindowsPlan
from sash.spark._windows_stream import StreamPlan
from sash.windows import Window


def windows(
    df: Any,
    *,
    on: str,
    windows: Window | Iterable[Window],
    aggs: AggregateLike,
    by: str | list[str] | None = None,
    watermark: Any = None,
    lateness: Any = 0,
    max_ahead: Any = None,
    emit: str = "complete",
    late_rows: bool = False,
    shards: int | None = None,
    ties: str | list[str] | None = None,
    partitions: int | None = None,
    metrics: Metrics | str | None = None,
) -> Any:
    """Aggregate windows of a Spark DataFrame: one row for each key and window that has rows.

    ``windows`` are what `sash.tumbling`, `sash.sliding`, `sash.session` and `sash.windows` make,
    one or several; ``aggs`` is computed in each of them, ``by`` names the keys. The result has the
    keys, ``window`` (the window's name), ``window_start``, ``window_end`` and the aggregates.

    **Batch.** Workers fold rows into slices where they are; only slices are shuffled, and windows
    are read off them. So a sliding window costs what a tumbling one does, and several windows share
    the slices. Windows that the rows themselves delimit (by count, delta, punctuation, split,
    rolling) and aggregates that depend on the order of rows (such as ``last`` or ``argmax``) need
    the rows of a key in order: then rows are shuffled and sorted, and ``ties`` names columns that
    put rows of equal time in order. ``partitions`` is the number of shuffle partitions, else
    Spark's setting. ``metrics`` takes a `Metrics` that counts rows, slices and windows.

    **Streaming.** ``watermark`` is how far the watermark stays behind the latest time seen, unless
    the stream has one by ``withWatermark``. A window comes out when the watermark reaches its end.
    Rows that come after that, but at most ``lateness`` behind the watermark, correct it: the window
    comes out again with the next ``revision``. ``emit="updates"`` also gives windows that are not
    complete, whenever they have changed, and ``emit="changelog"`` changes as pairs of a row to
    retract and one to insert; the column ``change`` says which it is. Rows that come too late for
    that, or have no time, are counted and left out; with ``late_rows=True`` they come out too, as
    structs in a column ``late_row``. With ``max_ahead``, rows whose time is more than that after
    the time of their micro-batch are dropped in the same way, and do not move the watermark. Keys
    are spread over ``shards`` (by default, as many as there are shuffle partitions), which is fixed
    for the life of a checkpoint. ``metrics`` is the name under which counts are in a query's
    progress, else "sash".
    """
    plan = windows_plan(
        df, on=on, windows=windows, aggs=aggs, by=by, watermark=watermark, lateness=lateness,
        max_ahead=max_ahead, emit=emit, late_rows=late_rows, shards=shards, ties=ties,
        partitions=partitions,
    )  # fmt: skip
    return plan.frame_of_results(metrics)


def windows_plan(
    df: Any, *, on: Any, windows: Any, aggs: Any, by: Any, ties: Any, partitions: Any, **stream: Any
) -> WindowsPlan:
    """Return the plan of a call, checked, for a stream or for a batch."""
    if getattr(df, "isStreaming", False):
        refuse_others("not for streams", {"ties": (ties, None), "partitions": (partitions, None)})
        return StreamPlan(df, on, windows, aggs, by, **stream)
    usual = {"lateness": 0, "emit": "complete", "late_rows": False}
    given = {name: (value, usual.get(name)) for name, value in stream.items()}
    refuse_others("this DataFrame is not a stream", given)
    return WindowsPlan(df, on, windows, aggs, by, ties, partitions)
