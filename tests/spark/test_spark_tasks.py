"""What workers do, without Spark: sorted batches in, the answer of one local call out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import agg
from sash.spark import _rolling_task, _windows_task
from sash.spark._frames import CELL
from sash.spark._metrics import Counters
from sash.spark._ranges import Ranges
from sash.spark._rolling_task import RollingTask
from sash.spark._windows_task import Assemble, Fold, Query

JOIN = sash.monoid(lambda a, b: a + b, lift=str, name="join", column="x", returns=str)
AGGS = [agg.count(), agg.sum("x"), agg.max("x"), agg.median("x"), agg.last("x"), JOIN]
ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 2)),
        st.integers(-30, 30),
        st.one_of(st.none(), st.integers(-5, 5)),
    ),
    max_size=40,
)


def table_of(rows: list[tuple[Any, int, Any]]) -> pa.Table:
    k, t, x = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "k": pa.array(k, pa.int64()),
            "t": pa.array(t, pa.int64()),
            "x": pa.array(x, pa.int64()),
            "n": pa.array(range(len(rows)), pa.int64()),
        }
    )


def batches(table: pa.Table, size: int) -> list[pa.RecordBatch]:
    return table.combine_chunks().to_batches(max_chunksize=size)


def together(out: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_batches(out, schema)


def by_number(table: pa.Table) -> list[dict[str, Any]]:
    return sorted(table.to_pylist(), key=lambda row: row["n"])


def in_ranges(table: pa.Table, ranges: Ranges) -> pa.Table:
    """The rows and copies that Spark would send, each with its time moved on."""
    sent = []
    for i, t in enumerate(table["t"].to_pylist()):
        own, rest = divmod(t, ranges.width)
        cells = [own]
        cells += [own + 1] if ranges.before and rest >= ranges.width - ranges.before else []
        cells += [own - 1] if ranges.after and rest < ranges.after else []
        sent += [(i, t + cell * (ranges.before + ranges.after)) for cell in cells]
    taken = table.take(pa.array([i for i, _ in sent], pa.int64()))
    return taken.set_column(1, "t", pa.array([m for _, m in sent], pa.int64()))


@pytest.fixture(autouse=True)
def small_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rolling_task, "STRETCH", 3)
    monkeypatch.setattr(_windows_task, "STRETCH", 3)


WINDOWS: list[dict[str, Any]] = [
    {"window": 7},
    {"window": (5, 3)},
    {"window": (0, 4)},
    {"window": {"short": 2, "long": (9, 1)}},
    {"rows": 3},
    {"rows": (2, 2)},
    {"rows": [2, 4], "window": 6},
    {"window": 6, "center": True},
]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@given(
    rows=ROWS,
    size=st.integers(1, 9),
    closed=st.sampled_from(["right", "left", "both", "neither"]),
    split=st.booleans(),
    least=st.integers(0, 3),
)
def test_a_partition_gives_what_one_local_call_gives(
    window: dict[str, Any],
    rows: list[tuple[Any, int, Any]],
    size: int,
    closed: str,
    split: bool,
    least: int,
) -> None:
    table = table_of(rows)
    arguments: dict[str, Any] = {
        "aggs": AGGS, "on": "t", "window": None, "rows": None, "closed": closed,
        "min_rows": least, "center": False, "order": "event", "every": None, "offset": None,
        **window,
    }  # fmt: skip
    local = sash.rolling(table, by="k", **arguments)
    call = sash._rolling.Call(table.slice(0, 0), by=["k"], **arguments)
    ranges = None
    if split and "rows" not in window:
        before, after = (max(getattr(w, p) for w in call.windows) for p in ("before", "after"))
        ranges = Ranges.reaching("t", pa.int64(), before, after, before + after + 4)
        assert ranges is not None
    sent = table if ranges is None else in_ranges(table, ranges)
    order = [("k", "ascending"), ("t", "ascending"), ("n", "ascending")]
    by = ["k"] if ranges is None else ["k", CELL]
    added = pa.schema([f for f in local.schema if f.name not in table.column_names])
    task = RollingTask({**arguments, "by": by}, pa.int64(), added, ranges, Counters())
    out = list(task(batches(sent.sort_by(order), size)))
    assert by_number(together(out, local.schema)) == by_number(local)


@given(
    rows=ROWS,
    size=st.integers(1, 9),
    step=st.integers(1, 9),
    length=st.integers(1, 12),
    closed=st.sampled_from(["right", "left", "both", "neither"]),
    split=st.booleans(),
)
def test_steps_are_those_of_one_local_call(
    rows: list[tuple[Any, int, Any]], size: int, step: int, length: int, closed: str, split: bool
) -> None:
    table = table_of(rows)
    arguments: dict[str, Any] = {
        "aggs": AGGS, "on": "t", "window": length, "rows": None, "closed": closed, "min_rows": 0,
        "center": False, "order": "event", "every": step, "offset": 2,
    }  # fmt: skip
    local = sash.rolling(table, by="k", **arguments)
    ranges = Ranges.reaching("t", pa.int64(), length, 0, length + 4) if split else None
    sent = table if ranges is None else in_ranges(table, ranges)
    order = [("k", "ascending"), ("t", "ascending"), ("n", "ascending")]
    by = ["k"] if ranges is None else ["k", CELL]
    task = RollingTask({**arguments, "by": by}, pa.int64(), local.schema, ranges, Counters())
    out = together(list(task(batches(sent.sort_by(order), size))), local.schema)

    def lines(found: pa.Table) -> list[dict[str, Any]]:
        return sorted(found.to_pylist(), key=lambda r: (r["k"] is None, r["k"], r["window_start"]))

    assert lines(out) == lines(local)


SETS: list[list[Any]] = [
    [sash.tumbling(5)],
    [sash.sliding(7, 3, offset=1), sash.tumbling(10)],
    [sash.session(2)],
    [sash.session(4), sash.session(2), sash.tumbling(6)],
    [sash.windows.calendar(lambda a, b: (range(a // 9 * 9 - 9, b + 9, 9),
                                         range(a // 9 * 9, b + 18, 9)))],
    [sash.tumbling(rows=3), sash.tumbling(4)],
    [sash.windows.rolling(5)],
]  # fmt: skip
FOLDED = [agg.count(), agg.sum("x"), agg.max("x"), agg.hll("x"), agg.topk(2, "x")]
UNION = sash.monoid(lambda a, b: a | b, lift=lambda v: frozenset([v]), lower=sorted, name="union",
                    column="x", commutative=True, returns=pa.list_(pa.int64()))  # fmt: skip


@pytest.mark.parametrize("windows", SETS, ids=lambda ws: "+".join(w.name for w in ws))
@pytest.mark.parametrize("aggs", [FOLDED, [UNION, agg.count()]], ids=["native", "python"])
@pytest.mark.parametrize("keyed", [True, False], ids=["keys", "one"])
@given(
    rows=ROWS,
    size=st.integers(1, 9),
    parts=st.integers(1, 4),
    seed=st.integers(0, 99),
    flush=st.booleans(),
)
def test_windows_of_folded_rows_are_those_of_one_operator(
    windows: list[Any],
    aggs: list[Any],
    keyed: bool,
    rows: list[tuple[Any, int, Any]],
    size: int,
    parts: int,
    seed: int,
    flush: bool,
) -> None:
    table = table_of(rows)
    by = ["k"] if keyed else []
    known = table.set_column(0, "k", table["k"].fill_null(-1))
    op = sash.WindowOperator(on="t", by=by, windows=windows, aggs=aggs)
    op.process(known)
    told = op.finish().drop_columns(["revision", "change"])

    arguments = {"on": "t", "by": by, "windows": windows, "aggs": aggs}
    types = {f.name: f.type for f in table.schema if f.name != "n"}
    query = Query(arguments, types, by, Counters())
    from_slices = not any(w.by_rows or w.kind == "rolling" for w in windows)
    sent = table
    if from_slices:
        lot = np.random.default_rng(seed).integers(0, parts, table.num_rows)
        folded = []
        with pytest.MonkeyPatch.context() as patch:
            if flush:
                patch.setattr(_windows_task, "FOLD_BYTES", 0)
            for part in range(parts):
                folded += list(Fold(query)(batches(table.filter(pa.array(lot == part)), size)))
        if not folded:
            assert told.num_rows == 0
            return
        sent = pa.Table.from_batches(folded)
    order = [*query.keys, "__sash_first"] if from_slices else [*by, "t", "n"]
    sent = sent.sort_by([(name, "ascending") for name in order])
    out = list(Assemble(query, from_slices, told.schema)(batches(sent, size)))
    found = together(out, told.schema)
    if keyed:
        found = found.set_column(0, "k", found["k"].fill_null(-1))

    def lines(result: pa.Table) -> list[Any]:
        order = [*by, "window", "window_start", "window_end"]
        return sorted(result.to_pylist(), key=lambda r: [r[c] for c in order])

    assert lines(found) == lines(told)
