"""Shards without Spark: random micro-batches, workers that come and go, attempts that fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from store import Store, Workers

import sash
from sash import agg
from sash._ipc import from_bytes, to_bytes
from sash.spark import _shard_log, _shards
from sash.spark._keep_windows import WindowKeeper
from sash.spark._metrics import Counters
from sash.spark._pack import SHARD, Pack, labels_of, murmur3
from sash.spark._shard_log import CheckpointError
from sash.spark._shards import Shards
from sash.spark._windows_task import Query

TYPES = {"t": pa.timestamp("us", "UTC"), "k": pa.string(), "x": pa.int64()}
JOIN = sash.monoid(lambda a, b: a + b, lift=str, name="join", column="x", returns=str)
WINDOWS = {
    "fixed": [sash.tumbling("3ms"), sash.sliding("10ms", "2ms")],
    "sessions": [sash.session("2ms"), sash.tumbling("5ms")],
    "rows": [sash.tumbling(rows=3), sash.sliding(rows=4, slide=2), sash.session("1ms")],
    "rolling": [sash.windows.rolling("4ms"), sash.tumbling("5ms")],
}
ROW = st.tuples(
    st.one_of(st.none(), st.sampled_from("abcd")),
    st.one_of(st.none(), st.integers(0, 60_000)),
    st.one_of(st.none(), st.integers(0, 9)),
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots are made anew soon, in several pieces."""
    monkeypatch.setattr(_shard_log, "LEAST_BASE", 4000)
    monkeypatch.setattr(_shard_log, "LEAST_WEIGHT", 500)
    monkeypatch.setattr(_shard_log, "PIECE", 1000)


def query_of(**arguments: Any) -> Query:
    given: dict[str, Any] = {
        "on": "t", "by": ["k"], "windows": WINDOWS["fixed"], "aggs": [agg.sum("x"), agg.count()],
        "lateness": "5ms", "emit": "complete",
    }  # fmt: skip
    return Query({**given, **arguments}, TYPES, ["k"], Counters(), list(TYPES))


def shards_for(query: Query, **others: Any) -> Shards:
    result = WindowKeeper(query).advance(-1).schema
    late = pa.field("late_row", pa.struct(list(TYPES.items())))
    given: dict[str, Any] = {
        "keeper": WindowKeeper, "query": query, "token": "plan", "shards": 3, "about": {},
        "result": result.append(late), "late": "struct",
    }  # fmt: skip
    return Shards(**{**given, **others})


def table_of(rows: list[tuple[Any, Any, Any]]) -> pa.Table:
    k, t, x = zip(*rows, strict=True) if rows else ((), (), ())
    values = {"t": t, "k": k, "x": x}
    return pa.table({n: pa.array(values[n], kind) for n, kind in TYPES.items()})


def cells_of(table: pa.Table) -> dict[int, list[bytes]]:
    """Rows by shard, in their order."""
    places = [0 if k is None else ord(k) % 3 for k in table["k"].to_pylist()]
    found: dict[int, list[bytes]] = {}
    for shard in sorted(set(places)):
        rows = table.take(pa.array([i for i, p in enumerate(places) if p == shard], pa.int64()))
        found[shard] = [to_bytes(rows[:2]), to_bytes(rows[2:])]
    return found


def listed(tables: list[pa.Table]) -> list[str]:
    return sorted(str(row) for table in tables for row in table.to_pylist())


class Undisturbed:
    """One operator that gets all the rows."""

    def __init__(self, query: Query) -> None:
        self._keeper = WindowKeeper(query)

    def batch(self, table: pa.Table, watermark: int) -> list[str]:
        told = [self._keeper.advance(watermark * 1000)] if watermark > 0 else []
        times = table["t"].combine_chunks()
        told.append(self._keeper.process(table.filter(times.is_valid())))
        late = [*self._keeper.take_late(), table.filter(times.is_null())]
        rows = [row | {"late_row": None} for t in told for row in t.to_pylist()]
        nothing = dict.fromkeys([*told[-1].column_names, "late_row"])
        rows += [
            nothing | {"change": "late", "late_row": row} for t in late for row in t.to_pylist()
        ]
        return sorted(map(str, rows))


