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
from sash import _snapshot, agg
from sash._ipc import to_bytes
from sash._operator_snapshot import _BUFFERS
from sash.spark import _live_shards, _shard_log
from sash.spark._keep_rolling import _PARTS, RollingKeeper, RollingQuery
from sash.spark._keep_windows import WindowKeeper
from sash.spark._metrics import Counters
from sash.spark._shard_log import CheckpointError
from sash.spark._shards import Shards
from sash.spark._windows_task import Query

TYPES = {"t": pa.timestamp("us", "UTC"), "k": pa.string(), "x": pa.int64()}
AGGS = [agg.sum("x"), agg.count()]


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
    result = pa.schema([*TYPES.items(), *added])
    return Shards(RollingKeeper, query, "plan", 1, {"rows": True}, result, "row")


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
            list(shards.run(store.log(0), [_rows(4000 * number)], 3 * number, False))
        found.append((shards, store))
    return found


def _damaged_entry(data: bytes, rolling: bool, choices: Choices) -> bytes:
    """Return an entry that is damaged, or whose snapshot is, under a valid checksum."""
    if choices.one_in(3):
        return damaged(data, choices)
    if not rolling:
        return packed(*unpacked(data, _BUFFERS), choices)
    header, parts = unpacked(data, _PARTS)
    if choices.one_in(3):
        parts["rows"] = damaged(parts["rows"], choices)
    else:
        parts["changes"] = packed(*unpacked(parts["changes"], _BUFFERS), choices)
    return _snapshot.pack(header, parts)


def again(good: Store) -> Store:
    """Return the same store once more, with workers that have nothing of it in memory."""
    _live_shards._live.clear()
    store = Store()
    store._now = copy.deepcopy(good._now)
    return store


def _damaged_manifest(text: str, choices: Choices) -> str:
    """Return a manifest that is damaged under a valid checksum; now and then the checksum is, too.

    A timer stays as it is: those that are set are Spark's.
    """
    about = json.loads(text)
    del about["crc32"]
    other = damaged_json(about, choices)
    if isinstance(other, dict):
        if type(other.get("timer")) is int:
            other["timer"] = about["timer"]
        other["crc32"] = _shard_log._checksum(other)
    text = json.dumps(other)
    return damaged(text.encode(), choices).decode("latin-1") if choices.one_in(3) else text


def run_damaged(choices: Choices) -> None:
    """Go on from a damaged checkpoint."""
    shards, good = choices.of(_good())
    store = again(good)
    kept = store.shard(0)
    if choices.one_in(3):
        kept["manifest"] = (_damaged_manifest(kept["manifest"][0], choices),)
    else:
        key = choices.of(sorted(kept["entries"]))
        pieces, data = kept["entries"][key]
        kept["entries"][key] = (
            pieces,
            _damaged_entry(data, shards.keeper is RollingKeeper, choices),
        )
    try:
        list(shards.run(store.log(0), [_rows(20_000)], 18, False))
    except (CheckpointError, OverflowError):
        return
    _live_shards._live.clear()
    list(shards.run(store.log(0), [], 40, True))
