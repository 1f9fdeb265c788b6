"""What the stream said in the end, compared with the batch answer, and what the report shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from sash import spark as sps
from sash.jobs import Job, Progress

_WINDOW = ["carrier", "window", "window_start", "window_end"]
_VALUES = ["flights", "mean_delay", "worst_delay"]


@dataclass(frozen=True)
class Answers:
    """The final answer of the stream, and how it came about."""

    windows: pa.Table
    """Complete windows, with the values they ended with."""
    corrections: pa.Table
    """Windows that were told again after they had been complete: what was said then."""
    first_said: pa.Table
    """Of these windows, what was said when they were complete."""
    compared: int
    different: int
    late_rows: int

    @property
    def equal(self) -> bool:
        """Whether the stream ended with the batch answer."""
        return self.different == 0 and self.compared > 0


def answers_of(job: Job, session: Any, last: Progress) -> Answers:
    """Read what the stream wrote, and compute the batch answer from the same rows."""
    assert last.watermark is not None
    until = datetime.fromtimestamp(last.watermark / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S")
    said = session.read.parquet(job.place("windows"))
    final = _final(said).where(f"window_end < timestamp '{until}Z'").persist()
    late = _late_rows(job, session)
    batch = _batch_answer(job, session, late).where(f"window_end < timestamp '{until}Z'")
    compared, different = _compared(final, batch)
    corrected = said.where("change = 'correction'")
    places = corrected.select(*_WINDOW).distinct()
    first = said.where("change = 'complete'").join(places, _WINDOW)
    return Answers(
        windows=final.toArrow(),
        corrections=corrected.toArrow(),
        first_said=first.toArrow(),
        compared=compared,
        different=different,
        late_rows=0 if late is None else late.count(),
    )


def _final(said: Any) -> Any:
    """Return the last that was said of each window; withdrawn ones are no more."""
    said.createOrReplaceTempView("said")
    window, values = ", ".join(_WINDOW), ", ".join(_VALUES)
    return said.sparkSession.sql(f"""
        select {window}, last.* except (change) from (
            select {window},  -- a withdrawal has the revision of what it withdraws
                max_by(struct({values}, change), struct(revision, change = 'withdrawn')) as last
            from said group by {window})
        where last.change <> 'withdrawn'
    """)


def _late_rows(job: Job, session: Any) -> Any:
    path = job.place("late")
    return session.read.parquet(path).drop("batch") if Path(path).exists() else None


def _batch_answer(job: Job, session: Any, late: Any) -> Any:
    """Return the windows of all rows but those that were too late, by a batch query."""
    rows = session.read.parquet(job.place("landings"))
    if late is not None:
        rows = rows.exceptAll(late.select(rows.columns))
    return sps.windows(rows, on="departed", by="carrier", windows=job.windows, aggs=job.aggregates)


def _compared(final: Any, batch: Any) -> tuple[int, int]:
    """Return how many windows there are, and how many of them are not the same in both."""
    a, b = final.alias("a"), batch.alias("b")
    same = " and ".join(f"a.{n} <=> b.{n}" for n in [*_WINDOW, *_VALUES])
    both = a.join(b, _WINDOW, "full_outer").selectExpr(
        "count(*) as windows", f"count_if(not ({same})) as different"
    )
    found = both.first()
    return found.windows, found.different
