"""What a query has done, counted by its workers."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from sash.spark._frames import Frame


class _Nowhere:
    """Counts nothing."""

    def add(self, _: int) -> None:
        """Do nothing."""


@dataclass
class Counters:
    """Where workers count: accumulators, or nowhere."""

    rows: Any = field(default_factory=_Nowhere)
    copies: Any = field(default_factory=_Nowhere)
    keys: Any = field(default_factory=_Nowhere)
    slices: Any = field(default_factory=_Nowhere)
    windows: Any = field(default_factory=_Nowhere)


class Metrics:
    """Counts of what a query has done so far; give it as ``metrics=`` and look after an action.

    Workers count with accumulators, so a task that Spark runs twice counts twice, and a query that
    runs twice counts on. Spark Connect has no accumulators.

    ``rows`` were aggregated, of ``keys`` keys (of keys and ranges of time where a key was split;
    ``copies`` is then how many rows two ranges needed). For windows, ``slices`` travelled between
    workers, and ``windows`` came out.
    """

    def __init__(self) -> None:
        self._counters: Counters | None = None

    def bind(self, frame: Frame) -> Counters:
        """Make the accumulators."""
        if not frame.classic:
            raise ValueError(
                "metrics= needs accumulators, which Spark Connect does not have: leave it out, or "
                "count with DataFrame.observe"
            )
        if self._counters is None:
            context = frame.df.sparkSession.sparkContext
            self._counters = Counters(*(context.accumulator(0) for _ in fields(Counters)))
        return self._counters

    def _value(self, name: str) -> int:
        return 0 if self._counters is None else int(getattr(self._counters, name).value)

    @property
    def rows(self) -> int:
        """The rows that were aggregated."""
        return self._value("rows")

    @property
    def copies(self) -> int:
        """The rows that were sent to a second range of time."""
        return self._value("copies")

    @property
    def keys(self) -> int:
        """The keys, counted once in each range of time."""
        return self._value("keys")

    @property
    def slices(self) -> int:
        """The slices that travelled between workers."""
        return self._value("slices")

    @property
    def windows(self) -> int:
        """The windows that came out."""
        return self._value("windows")

    def __repr__(self) -> str:
        counts = ", ".join(f"{f.name}={self._value(f.name)}" for f in fields(Counters))
        return f"Metrics({counts})"


def counters_of(metrics: Any, frame: Frame) -> Counters:
    """Return where to count."""
    if metrics is None:
        return Counters()
    if not isinstance(metrics, Metrics):
        raise TypeError(f"metrics must be a sash.spark.Metrics(), not {metrics!r}")
    return metrics.bind(frame)
