"""What a rolling call means, in plain Python: which rows each window holds."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import oracle

CLOSED = ("right", "left", "both", "neither")
Row = dict[str, Any]


def inside(at: int, row: int, before: int, after: int, closed: str) -> bool:
    """Whether ``at`` is in the window of a row."""
    low, high = row - before, row + after
    from_left = at >= low if closed in ("left", "both") else at > low
    to_right = at <= high if closed in ("right", "both") else at < high
    return from_left and to_right


def by_time(rows: Sequence[Row], indices: Sequence[int]) -> list[int]:
    """Indices in order of time; equal times as they arrived."""
    return sorted(indices, key=lambda i: (rows[i]["t"], i))


def frames(
    rows: Sequence[Row],
    before: int,
    after: int,
    *,
    by_count: bool = False,
    closed: str = "right",
    order: str = "event",
) -> list[list[int]]:
    """The rows of each row's window, in order of time and arrival."""
    found = []
    for i, row in enumerate(rows):
        peers = [j for j, other in enumerate(rows) if other["k"] == row["k"]]
        if order == "arrival":
            peers = [j for j in peers if j <= i]
        line = by_time(rows, peers)
        if by_count and order == "arrival":
            found.append(line[-before:])
        elif by_count:
            at = line.index(i)
            found.append([j for p, j in enumerate(line) if inside(p, at, before, after, closed)])
        else:
            now = max(rows[j]["t"] for j in peers) if order == "arrival" else row["t"]
            found.append([j for j in line if inside(rows[j]["t"], now, before, after, closed)])
    return found


def quantile(q: float, how: str = "linear") -> oracle.Oracle:
    def one(values: Sequence[Any]) -> Any:
        line = sorted(oracle.present(values), key=oracle.order)
        if not line:
            return None
        place = q * (len(line) - 1)
        low = math.floor(place)
        high = min(low + (place > low), len(line) - 1)
        if how == "lower":
            return line[low]
        if how == "higher":
            return line[high]
        if how == "nearest":
            return line[round(place)]
        a, b = float(line[low]), float(line[high])
        if a == b:
            return a
        weight = 0.5 if how == "midpoint" else place - low
        if not math.isfinite(b - a):  # an infinity, or too far apart for a difference
            return a * (1 - weight) + b * weight
        return a + (b - a) * weight

    return one


def median(values: Sequence[Any]) -> float | None:
    found = oracle.present(values)
    if any(oracle.is_nan(v) or math.isinf(v) for v in found):
        return quantile(0.5)(values)  # type: ignore[no-any-return]
    return float(statistics.median(map(Fraction, found))) if found else None


def count_distinct(values: Sequence[Any]) -> int:
    nans = any(oracle.is_nan(v) for v in values)
    return len({v for v in oracle.present(values) if not oracle.is_nan(v)}) + nans


def mode(values: Sequence[Any]) -> Any:
    counts = Counter(oracle.present(values))
    most = max(counts.values(), default=0)
    return min((v for v, n in counts.items() if n == most), default=None)


def rank(ties: str, values: Sequence[Any], own: Any) -> float | None:
    if own is None:
        return None
    line = [oracle.order(v) for v in oracle.present(values)]
    below = sum(v < oracle.order(own) for v in line)
    upto = sum(v <= oracle.order(own) for v in line)
    return {"min": below + 1.0, "max": float(upto), "average": (below + 1 + upto) / 2}[ties]
