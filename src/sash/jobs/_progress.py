"""How a running stream is doing, from Spark's reports of its micro-batches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sash._dropped import DroppedRows

_DROPPED = ("late_rows", "rows_without_time", "rows_ahead")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Progress:
    """A micro-batch that has ended, and what there is so far."""

    batch: int
    at: float
    """When it ended, in seconds since 1970."""
    rows: int
    rows_total: int
    rows_per_second: float
    watermark: int | None
    """In microseconds since 1970."""
    latest: int | None
    """The latest time of a row so far."""
    windows: int
    """Results that came out so far, and of these, those that correct complete windows."""
    corrections: int
    late_rows: int
    """Rows that were dropped so far: too late, too far ahead, or without a time."""
    state_bytes: int
    running: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Return it as a plain dict."""
        return asdict(self)


class Tally:
    """Adds up the reports of one run."""

    def __init__(self) -> None:
        self._seen = -1
        self._totals = dict.fromkeys(("rows", "windows", "corrections", "late"), 0)
        self._latest: int | None = None
        self._dropped = DroppedRows()

    def take(self, reports: Iterable[Any]) -> list[Progress]:
        """Return what is new in Spark's latest reports."""
        new = [r for r in reports if r["batchId"] > self._seen and r["durationMs"].get("addBatch")]
        return [self._one(report) for report in new]

    def _one(self, report: Any) -> Progress:
        self._seen = report["batchId"]
        counts = report["observedMetrics"].get("sash")
        found = {} if counts is None else counts.asDict()
        rows = report["numInputRows"]
        self._totals["rows"] += rows
        self._totals["windows"] += found.get("windows") or 0
        self._totals["corrections"] += found.get("corrections") or 0
        times = report["eventTime"]
        self._note_dropped(rows, found, times)
        if times.get("max") is not None:
            self._latest = max(_micros(times["max"]), self._latest or 0)
        seconds = max(report["batchDuration"], 1) / 1000
        begun = datetime.fromisoformat(report["timestamp"].replace("Z", "+00:00"))
        return Progress(
            batch=report["batchId"],
            at=begun.timestamp() + seconds,
            rows=rows,
            rows_total=self._totals["rows"],
            rows_per_second=rows / seconds,
            watermark=_watermark(times),
            latest=self._latest,
            windows=self._totals["windows"],
            corrections=self._totals["corrections"],
            late_rows=self._totals["late"],
            state_bytes=sum(s["memoryUsedBytes"] for s in report["stateOperators"]),
        )

    def _note_dropped(self, rows: int, found: dict[str, Any], times: Any) -> None:
        late, timeless, ahead = (found.get(n) or 0 for n in _DROPPED)
        dropped = late + timeless + ahead
        self._totals["late"] += dropped
        why = f"{late:,} too late (the watermark is {times.get('watermark')}), {ahead:,} too far "
        why += f"ahead, {timeless:,} without a time"
        self._dropped.note(rows, dropped, self._totals["late"], why, bounded=late == 0)


def _watermark(times: Any) -> int | None:
    """Return the watermark; Spark says 1970 where there is none yet."""
    found = _micros(times.get("watermark") or "1970-01-01T00:00:00Z")
    return found if found > 0 else None


def _micros(text: str) -> int:
    """Return one of Spark's times, which end in Z, in microseconds since 1970."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00")) - _EPOCH
    return (moment.days * 86_400 + moment.seconds) * 1_000_000 + moment.microseconds
