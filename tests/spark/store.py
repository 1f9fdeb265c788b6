"""Spark's state store and workers, as far as shards see them, without Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from sash._ipc import from_bytes
from sash.spark import _live_shards
from sash.spark._shard_log import ShardLog
from sash.spark._shards import Shards


class Store:
    """The state of all shards. What is written becomes part of it with `commit` only."""

    def __init__(self) -> None:
        self._safe: dict[int, Any] = {}
        self._now: dict[int, Any] = {}
        self.calls = 0

    def call(self) -> None:
        """Note a call of Spark's state store; those who override this may raise."""
        self.calls += 1

    def commit(self) -> None:
        self._safe = _copied(self._now)

    def roll_back(self) -> None:
        self._now = _copied(self._safe)

    def shard(self, label: int) -> dict[str, Any]:
        empty = {"manifest": None, "entries": {}, "timers": set()}
        return self._now.setdefault(label, empty)

    def due(self, watermark: int) -> list[int]:
        """Shards with a timer that Spark would call."""
        return [s for s, kept in self._now.items() if any(t <= watermark for t in kept["timers"])]

    def log(self, label: int) -> ShardLog:
        kept = self.shard(label)
        return ShardLog(label, _Value(self, kept), _Map(self, kept), Handle(self, kept))

    def handle(self, label: int) -> Handle:
        """What Spark gives a stateful processor while it is at this key."""
        return Handle(self, self.shard(label))

    def bytes(self) -> int:
        kept = [k for shard in self._now.values() for k in shard["entries"].values()]
        return sum(len(data) for _, data in kept)


def _copied(shards: dict[int, Any]) -> dict[int, Any]:
    """Return the same state; what is in it are values that do not change."""
    return {
        label: {**kept, "entries": dict(kept["entries"]), "timers": set(kept["timers"])}
        for label, kept in shards.items()
    }


class _Part:
    def __init__(self, store: Store, kept: dict[str, Any]) -> None:
        self._store, self._kept = store, kept

    def count(self) -> None:
        self._store.call()


class _Value(_Part):
    def get(self) -> Any:
        self.count()
        return self._kept["manifest"]

    def update(self, value: Any) -> None:
        self.count()
        self._kept["manifest"] = value


class _Map(_Part):
    def getValue(self, key: Any) -> Any:  # noqa: N802
        self.count()
        return self._kept["entries"].get(key)

    def updateValue(self, key: Any, value: Any) -> None:  # noqa: N802
        self.count()
        self._kept["entries"][key] = value

    def clear(self) -> None:
        self.count()
        self._kept["entries"].clear()


class Handle(_Part):
    """Timers, and the state variables of a stateful processor."""

    def getValueState(self, _name: str, _schema: str) -> _Value:  # noqa: N802
        return _Value(self._store, self._kept)

    def getMapState(self, _name: str, _key: str, _value: str) -> _Map:  # noqa: N802
        return _Map(self._store, self._kept)

    def registerTimer(self, timer: int) -> None:  # noqa: N802
        self.count()
        self._kept["timers"].add(timer)

    def deleteTimer(self, timer: int) -> None:  # noqa: N802
        self.count()
        self._kept["timers"].remove(timer)


class Workers:
    """Python workers with a memory of their own, and micro-batches that they run."""

    def __init__(self, shards: Shards, store: Store) -> None:
        self.shards, self.store = shards, store
        self._memories: dict[int, dict[Any, Any]] = {}

    def kill(self, worker: int) -> None:
        self._memories.pop(worker, None)

    @contextmanager
    def _as(self, worker: int) -> Iterator[None]:
        _live_shards._live.clear()
        _live_shards._live.update(self._memories.get(worker, {}))
        try:
            yield
        finally:
            self._memories[worker] = dict(_live_shards._live)
            _live_shards._live.clear()

    def batch(
        self, cells: dict[int, list[bytes]], watermark: int, worker_of: Callable[[int], int]
    ) -> tuple[list[pa.Table], list[dict[str, int]]]:
        """Run a micro-batch: shards with rows first, then timers. It is not committed yet."""
        out: list[tuple[bytes, dict[str, int]]] = []
        for fired in (False, True):
            labels = self.store.due(watermark) if fired else list(cells)
            for label in labels:
                kept = self.store.shard(label)
                expired = {t for t in kept["timers"] if t <= watermark}
                log = self.store.log(label)
                with self._as(worker_of(label)):
                    rows = [] if fired else cells[label]
                    out += self.shards.run(log, rows, watermark, fired)
                if fired:
                    kept["timers"] -= expired  # as Spark does
        return [from_bytes(cell) for cell, _ in out if cell], [counts for _, counts in out]
