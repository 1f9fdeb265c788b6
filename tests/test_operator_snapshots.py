"""Snapshots of a window operator: whole and of changes, hostile ones too."""

from __future__ import annotations

import json
import random
import zlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import agg
from sash._snapshot import SnapshotError

WINDOWS = [sash.tumbling(10), sash.session(3), sash.sliding(20, 5), sash.tumbling(rows=4)]


def make(**arguments: Any) -> sash.WindowOperator:
    given: dict[str, Any] = {
        "on": "t", "by": "k", "windows": WINDOWS, "aggs": [agg.sum("x"), agg.count()],
        "lateness": 30,
    }  # fmt: skip
    return sash.WindowOperator(**(given | arguments))


def batch(seed: int, n: int = 200) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "t": rng.integers(seed * 50, seed * 50 + 100, n),
            "x": rng.integers(0, 9, n),
            "k": [f"key {i}" for i in rng.integers(0, 20, n)],
        }
    )


def test_changes_put_together_are_the_operator() -> None:
    op = make()
    saved = [op.snapshot()]  # before there is anything
    for i in range(12):
        op.process(batch(i))
        op.advance(i * 50)
        saved.append(op.changes())
    other = make()
    other.restore(*saved)
    assert (other.rows, other.keys, other.slices) == (op.rows, op.keys, op.slices)
    assert other.process(batch(12)).sort_by("k") == op.process(batch(12)).sort_by("k")
    assert sorted(map(str, other.finish().to_pylist())) == sorted(map(str, op.finish().to_pylist()))


def test_a_restored_operator_goes_on_with_the_chain() -> None:
    op = make()
    op.process(batch(0))
    saved = [op.snapshot()]
    other = make()
    other.restore(*saved)
    other.process(batch(1))
    saved.append(other.changes())
    third = make()
    third.restore(*saved)
    assert third.rows == 400


def test_a_key_that_came_and_went_twice() -> None:
    """It is forgotten twice between two snapshots; others that share a value with it stay."""
    op = make(by=["k", "x"], windows=sash.tumbling(10), lateness=0)

    def rows(*some: tuple[int, int]) -> pa.Table:
        t, x = zip(*some, strict=True)
        return pa.table({"t": t, "x": x, "k": ["one"] * len(t)})

    op.process(rows((1, 1), (1000, 2)))
    saved = [op.snapshot()]
    op.advance(10)
    op.process(rows((11, 1)))
    op.advance(20)
    saved.append(op.changes())
    other = make(by=["k", "x"], windows=sash.tumbling(10), lateness=0)
    other.restore(*saved)
    assert other.key_table() == op.key_table()
    assert other.finish() == op.finish()


def test_a_snapshot_of_changes_is_small() -> None:
    op = sash.WindowOperator(on="t", windows=sash.sliding(200_000, 1), aggs=agg.sum("x"))
    op.process(pa.table({"t": np.arange(200_000), "x": np.ones(200_000)}))
    whole = op.snapshot()
    op.process(pa.table({"t": np.arange(0, 200_000, 1000), "x": np.ones(200)}))
    changes = op.changes()
    assert len(whole) > 1_000_000
    assert len(changes) < 20_000
    other = sash.WindowOperator(on="t", windows=sash.sliding(200_000, 1), aggs=agg.sum("x"))
    other.restore(whole, changes)
    assert other.query() == op.query() == {"sum_x": 200_200.0}


def test_changes_need_their_snapshot() -> None:
    op = make()
    op.process(batch(0))
    first, changed = op.snapshot(), []
    for i in (1, 2):
        op.process(batch(i))
        changed.append(op.changes())
    for wrong in ((changed[0],), (first, changed[1]), (first, changed[1], changed[0])):
        with pytest.raises(SnapshotError, match="continue another snapshot"):
            make().restore(*wrong)
    with pytest.raises(TypeError, match="needs a snapshot"):
        make().restore()
    used = make()
    used.process(batch(0))
    with pytest.raises(RuntimeError, match="has not processed anything"):
        used.restore(first)


@pytest.mark.parametrize(
    "arguments",
    [
        {"on": "x"}, {"by": ["k", "x"]}, {"aggs": [agg.max("x"), agg.count()]}, {"emit": "updates"},
        {"lateness": 31}, {"windows": WINDOWS[:2]}, {"aggs": [agg.sum("t"), agg.count()]},
        {"windows": [sash.tumbling(11, name="tumbling_10"), *WINDOWS[1:]]},
        {"windows": [*WINDOWS[:3], sash.tumbling(rows=5, name="tumbling_4rows")]},
    ],
)  # fmt: skip
def test_snapshots_of_another_operator_are_refused(arguments: dict[str, Any]) -> None:
    op = make()
    op.process(batch(0))
    other = make(**arguments)
    with pytest.raises(SnapshotError):
        other.restore(op.snapshot())
    assert other.rows == 0


def test_damaged_snapshots_are_refused() -> None:
    op = make()
    for i in range(3):
        op.process(batch(i))
        op.advance(i * 40)
    data = op.snapshot()
    for cut in (0, 10, len(data) // 2, len(data) - 3):
        with pytest.raises(SnapshotError):
            make().restore(data[:cut])
    chance = random.Random(1)
    for _ in range(200):
        broken = bytearray(data)
        broken[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        try:
            make().restore(bytes(broken))
        except SnapshotError:
            continue
        assert bytes(broken) == data or _same_contents(bytes(broken), data)


def _same_contents(a: bytes, b: bytes) -> bool:
    with pa.ipc.open_stream(a) as one, pa.ipc.open_stream(b) as two:
        return one.read_all() == two.read_all()


def test_hostile_contents_are_refused_or_harmless() -> None:
    """Contents changed at random under a checksum that is right again."""
    op = make()
    for i in range(3):
        op.process(batch(i, 60))
        op.advance(i * 40)
    with pa.ipc.open_stream(op.snapshot()) as reader:
        table = reader.read_all()
    header = json.loads(table.schema.metadata[b"sash"])
    header.pop("crc32")
    chance = random.Random(2)
    for _ in range(400):
        buffers = {n: bytearray(table[n][0].as_py()) for n in table.column_names}
        for _ in range(chance.choice([1, 1, 3])):
            name = chance.choice(["numbers", "numbers", "times", "cells", "keys"])
            at = chance.randrange(len(buffers[name]))
            buffers[name][at] ^= 1 << chance.randrange(8)
        whole = [bytes(b) for b in buffers.values()]
        crc = zlib.crc32(json.dumps(header, sort_keys=True).encode())
        for b in whole:
            crc = zlib.crc32(b, crc)
        metadata = {b"sash": json.dumps({**header, "crc32": crc})}
        schema = pa.schema([pa.field(n, pa.large_binary()) for n in buffers], metadata=metadata)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, schema) as writer:
            arrays = [pa.array([b], pa.large_binary()) for b in whole]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
        other = make()
        try:
            other.restore(bytes(sink.getvalue()))
            other.process(batch(5))
            other.finish()
        except (SnapshotError, OverflowError):
            continue
