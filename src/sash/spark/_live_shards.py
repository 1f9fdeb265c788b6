"""The shards that a Python worker has in memory, from one micro-batch to the next.

Spark runs a shard now in this worker, now in that one, and runs a micro-batch again when a task
failed. So what is here is used only if it is what the state store has, by the name of its last
entry; if others went on from it, the entries since are taken up; else it is read anew.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from sash._partials import OWN
from sash._snapshot import DamagedSnapshotError, SnapshotError
from sash.spark._shard_log import CheckpointError, ShardLog, damaged

_KEPT_SECONDS = 600.0
"""Shards of queries that have stopped, or went to other workers, are forgotten after this."""


@dataclass
class _Live:
    keeper: Any
    number: int
    """Of the entry that it has come to."""
    used: float


_live: dict[Hashable, _Live] = {}


def take(key: Hashable, log: ShardLog, make: Any) -> Any:
    """Return what keeps a shard, as the store has it; ``make`` makes it of entries.

    It is not here any more until it is given back: whatever fails in between, it is read anew.
    """
    now = time.monotonic()
    for other in [k for k, live in _live.items() if now - live.used > _KEPT_SECONDS]:
        del _live[other]
    live = _live.pop(key, None)
    manifest = log.manifest
    if manifest is None or manifest.last < 0:
        return make()
    if live is not None and live.keeper.name == manifest.name:
        return live.keeper
    if live is not None and manifest.base <= live.number < manifest.last:
        try:
            live.keeper.follow(log.entries(live.number + 1))
            if live.keeper.name == manifest.name:
                return live.keeper
        except SnapshotError:
            pass  # it came from an attempt that failed
    keeper = restored(lambda: make(log.entries(manifest.base)))
    if keeper.name != manifest.name:
        raise damaged(f"shard {manifest.shard} has other entries than its manifest says")
    return keeper


def restored(make: Any) -> Any:
    """Return what ``make()`` makes of the entries of a checkpoint, or say what is wrong with it."""
    try:
        return make()
    except DamagedSnapshotError as error:
        raise damaged(str(error)) from error
    except SnapshotError as error:
        what = str(error).replace(f"{OWN}key_", "").replace(f"{OWN}null_", "whether null: ")
        raise CheckpointError(
            f"the checkpoint is of another query: {what}. Give the arguments it was made with, or "
            "start anew with another checkpointLocation"
        ) from error


def give_back(key: Hashable, log: ShardLog, keeper: Any) -> None:
    """Keep a shard for the next micro-batch."""
    assert log.manifest is not None
    _live[key] = _Live(keeper, log.manifest.last, time.monotonic())