@pytest.mark.parametrize("kind", WINDOWS)
@pytest.mark.parametrize("monoid", ["native", "python"])
@settings(max_examples=examples(25))
@given(data=st.data())
def test_equals_one_operator_whatever_happens(kind: str, monoid: str, data: st.DataObject) -> None:
    aggs = [agg.sum("x"), agg.max("x")] if monoid == "native" else [JOIN, agg.count()]
    emit = data.draw(st.sampled_from(["complete", "changelog"]), "emit")
    query = query_of(windows=WINDOWS[kind], aggs=aggs, emit=emit)
    store, expected = Store(), Undisturbed(query)
    workers = Workers(shards_for(query), store)
    watermark = 0
    for _ in range(data.draw(st.integers(1, 8), "batches")):
        table = table_of(data.draw(st.lists(ROW, max_size=12), "rows"))
        wanted = expected.batch(table, watermark)
        while True:
            pick = data.draw(st.lists(st.integers(0, 2), min_size=3, max_size=3), "workers")
            found, counts = workers.batch(cells_of(table), watermark, lambda s, p=pick: p[s])
            if not data.draw(st.booleans(), "fails"):
                break
            store.roll_back()
            workers.kill(data.draw(st.sampled_from([0, 1, 2, 9]), "killed"))
        store.commit()
        assert listed(found) == wanted
        assert sum(c["rows"] + c["late_rows"] + c["rows_without_time"] for c in counts) == len(
            table
        )
        assert all(len(store.shard(s)["timers"]) <= 1 for s in range(3))
        times = [t for t in table["t"].cast(pa.int64()).to_pylist() if t is not None]
        watermark = max([watermark, *(t // 1000 - 8 for t in times)])


@pytest.mark.parametrize("kind", ["fixed", "sessions", "rolling"])
def test_updates_end_with_the_batch_answer(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With emit="updates" the last revision of every window is what one operator ends with."""
    monkeypatch.setattr(_shards, "CHUNK", 3)  # several calls in a micro-batch
    rng = np.random.default_rng(5)
    query = query_of(windows=WINDOWS[kind], emit="updates")
    store = Store()
    workers = Workers(shards_for(query), store)
    whole = WindowKeeper(query_of(windows=WINDOWS[kind], lateness="1h"))
    last: dict[Any, Any] = {}
    for batch in range(12):
        rows = [
            (str(rng.choice(list("abcd"))), int(t), int(rng.integers(9)))
            for t in rng.integers(batch * 4000, batch * 4000 + 9000, 20)
        ]
        table = table_of(rows)
        found, _ = workers.batch(cells_of(table), max(0, batch * 4 - 6), lambda s: s)
        store.commit()
        whole.process(table)
        for row in [r for t in found for r in t.to_pylist()]:
            assert row["late_row"] is None
            before = last.get(window_of(row), {"revision": -1})
            assert row["revision"] >= before["revision"] + (row["change"] != "withdrawn")
            last[window_of(row)] = row
    found, _ = workers.batch({}, 200, lambda s: s)
    last |= {window_of(row): row for t in found for row in t.to_pylist()}
    wanted = {window_of(r): r["sum_x"] for r in whole.advance(200_000).to_pylist()}
    standing = {w: r["sum_x"] for w, r in last.items() if r["change"] != "withdrawn"}
    assert standing == wanted


def window_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[n] for n in ("k", "window", "window_start", "window_end"))


def fill(workers: Workers, batches: int, rows: int = 200) -> None:
    rng = np.random.default_rng(1)
    for batch in range(batches):
        times = rng.integers(batch * 1000, batch * 1000 + 1000, rows)
        table = table_of([("a", int(t), 1) for t in times])
        workers.batch(cells_of(table), max(0, batch - 20), lambda s, w=batch % 2: w)
        workers.store.commit()


def test_state_stays_small() -> None:
    """Snapshots take the place of changes, so the store does not grow with the stream."""
    sizes = []
    for batches in (60, 240):
        store = Store()
        fill(Workers(shards_for(query_of()), store), batches)
        sizes.append(store.bytes())
    assert sizes[1] < 2 * sizes[0]


def test_a_quiet_shard_costs_nothing_but_a_look() -> None:
    store = Store()
    workers = Workers(shards_for(query_of()), store)
    fill(workers, 3)
    workers.batch({}, 100, lambda s: 0)
    store.commit()
    before, store.calls = store.bytes(), 0
    workers.batch({1: []}, 101, lambda s: 0)  # called, with nothing to do
    assert store.calls == 1
    assert store.bytes() == before


def test_a_micro_batch_costs_its_own_rows() -> None:
    """What is written for 10 rows does not depend on how much is kept."""
    written = []
    for rows in (100, 20_000):
        store = Store()
        query = query_of(windows=[sash.sliding("1h", "1ms")], lateness=0)
        workers = Workers(shards_for(query), store)
        table = table_of([("a", i * 1000, 1) for i in range(rows)])
        workers.batch(cells_of(table), 0, lambda s: 0)
        before = store.bytes()
        few = table_of([("a", rows * 1000 + i, 1) for i in range(10)])
        workers.batch(cells_of(few), 0, lambda s: 0)
        written.append(store.bytes() - before)
    assert written[1] < 1.5 * written[0]


def test_a_key_that_was_forgotten_and_comes_again_elsewhere() -> None:
    """One worker forgets a key, another takes rows of it: the first one must not forget it twice.

    worker 0:  a at 1 ms    a's window told, then a forgotten     b           b told?
    worker 1:                                           a at 20 ms    b
    """
    told = []
    for other in (0, 1):
        store = Store()
        workers = Workers(shards_for(query_of(windows=sash.tumbling("3ms"))), store)
        rows: list[str] = []
        for k, t, watermark, worker in (
            ("a", 1000, 0, 0), (None, 0, 4, 0), (None, 0, 9, 0), ("a", 20_000, 10, other),
            ("d", 20_000, 11, 0), ("d", 20_500, 12, other), (None, 0, 40, other),
        ):  # fmt: skip
            cells = {} if k is None else {1: [to_bytes(table_of([(k, t, 7)]))]}
            found, _ = workers.batch(cells, watermark, lambda s, w=worker: w)
            store.commit()
            rows += listed(found)
        told.append(rows)
    assert told[0] == told[1]
    assert len(told[0]) == 3


def test_another_function_is_refused() -> None:
    store = Store()
    fill(Workers(shards_for(query_of()), store), 2)
    others = Workers(shards_for(query_of(), about={"rows": True}, token="another"), store)
    with pytest.raises(CheckpointError, match=r"of sash\.spark\.windows, not of rolling"):
        others.batch({1: []}, 0, lambda s: 0)


def test_another_number_of_shards_is_refused() -> None:
    store = Store()
    fill(Workers(shards_for(query_of()), store), 2)
    others = Workers(shards_for(query_of(), shards=5, token="another"), store)
    with pytest.raises(CheckpointError, match=r"keys in 3 shards.*give shards=3"):
        others.batch({1: []}, 0, lambda s: 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"aggs": [agg.max("x"), agg.count()]}, "snapshot of aggregate"),
        ({"windows": [sash.tumbling("3ms")]}, "snapshot of the windows"),
        ({"windows": [sash.tumbling("4ms", name="tumbling_3ms"), WINDOWS["fixed"][1]]}, "another"),
        ({"lateness": "6ms"}, "lateness 5000, not 6000"),
        ({"emit": "changelog"}, "snapshot of emit complete"),
    ],
)
def test_another_query_is_refused(arguments: dict[str, Any], said: str) -> None:
    store = Store()
    fill(Workers(shards_for(query_of()), store), 2)
    changed = Workers(shards_for(query_of(**arguments), token="another"), store)
    with pytest.raises(CheckpointError, match=rf"another query: .*{said}.*checkpointLocation"):
        changed.batch({1: []}, 0, lambda s: 0)


def test_another_format_is_refused() -> None:
    store = Store()
    fill(Workers(shards_for(query_of()), store), 2)
    shard = store.shard(1)
    shard["manifest"] = (shard["manifest"][0].replace('"format": 1', '"format": 7'),)
    with pytest.raises(CheckpointError, match="state of format 7, and this version of Sash reads"):
        store.log(1)


def test_a_monoid_that_raises_names_the_row_and_is_tried_again() -> None:
    broken = [True]

    def lift(x: int) -> int:
        if broken and x == 5:
            raise ZeroDivisionError("no fives")
        return x

    own = sash.monoid(lambda a, b: a + b, lift=lift, name="own", column="x", returns=int)
    query = query_of(aggs=[own, agg.count()])
    store, expected = Store(), None
    workers = Workers(shards_for(query), store)
    first = table_of([("a", 1000, 1), ("b", 2000, 2)])
    workers.batch(cells_of(first), 0, lambda s: 0)
    store.commit()
    second = table_of([("a", 1500, 3), ("b", 7000, 5), ("a", 9000, 4)])
    with pytest.raises(RuntimeError, match=r"ZeroDivisionError: no fives in the row with k=b, t="):
        workers.batch(cells_of(second), 0, lambda s: 0)
    store.roll_back()
    broken.clear()
    found, _ = workers.batch(cells_of(second), 0, lambda s: 0)
    store.commit()
    found, _ = workers.batch({}, 100, lambda s: 0)
    expected = Undisturbed(query)
    expected.batch(first, 0)
    expected.batch(second, 0)
    assert listed(found) == expected.batch(second[:0], 100)


# ---- on the way to shards ------------------------------------------------------------------------


@pytest.mark.parametrize("shards", [1, 2, 3, 8, 200])
def test_every_shard_has_a_partition_of_its_own(shards: int) -> None:
    labels = labels_of(shards)
    assert labels[0] == 0
    assert sorted(murmur3(label) % shards for label in labels) == list(range(shards))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), max_size=60), st.integers(1, 9))
def test_packed_rows_keep_their_order(rows: list[tuple[int, int]], size: int) -> None:
    places, values = zip(*rows, strict=True) if rows else ((), ())
    table = pa.table({"x": pa.array(values, pa.int64()), SHARD: pa.array(places, pa.int32())})
    out = list(Pack([0, 5, 7])(table.to_batches(max_chunksize=size)))
    found: dict[int, list[int]] = {}
    for batch in out:
        (row,) = batch.to_pylist()
        cells = from_bytes(row["cell"])["x"].to_pylist() if row["cell"] else []
        found.setdefault(row["shard"], []).extend(cells)
    assert (out[-1]["cell"][0].as_py() == b"") == (0 not in places)
    wanted = {label: [v for p, v in rows if p == i] for i, label in enumerate([0, 5, 7])}
    assert found == {label: v for label, v in wanted.items() if v or label == 0}
