"""What must hold of all that a simulated query has emitted, after every micro-batch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from operator_oracle import Downstream, Model
from operator_oracle import Row as ModelRow
from simulator_plans import EARLIEST, Plan, Query, Row

RETRACTIONS = ("withdrawn", "retract")
CORRECTIONS = ("correction", "retract")
Place = tuple[Any, ...]


class Value(int):
    """A row's ``x``, which cuts windows, with the ``v`` that is aggregated."""

    v: int | None

    @classmethod
    def of(cls, row: Row) -> Value:
        value = cls(row.x)
        value.v = row.v
        return value


@dataclass
class Expected:
    """What brute force says after a micro-batch."""

    watermark: int
    values: dict[Any, list[Any]]
    """Of every window that was to be emitted by then."""
    dropped: list[int]
    """Rows of the micro-batch beyond the allowed lateness, or without a timestamp."""
    accepted: list[Row]
    """All rows so far but those that were dropped."""


def expected_of(plan: Plan) -> list[Expected]:
    """Return what brute force says, by micro-batch."""
    query = plan.query

    def fold(values: list[Value]) -> tuple[Any, ...]:
        return query.fold([value.v for value in values])

    model = Model(fold, [(w, None) for w in query.made], query.lateness)
    watermark, found, accepted = 0, [], []
    for batch in plan.batches:
        if watermark > 0:
            model.advance(watermark * 1000)
        dropped = []
        for row in sorted(batch.rows, key=lambda r: r.part):  # as they are packed
            late = len(model.late)
            if row.t is not None:
                model.process([ModelRow(row.k if query.by else None, row.t, Value.of(row))])
            if row.t is None or len(model.late) > late:
                dropped.append(row.n)
            else:
                accepted.append(row)
        values = model.told(early=query.emit == "updates")
        found.append(Expected(watermark, values, dropped, accepted[:]))
        watermark = batch.watermark(watermark, query.delay)
    return found


class Reader:
    """Reads a query's log, micro-batch by micro-batch; raises as soon as a row is wrong."""

    def __init__(self, plan: Plan, expected: list[Expected]) -> None:
        self._plan, self._query, self._expected = plan, plan.query, expected
        self._downstream = Downstream(self._query.emit)
        self._revisions = Revisions(self._query)
        self._rows: dict[int, dict[str, Any]] = {}

    def read(self, number: int, emitted: list[Any], watermark: int) -> None:
        """Take what the shards have emitted in a micro-batch."""
        expected = self._expected[number]
        assert watermark == expected.watermark
        tables = [table for one in emitted for table in one.rows]
        rows = [row for table in tables for row in times_as_numbers(table).to_pylist()]
        late = [row for row in rows if row["change"] == "late"]
        rows = [row for row in rows if row["change"] != "late"]
        self._check_counts(number, emitted, rows, expected)
        if self._query.late_rows:
            struct = not self._query.rolling
            found = sorted((row["late_row"] if struct else row)["n"] for row in late)
            wanted = sorted(expected.dropped)
            assert found == wanted, f"batch {number} drops the rows {found}, not {wanted}"
        if self._query.rolling:
            self._read_rows(number, rows, expected)
        else:
            self._read_windows(number, rows, expected)

    def _check_counts(
        self, number: int, emitted: list[Any], rows: list[dict[str, Any]], expected: Expected
    ) -> None:
        totals = Counter[str]()
        for one in emitted:
            totals.update(one.totals)
        dropped = totals["late_rows"] + totals["rows_without_time"]
        found = totals["rows"], dropped, totals["windows"], totals["corrections"]
        wanted = (
            len(self._plan.batches[number].rows) - len(expected.dropped), len(expected.dropped),
            len(rows), sum(row["change"] in CORRECTIONS for row in rows),
        )  # fmt: skip
        assert found == wanted, (
            f"batch {number} counts {found} rows, dropped ones, windows and corrections, not "
            f"{wanted}"
        )

    def _read_windows(self, number: int, rows: list[dict[str, Any]], expected: Expected) -> None:
        query = self._query
        for row in rows:
            key = row["k"] if query.by else None
            place = key, row["window"], row["window_start"], row["window_end"]
            self._revisions.read(place, row["revision"], row["change"] in RETRACTIONS)
        if rows:
            outputs = [a.output for a in query.aggs]
            key = "k" if query.by else None
            self._downstream.read(pa.Table.from_pylist(rows), outputs, key, query.by_rows)
        _compare(number, self._downstream.values(), expected.values)

    def _read_rows(self, number: int, rows: list[dict[str, Any]], expected: Expected) -> None:
        for row in rows:
            self._revisions.read((row["n"],), row["revision"], False)
            self._rows[row["n"]] = row
        until = expected.watermark * 1000 if expected.watermark > 0 else EARLIEST
        due = [row for row in expected.accepted if row.t is not None and row.t < until]
        emitted = {row.n for row in due}
        found = set(self._rows)
        assert found == emitted, (
            f"batch {number}: the rows {sorted(found - emitted)} are emitted and should not be; "
            f"{sorted(emitted - found)} are missing"
        )
        (window,) = self._query.made
        for row in due:
            assert row.t is not None
            place = (row.k if self._query.by else None, window.name, row.t - window.size, row.t)
            (wanted,) = expected.values[place]
            values = tuple(self._rows[row.n][a.output] for a in self._query.aggs)
            assert values == wanted, f"batch {number}: row {row.n} has {values}, not {wanted}"


class Revisions:
    """The revisions of each place, (key, window, start, end), over the whole log: they rise."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._highest: dict[Place, int] = {}
        self._active: dict[Place, set[int]] = {}

    def read(self, place: Place, revision: int, retraction: bool) -> None:
        """Take the next row of the log."""
        by_rows = len(place) > 1 and place[1] in self._query.by_rows
        highest = self._highest.get(place, -1)
        active = self._active.setdefault(place, set())
        if retraction:
            assert revision in active, f"{place}: revision {revision} is retracted, not in {active}"
            active.discard(revision)
            return
        assert revision > highest, f"{place} has revision {revision} after {highest}"
        if not by_rows or self._query.unique:  # else two windows may begin and end at these times
            active.clear()
        self._highest[place] = revision
        active.add(revision)


def compare_runs(number: int, found: Any, wanted: Any) -> None:
    """Raise unless a micro-batch of a log is that of the run without faults."""
    rows, without = (_listed(log.batches[number]) for log in (found, wanted))
    assert rows == without, (
        f"batch {number} emits other rows than without faults: {dict(rows - without)} instead of "
        f"{dict(without - rows)}"
    )
    here, there = (Counter(log.contents[number]) for log in (found, wanted))
    assert here == there, (
        f"after batch {number} the state has {dict(here - there)} in it instead of "
        f"{dict(there - here)}"
    )


def _listed(batch: dict[int, Any]) -> Counter[str]:
    return Counter(row for emitted in batch.values() for row in emitted.listed)


def times_as_numbers(table: pa.Table) -> pa.Table:
    for i, f in enumerate(table.schema):
        if pa.types.is_timestamp(f.type):
            table = table.set_column(i, f.name, table.column(i).cast(pa.int64()))
    return table


def _compare(number: int, found: dict[Any, list[Any]], expected: dict[Any, list[Any]]) -> None:
    for place in {**found, **expected}:
        values, wanted = (sorted(map(str, d.get(place, []))) for d in (found, expected))
        assert values == wanted, (
            f"after batch {number}, {place} is {values}, and {wanted} by brute force"
        )
