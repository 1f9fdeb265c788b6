"""What `sash.spark` would do with a DataFrame, in words."""

from __future__ import annotations

from typing import Any

from sash._bound import Bound
from sash._explain import arguments_of
from sash._operator_explain import explain_aggregates, explain_windows
from sash.spark._ranges import SHARE, Ranges
from sash.spark._rolling import rolling, rolling_plan
from sash.spark._rolling_batch import RollingPlan
from sash.spark._windows import windows, windows_plan
from sash.spark._windows_batch import WindowsPlan
from sash.spark._windows_stream import StreamPlan


def explain_frame(df: Any, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return what `rolling`, or `windows` where these are given, would do."""
    plan: Any
    if "windows" in arguments:
        plan = windows_plan(**_given(windows, df, arguments))
    else:
        plan = rolling_plan(**_given(rolling, df, arguments))
    if isinstance(plan, StreamPlan):
        return _explain_stream(plan)
    return _explain_windows(plan) if isinstance(plan, WindowsPlan) else _explain_rolling(plan)


def _given(function: Any, df: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    given = arguments_of(function, f"sash.spark.{function.__name__}", df, arguments)
    del given["metrics"]
    return given


def _explain_stream(plan: StreamPlan) -> tuple[str, ...]:
    lines = explain_windows(plan.op)
    lines.append(explain_aggregates(Bound.of_types(plan.op, plan.types).plan))
    keys = f"the keys of {', '.join(plan.keys)} are" if plan.keys else "everything is"
    number = "1 shard" if plan.shards == 1 else f"{plan.shards} shards"
    lines.append(f"{keys} in {number}, kept by one operator each in the Python workers")
    lines.append("each micro-batch adds its changes to Spark's state store")
    return tuple(lines)


def _explain_rolling(plan: RollingPlan) -> tuple[str, ...]:
    keys = ", ".join(plan.keys)
    order = ", ".join([*plan.keys, *(["range"] if plan.ranges else []), plan.on, *plan.ties])
    lines = [f"rows of a Spark DataFrame by {plan.on!r}" + (f" and keys of {keys}" if keys else "")]
    if plan.ranges is not None:
        lines.append(_about(plan.ranges))
        places = f"by {keys} and range" if keys else "by range"
    else:
        places = f"by {keys}" if keys else "into one partition: there are no keys and no ranges"
    lines.append(f"shuffled {places}{_partitions(plan.partitions)}, sorted by {order}")
    lines += plan.call.explain_windows()
    return (*lines, "a worker keeps one window of rows at a time")


def _about(ranges: Ranges) -> str:
    share = ranges.width / max(1, ranges.before + ranges.after)
    copied = f"about one row in {share:,.0f} is copied to a second one"
    auto = "" if round(share) != SHARE else f", {SHARE} times what windows reach"
    unit = {"zoned": " us", "plain": " us", "date": " days", "int": ""}[ranges.kind]
    return f"time is cut into ranges of {ranges.width:,}{unit}{auto}; {copied}"


def _partitions(partitions: int | None) -> str:
    return "" if partitions is None else f" into {partitions} partitions"


def _explain_windows(plan: WindowsPlan) -> tuple[str, ...]:
    lines = explain_windows(plan.op)
    lines.append(explain_aggregates(Bound.of_types(plan.op, plan.types).plan))
    keys = f"by {', '.join(plan.keys)}{_partitions(plan.partitions)}"
    keys = keys if plan.keys else "into one partition"
    if plan.why_rows is not None:
        order = ", ".join([*plan.keys, plan.on, *plan.ties])
        lines.append(f"rows are shuffled {keys} and sorted by {order}")
        lines.append(f"  ({plan.why_rows})")
    else:
        lines.append("rows are folded into slices where they are, before the shuffle")
        lines.append(f"slices are shuffled {keys} and windows read off them")
    return tuple(lines)
