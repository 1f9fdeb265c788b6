"""Bytes that fuzzing found, and the mistakes it has found: refused as documented, or of use."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any

import hostile_bytes
import hostile_shards
import pytest
from damage import unpacked

import sash
from sash import SnapshotError, _operator_snapshot, _snapshot
from sash.spark._keep_rolling import entry_parts
from sash.spark._shard_log import CheckpointError, read_manifest

CORPUS = sorted((Path(__file__).parent.parent / "cpp" / "fuzz" / "corpus" / "bytes").iterdir())
MANIFEST: dict[str, Any] = {"format": 1, "shards": 3, "query": {}}


def test_what_fuzzing_found() -> None:
    assert CORPUS
    for path in CORPUS:
        hostile_bytes.run(path.read_bytes())


@pytest.mark.parametrize("target", range(len(hostile_bytes.TARGETS)))
def test_random_bytes(target: int) -> None:
    for seed in range(20):
        hostile_bytes.run(bytes([target]) + random.Random(seed).randbytes(60))


def test_contents_that_are_impossible_are_a_snapshot_error() -> None:
    window = sash.Recalc(sash.agg.sum(dtype=int))
    window.insert(1)
    _, times, cells, objects = window._save()
    forged = (struct.pack("<Q", 2**62), times, cells, objects)
    data = _snapshot.write("Recalc", window._plan, forged)
    with pytest.raises(SnapshotError, match="more entries than it has"):
        sash.Recalc.restore(data, sash.agg.sum(dtype=int))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "[" * 100_000,
        json.dumps({**MANIFEST, "query": None}),
        json.dumps({**MANIFEST, "base": "0"}),
        json.dumps({**MANIFEST, "last": 0.5}),
        json.dumps({**MANIFEST, "timer": []}),
        json.dumps({**MANIFEST, "more": 1}),
        json.dumps({"format": 1}),
    ],
    ids=lambda text: text[:40],
)
def test_manifests_that_are_none(text: str) -> None:
    with pytest.raises(CheckpointError, match="damaged"):
        read_manifest(text)


def test_a_manifest() -> None:
    assert read_manifest(json.dumps({**MANIFEST, "timer": 5})).timer == 5


def test_an_entry_that_is_not_there() -> None:
    for shards, good in hostile_shards._good():
        store = hostile_shards.again(good)
        del store.shard(0)["entries"][0, 0]
        with pytest.raises(CheckpointError, match="piece 0 of entry 0 is not there"):
            list(shards.run(0, store.log(0), [], 18, True))


@pytest.mark.parametrize("cut", [0, 4, 20, 200])
def test_an_entry_whose_rows_are_damaged(cut: int) -> None:
    _, good = hostile_shards._good()[1]
    _, data = good.shard(0)["entries"][0, 0]
    changes, _ = entry_parts(data)
    with pytest.raises(SnapshotError, match="rows cannot be read"):
        entry_parts(data[: 8 + len(changes) + cut])


def test_changes_that_cannot_be_followed() -> None:
    op = hostile_bytes.operator(0)
    op.process(hostile_bytes.ROWS)
    op.snapshot()
    header, buffers = unpacked(op.changes(), _operator_snapshot._BUFFERS)
    op._stamp = header["after"]
    for name in ("keys", "forgotten"):
        data = _snapshot.pack(header, {**buffers, name: b"nothing"})
        with pytest.raises(SnapshotError, match="cannot be read"):
            _operator_snapshot.follow(op, [data])
