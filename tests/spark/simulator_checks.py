"""What must hold of all that a simulated query has emitted."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import simulator_plans as plans
from operator_oracle import Downstream, Model
from operator_oracle import Row as ModelRow
from simulator_plans import Plan, Query, Row

RETRACTIONS = ("withdrawn", "retract")


class Value(int):
    """A row's ``x``, which cuts windows, with the ``v`` that is aggregated."""

    v: int | None

    @classmethod
    def of(cls, row: Row) -> Value:
        value = cls(row.x)
        value.v = row.v
        return value


def check(plan: Plan, log: Any, wanted: Any) -> None:
    """Raise unless a log is that of the run without faults, and means what it should."""
    assert log.watermarks == wanted.watermarks
    for number, (batch, without) in enumerate(zip(log.batches, wanted.batches, strict=True)):
        found, rows = _listed(batch), _listed(without)
        assert found == rows, (
            f"batch {number} emits other rows than without faults: {found - rows} instead of "
            f"{rows - found}"
        )
        counts = [emitted.totals for emitted in batch.values()]
        taken = sum(c["rows"] + c["late_rows"] + c["rows_without_time"] for c in counts)
        assert taken == len(plan.batches[number].rows), f"batch {number} counts {taken} rows"
        assert log.open[number] == wanted.open[number], (
            f"after batch {number} the state has the windows {log.open[number]}, not "
            f"{wanted.open[number]}"
        )
    tables = [t for batch in log.batches for emitted in batch.values() for t in emitted.rows]
    if plan.query.rolling:
        _check_rolling(plan, log.watermarks, tables)
    else:
        _check_windows(plan, log.watermarks, tables)


def _listed(batch: dict[int, Any]) -> Counter[str]:
    return Counter(row for emitted in batch.values() for row in emitted.listed)


def _accepted(plan: Plan, watermarks: list[int]) -> tuple[Model, list[int]]:
    """Return the accepted rows, and the numbers of those that are not."""
    query = plan.query

    def fold(values: list[Value]) -> tuple[Any, ...]:
        return query.fold([value.v for value in values])

    model = Model(fold, [(w, None) for w in query.made], query.lateness)
    dropped: list[int] = []
    for batch, watermark in zip(plan.batches, watermarks, strict=True):
        if watermark > 0:
            model.advance(watermark * 1000)
        for row in sorted(batch.rows, key=lambda r: r.part):  # as they are packed
            late = len(model.late)
            if row.t is not None:
                model.process([ModelRow(row.k if query.by else None, row.t, Value.of(row))])
            if row.t is None or len(model.late) > late:
                dropped.append(row.n)
    return model, dropped


def _times_as_numbers(table: pa.Table) -> pa.Table:
    for i, f in enumerate(table.schema):
        if pa.types.is_timestamp(f.type):
            table = table.set_column(i, f.name, table.column(i).cast(pa.int64()))
    return table


def _split(tables: list[pa.Table]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return results and late rows, in the order they were emitted in."""
    rows = [row for table in tables for row in _times_as_numbers(table).to_pylist()]
    late = [row for row in rows if row["change"] == "late"]
    return [row for row in rows if row["change"] != "late"], late


def _check_windows(plan: Plan, watermarks: list[int], tables: list[pa.Table]) -> None:
    query = plan.query
    rows, late = _split(tables)
    model, dropped = _accepted(plan, watermarks)
    if query.late_rows:
        found = sorted(row["late_row"]["n"] for row in late)
        assert found == sorted(dropped), f"late rows are {found}, not {sorted(dropped)}"
    places = [(_place(query, r), r["revision"], r["change"] in RETRACTIONS) for r in rows]
    checked = [p for p in places if _one_window(query, p[0][1])]
    _check_revisions(checked)
    downstream = Downstream(query.emit)
    key = "k" if query.by else None
    outputs = [a.output for a in query.aggs]
    told = pa.Table.from_pylist(rows) if rows else pa.table({})
    downstream.read(told, outputs, key, query.by_rows)
    expected = model.told(early=query.emit == "updates")
    _compare(downstream.values(), expected)


def _place(query: Query, row: dict[str, Any]) -> tuple[Any, ...]:
    return row["k"] if query.by else None, row["window"], row["window_start"], row["window_end"]


def _one_window(query: Query, window: str) -> bool:
    """Whether a place is one window: two windows by rows may begin and end at the same times."""
    if window not in query.by_rows:
        return True
    return query.unique and not plans.ALLOW_REPEATED_REVISIONS


def _check_revisions(rows: list[tuple[tuple[Any, ...], int, bool]]) -> None:
    """Raise unless the revisions of each window rise, retractions aside, over the whole log."""
    last: dict[tuple[Any, ...], int] = {}
    for place, revision, retraction in rows:
        before = last.get(place, -1)
        if retraction:
            assert revision == before, f"{place} has revision {before}, {revision} is retracted"
        else:
            assert revision > before, f"{place} has revision {revision} after {before}"
        last[place] = revision


def _compare(found: dict[Any, list[Any]], expected: dict[Any, list[Any]]) -> None:
    for place in {**found, **expected}:
        said, wanted = (sorted(map(str, d.get(place, []))) for d in (found, expected))
        assert said == wanted, f"{place} is {said} in the end, and {wanted} by brute force"


def _check_rolling(plan: Plan, watermarks: list[int], tables: list[pa.Table]) -> None:
    query = plan.query
    rows, late = _split(tables)
    model, dropped = _accepted(plan, watermarks)
    if query.late_rows:
        found = sorted(row["n"] for row in late)
        assert found == sorted(dropped), f"late rows are {found}, not {sorted(dropped)}"
    _check_revisions([((row["n"],), row["revision"], False) for row in rows])
    last = {row["n"]: row for row in rows}
    values = model.told()
    accepted = [r for b in plan.batches for r in b.rows if r.n not in dropped and r.t is not None]
    emitted = {r.n for r in accepted if r.t is not None and r.t < watermarks[-1] * 1000}
    assert set(last) == emitted, f"emitted the rows {sorted(last)}, not {sorted(emitted)}"
    (window,) = query.made
    for row in accepted:
        if row.n not in emitted:
            continue
        place = (row.k if query.by else None, window.name, row.t - window.size, row.t)
        (wanted,) = values[place]
        found_values = tuple(last[row.n][a.output] for a in query.aggs)
        assert found_values == wanted, f"row {row.n} has {found_values}, not {wanted}"
