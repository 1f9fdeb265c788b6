"""Rolling aggregates of a stream, without Spark: rows end with what `sash.rolling` says."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from store import Store, Workers

import sash
from sash import agg
from sash._ipc import to_bytes
from sash.spark import _shard_log
from sash.spark._keep_rolling import RollingKeeper, RollingQuery
from sash.spark._keep_windows import WindowKeeper
from sash.spark._metrics import Counters
from sash.spark._shard_log import CheckpointError
from sash.spark._shards import Shards

TYPES = {"t": pa.timestamp("us", "UTC"), "k": pa.float64(), "x": pa.int64()}
ROW_TYPES = {**TYPES, "tags": pa.list_(pa.string()), "n": pa.int64()}
JOIN = sash.monoid(lambda a, b: a + b, lift=str, name="join", column="x", returns=str)
AGGS = [agg.sum("x"), agg.count(), agg.last("x"), JOIN]
ROW = st.tuples(
    st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.5, float("nan")])),
    st.integers(0, 80).map(lambda half: half * 500),
    st.one_of(st.none(), st.integers(0, 9)),
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_shard_log, "LEAST_BASE", 6000)
    monkeypatch.setattr(_shard_log, "LEAST_WEIGHT", 500)


def shards_for(keyed: bool, aggs: list[sash.Aggregate]) -> Shards:
    by = ["k"] if keyed else []
    arguments = {
        "on": "t", "by": by, "windows": [sash.windows.rolling("9ms")], "aggs": aggs,
        "lateness": "6ms", "emit": "complete",
    }  # fmt: skip
    outputs = [a.output for a in aggs]
    types = TYPES if keyed else {n: kind for n, kind in TYPES.items() if n != "k"}
    query = RollingQuery(arguments, types, by, Counters(), list(ROW_TYPES), ROW_TYPES, outputs)
    told = WindowKeeper(query).advance(-1).schema
    added = [told.field(n) for n in (*outputs, "revision", "change")]
    result = pa.schema([*ROW_TYPES.items(), *added])
    return Shards(RollingKeeper, query, "plan", 2, {"rows": True}, result, "row")


def table_of(rows: list[tuple[Any, int, Any]], number: int) -> pa.Table:
    k, t, x = zip(*rows, strict=True) if rows else ((), (), ())
    values = {
        "t": t, "k": k, "x": x, "tags": [["a"]] * len(t), "n": range(number, number + len(t)),
    }  # fmt: skip
    return pa.table({n: pa.array(values[n], kind) for n, kind in ROW_TYPES.items()})


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("aggs", [AGGS, [agg.max("x")], [JOIN]], ids=["many", "max", "own"])
@settings(max_examples=examples(60))
@given(data=st.data())
def test_equals_rolling_of_the_accepted_rows(
    keyed: bool, aggs: list[sash.Aggregate], data: st.DataObject
) -> None:
    store = Store()
    workers = Workers(shards_for(keyed, aggs), store)
    watermark, number = 0, 0
    every: list[pa.Table] = []
    last: dict[int, dict[str, Any]] = {}
    for _ in range(data.draw(st.integers(1, 6), "batches")):
        table = table_of(data.draw(st.lists(ROW, max_size=12), "rows"), number)
        number += table.num_rows
        every.append(table)
        places = [0 if not keyed or k == k else 1 for k in table["k"].to_pylist()]
        cells = {
            s: [to_bytes(table.filter(pa.array([p == s for p in places], pa.bool_())))]
            for s in set(places)
        }
        while True:
            pick = data.draw(st.integers(0, 2), "worker")
            found, _ = workers.batch(cells, watermark, lambda s, p=pick: (s + p) % 2)
            if not data.draw(st.booleans(), "fails"):
                break
            store.roll_back()
        store.commit()
        note(last, found)
        times = table["t"].cast(pa.int64()).to_pylist()
        watermark = max([watermark, *(t // 1000 - 5 for t in times)])
    note(last, workers.batch({}, 1000, lambda s: 0)[0])
    rows = pa.concat_tables(every)
    late = [n for n, row in last.items() if row["change"] == "late"]
    accepted = rows.filter(pa.array([n not in late for n in rows["n"].to_pylist()], pa.bool_()))
    wanted = sash.rolling(
        accepted, on="t", by="k" if keyed else None, window="9ms", aggs=aggs
    ).to_pylist()
    told = [n for n, row in last.items() if row["change"] != "late"]
    assert sorted(told) == accepted["n"].to_pylist()
    for row in wanted:
        assert {n: str(last[row["n"]][n]) for n in row} == {n: str(v) for n, v in row.items()}


def test_other_columns_are_refused() -> None:
    store = Store()
    workers = Workers(shards_for(True, AGGS), store)
    cells = {0: [to_bytes(table_of([(1.5, 1000, 1)], 0))]}
    workers.batch(cells, 0, lambda s: 0)
    store.commit()
    changed = shards_for(True, AGGS)
    changed.query.row_types = {**ROW_TYPES, "n": pa.string()}
    with pytest.raises(CheckpointError, match="another query: its rows have the columns"):
        Workers(changed, store).batch({0: []}, 0, lambda s: 1)


def note(last: dict[int, dict[str, Any]], tables: list[pa.Table]) -> None:
    """Keep the last that was said of each row."""
    for table in tables:
        for row in table.to_pylist():
            before = last.get(row["n"])
            if row["change"] == "late":
                assert before is None
            elif before is not None:
                assert (row["revision"], row["change"]) == (before["revision"] + 1, "correction")
            else:  # it may come late to a moment that was told
                assert (row["revision"] == 0) == (row["change"] == "complete")
            last[row["n"]] = row
