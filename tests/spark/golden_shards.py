"""Shards of a stream as golden files: what Spark's state store has, and what they tell next.

As in `golden_cases.py`: a case is never changed, since files were made of it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from golden_cases import rows_of
from store import Store, Workers

import sash
from sash import agg
from sash._ipc import to_bytes
from sash.spark._keep_rolling import RollingKeeper, RollingQuery
from sash.spark._keep_windows import WindowKeeper
from sash.spark._metrics import Counters
from sash.spark._shards import Shards
from sash.spark._windows_task import Query

TYPES = {"t": pa.timestamp("us", "UTC"), "k": pa.string(), "x": pa.int64()}
JOIN = sash.monoid(lambda a, b: a + b, lift=str, name="golden_join", column="x", returns=str)
LABELS = (0, 5)
"""Of the two shards."""


def _windows_shards() -> Shards:
    arguments = {
        "on": "t", "by": ["k"], "aggs": [agg.sum("x"), JOIN], "lateness": "5ms", "emit": "complete",
        "windows": [sash.tumbling("3ms"), sash.session("2ms"), sash.tumbling(rows=3)],
    }  # fmt: skip
    query = Query(arguments, TYPES, ["k"], Counters(), list(TYPES))
    result = WindowKeeper(query).advance(-1).schema
    return Shards(WindowKeeper, query, "plan", 2, {"rows": False}, result)


def _rolling_shards() -> Shards:
    arguments = {
        "on": "t", "by": ["k"], "aggs": [agg.sum("x"), agg.count()], "lateness": "6ms",
        "emit": "complete", "windows": [sash.windows.rolling("9ms")],
    }  # fmt: skip
    outputs = ["sum_x", "count"]
    query = RollingQuery(arguments, TYPES, ["k"], Counters(), list(TYPES), TYPES, outputs)
    told = WindowKeeper(query).advance(-1).schema
    added = [told.field(n) for n in (*outputs, "revision", "change")]
    result = pa.schema([*TYPES.items(), *added])
    return Shards(RollingKeeper, query, "plan", 2, {"rows": True}, result, "row")


def cells_of(batch: int) -> dict[int, list[bytes]]:
    """Rows of a micro-batch, by shard."""
    steps = [(i * 7919 + batch * 104729) % 1009 for i in range(14)]
    found = {}
    for place, label in enumerate(LABELS):
        rows = [(s, batch * 8000 + i * 600 - 4000 * (s % 7 == 0)) for i, s in enumerate(steps)]
        mine = [(s, t) for s, t in rows if s % 2 == place]
        values = {
            "t": [t for _, t in mine],
            "k": [None if s % 11 == 0 else f"key {s % 3}" for s, _ in mine],
            "x": [s % 10 for s, _ in mine],
        }
        found[label] = [to_bytes(pa.table({n: pa.array(values[n], k) for n, k in TYPES.items()}))]
    return found


@dataclass
class ShardCase:
    """Two shards after three micro-batches: a snapshot and two entries of changes each."""

    name: str
    shards: Shards
    made = "micro-batches 0 to 2 with the watermarks 0, 6 and 14 ms"

    def make(self) -> Store:
        store = Store()
        workers = Workers(self.shards, store)
        for batch, watermark in enumerate((0, 6, 14)):
            workers.batch(cells_of(batch), watermark, lambda label: 0)
            store.commit()
        return store

    def save(self, store: Store) -> list[bytes]:
        """Return all of it as JSON: manifests, entries by number and piece, and timers."""
        return [json.dumps({label: _said(store.shard(label)) for label in LABELS}).encode()]

    def restore(self, saved: list[bytes]) -> Store:
        store = Store()
        for label, said in json.loads(saved[0]).items():
            kept = store.shard(int(label))
            kept["manifest"] = (said["manifest"],)
            for number, piece, pieces, data in said["entries"]:
                kept["entries"][number, piece] = (pieces, base64.b64decode(data))
            kept["timers"].update(said["timers"])
        store.commit()
        return store

    def ask(self, store: Store) -> Iterator[str]:
        """Go on with the stream in workers that know nothing of it."""
        workers = Workers(self.shards, store)
        for batch, watermark in ((3, 22), (4, 30), (None, 90)):
            cells = {} if batch is None else cells_of(batch)
            told, counts = workers.batch(cells, watermark, lambda label: 0)
            store.commit()
            yield from rows_of(pa.concat_tables([self.shards.result.empty_table(), *told]))
            yield str([list(c.values()) for c in counts])


def _said(kept: dict[str, Any]) -> dict[str, Any]:
    entries = [
        [number, piece, pieces, base64.b64encode(data).decode()]
        for (number, piece), (pieces, data) in kept["entries"].items()
    ]
    return {
        "manifest": kept["manifest"][0],
        "entries": entries,
        "timers": sorted(kept["timers"]),
    }


CASES = {
    case.name: case
    for case in (ShardCase("windows", _windows_shards()), ShardCase("rolling", _rolling_shards()))
}
