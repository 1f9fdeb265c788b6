"""Checkpoints of streams with damage in them: a shard's manifest, or one of its entries."""

from __future__ import annotations

import copy
import functools
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from damage import Choices, damaged, damaged_json, packed, unpacked

sys.path.append(str(Path(__file__).parent / "spark"))
from store import Store

import sash
from sash import SnapshotError, agg
from sash._ipc import to_bytes
from sash._operator_snapshot import _BUFFERS
from sash.spark import _live_shards
from sash.spark._keep_rolling import RollingKeeper, RollingQuery
from sash.spark._keep_windows import WindowKeeper
from sash.spark._metrics import Counters
from sash.spark._shard_log import CheckpointError
from sash.spark._shards import Shards
from sash.spark._windows_task import Query

TYPES = {"t": pa.timestamp("us", "UTC"), "k": pa.string(), "x": pa.int64()}
AGGS = [agg.sum("x"), agg.count()]
_LENGTH = 8


def _asked(window: Any) -> dict[str, Any]:
    return {
        "on": "t", "by": ["k"], "windows": [window], "aggs": AGGS,
        "lateness": "5ms", "emit": "complete",
    }  # fmt: skip


def _windows() -> Shards:
    query = Query(_asked(sash.sliding("10ms", "2ms")), TYPES, ["k"], Counters(), list(TYPES))
    result = WindowKeeper(query).advance(-1).schema
    return Shards(WindowKeeper, query, "plan", 1, {}, result)


def _rolling() -> Shards:
    outputs = [a.output for a in AGGS]
    query = RollingQuery(
        _asked(sash.windows.rolling("9ms")), TYPES, ["k"], Counters(), list(TYPES), TYPES, outputs
    )
    told = WindowKeeper(query).advance(-1).schema
    added = [told.field(n) for n in (*outputs, "revision", "change")]
    return Shards(
        RollingKeeper, query, "plan", 1, {"rows": True}, pa.schema([*TYPES.items(), *added])
    )


def _rows(at: int) -> bytes:
    times = pa.array([at, at + 1500, at + 700], TYPES["t"])
    return to_bytes(
        pa.table({"t": times, "k": pa.array(["a", None, "b"]), "x": pa.array([1, 2, 3])})
    )


@functools.cache
def _good() -> list[tuple[Shards, Store]]:
    found = []
    for shards in (_windows(), _rolling()):
        store = Store()
        for number in range(3):
            _live_shards._live.clear()
            list(shards.run(0, store.log(0), [_rows(4000 * number)], 3 * number, False))
        found.append((shards, store))
    return found


def _damaged_entry(data: bytes, rolling: bool, choices: Choices) -> bytes:
    """Return an entry that is damaged, or whose snapshot is, under a valid checksum."""
    if choices.one_in(3):
        return damaged(data, choices)
    length = int.from_bytes(data[:_LENGTH], "little")
    changes, rows = (
        (data[_LENGTH : _LENGTH + length], data[_LENGTH + length :]) if rolling else (data, b"")
    )
    if rolling and choices.one_in(3):
        rows = damaged(rows, choices)
    else:
        changes = packed(*unpacked(changes, _BUFFERS), choices)
    return len(changes).to_bytes(_LENGTH, "little") + changes + rows if rolling else changes


def again(good: Store) -> Store:
    """Return the same store once more, with workers that have nothing of it in memory."""
    _live_shards._live.clear()
    store = Store()
    store._now = copy.deepcopy(good._now)
    return store


def _kept_timer(about: dict[str, Any], other: Any) -> Any:
    """Return the manifest with its timer, where it has another: those that are set are Spark's."""
    another = isinstance(other, dict) and type(other.get("timer")) is int
    return {**other, "timer": about["timer"]} if another else other


def run_damaged(choices: Choices) -> None:
    """Go on from a damaged checkpoint."""
    shards, good = choices.of(_good())
    store = again(good)
    kept = store.shard(0)
    if choices.one_in(3):
        about = json.loads(kept["manifest"][0])
        text = json.dumps(_kept_timer(about, damaged_json(about, choices)))
        if choices.one_in(3):
            text = damaged(text.encode(), choices).decode("latin-1")
        kept["manifest"] = (text,)
    else:
        key = choices.of(sorted(kept["entries"]))
        pieces, data = kept["entries"][key]
        kept["entries"][key] = (
            pieces,
            _damaged_entry(data, shards.keeper is RollingKeeper, choices),
        )
    try:
        list(shards.run(0, store.log(0), [_rows(20_000)], 18, False))
    except (CheckpointError, SnapshotError, OverflowError):
        return
    _live_shards._live.clear()
    list(shards.run(0, store.log(0), [], 40, True))
