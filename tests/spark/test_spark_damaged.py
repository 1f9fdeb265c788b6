"""Checkpoints that are not what was written: each is refused with `CheckpointError`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from golden_shards import CASES, LABELS, ShardCase
from store import Store, Workers

from sash._ipc import to_bytes
from sash.spark import _shard_log
from sash.spark._keep_rolling import entry_parts
from sash.spark._shard_log import CheckpointError, Manifest, read_manifest, write_manifest

Kept = dict[str, Any]


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request: pytest.FixtureRequest) -> ShardCase:
    found: ShardCase = request.param
    return found


def call(case: ShardCase, store: Store, label: int = 0) -> None:
    """Have a worker that knows nothing of the shard called."""
    Workers(case.shards, store).batch({label: []}, 20, lambda s: 0)


def manifest_of(kept: Kept) -> Manifest:
    return read_manifest(kept["manifest"][0], 0)


def test_whole_ones_are_read(case: ShardCase) -> None:
    store = case.make()
    kept = store.shard(0)
    assert sorted(kept["entries"]) == [(0, 0), (1, 0), (2, 0)]
    call(case, store)
    assert manifest_of(kept).last == 3


def test_manifests_cut_short_or_with_a_bit_off() -> None:
    (text,) = CASES["windows"].make().shard(0)["manifest"]
    whole = read_manifest(text, 0)
    for length in range(len(text)):
        with pytest.raises(CheckpointError):
            read_manifest(text[:length], 0)
    for bit in range(8 * len(text)):
        data = bytearray(text.encode())
        data[bit // 8] ^= 1 << bit % 8
        try:
            damaged = data.decode()
        except UnicodeDecodeError:
            continue  # Spark gives text
        try:
            found = read_manifest(damaged, 0)
        except CheckpointError:
            continue
        assert found == whole  # a space that became another one


NONE = ("", "null", "5", "[]", "{}", '"x"', "[" * 99_999, '{"format": 1}', '{"format":1,"crc32":0}')


@pytest.mark.parametrize("text", NONE)
def test_manifests_that_are_none(text: str) -> None:
    with pytest.raises(CheckpointError):
        read_manifest(text, 0)


def test_manifests_from_the_future() -> None:
    number = _shard_log.FORMAT + 1
    said = f"format {number}, and this version of Sash reads {number - 1}: go on with the version"
    with pytest.raises(CheckpointError, match=said):
        read_manifest(json.dumps({"format": number, "new": "field"}), 0)


@pytest.mark.parametrize(
    "change",
    [
        {"last": 2**60}, {"last": -5}, {"base": 2**60}, {"base": -1}, {"base": "0"}, {"name": 5},
        {"query": []}, {"timer": "soon"}, {"weight": None}, {"shards": 2.0}, {"shard": 5},
        {"more": 1},
    ],
    ids=str,
)  # fmt: skip
def test_manifests_that_say_what_cannot_be(change: dict[str, Any]) -> None:
    """Under a checksum that fits."""
    (text,) = CASES["windows"].make().shard(0)["manifest"]
    said = json.loads(text)
    del said["crc32"]
    said |= change
    with pytest.raises(CheckpointError, match=r"the checkpoint is damaged: .*checkpointLocation"):
        read_manifest(json.dumps({**said, "crc32": _shard_log._checksum(said)}), 0)


def _missing(kept: Kept) -> None:
    del kept["entries"][1, 0]


def _without_the_first(kept: Kept) -> None:
    del kept["entries"][0, 0]


def _older(kept: Kept) -> None:
    manifest = manifest_of(kept)
    manifest.last -= 1
    kept["manifest"] = (write_manifest(manifest),)


def _newer_base(kept: Kept) -> None:
    manifest = manifest_of(kept)
    manifest.base += 1
    kept["manifest"] = (write_manifest(manifest),)


def _swapped(kept: Kept) -> None:
    entries = kept["entries"]
    entries[1, 0], entries[2, 0] = entries[2, 0], entries[1, 0]


def _twice(kept: Kept) -> None:
    kept["entries"][2, 0] = kept["entries"][1, 0]


def _more_pieces(kept: Kept) -> None:
    kept["entries"][1, 0] = (2**60, kept["entries"][1, 0][1])


def _no_pieces(kept: Kept) -> None:
    kept["entries"][1, 0] = (0, kept["entries"][1, 0][1])


def _no_bytes(kept: Kept) -> None:
    kept["entries"][1, 0] = (1, 2**60)


def _joined(kept: Kept) -> None:
    data = kept["entries"][1, 0][1]
    kept["entries"][1, 0] = (1, data + data)


def _empty(kept: Kept) -> None:
    kept["entries"][1, 0] = (1, b"")


@pytest.mark.parametrize(
    "damage",
    [
        _missing, _without_the_first, _older, _newer_base, _swapped, _twice, _more_pieces,
        _no_pieces, _no_bytes, _joined, _empty,
    ],
)  # fmt: skip
def test_entries(case: ShardCase, damage: Callable[[Kept], None]) -> None:
    store = case.make()
    damage(store.shard(0))
    with pytest.raises(CheckpointError, match="checkpointLocation"):
        call(case, store)


def test_entries_cut_short_or_with_a_bit_off(case: ShardCase) -> None:
    """Damage is called that, and not another query."""
    store = case.make()
    whole = store.shard(0)["entries"][1, 0][1]
    chance = random.Random(4)
    for length in [*range(0, len(whole), 61), len(whole) - 8, len(whole) - 1]:
        store.shard(0)["entries"][1, 0] = (1, whole[:length])
        with pytest.raises(CheckpointError, match="the checkpoint is damaged"):
            call(case, store)
    for _ in range(150):
        data = bytearray(whole)
        data[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        store.shard(0)["entries"][1, 0] = (1, bytes(data))
        try:
            call(case, store)
        except CheckpointError:
            continue
        assert _contents(bytes(data)) == _contents(whole)  # a bit that means nothing


def _contents(entry: bytes) -> Any:
    with pa.ipc.open_stream(entry) as reader:
        return reader.read_all()


def test_the_state_of_another_shard(case: ShardCase) -> None:
    store = case.make()
    one, other = (store.shard(label) for label in LABELS)
    for part in ("manifest", "entries"):
        one[part], other[part] = other[part], one[part]
        with pytest.raises(CheckpointError, match=r"the checkpoint is damaged: shard 0 has"):
            call(case, store)


def test_the_state_of_another_function() -> None:
    windows, rolling = CASES["windows"], CASES["rolling"]
    store = rolling.make()
    with pytest.raises(CheckpointError, match=r"of sash\.spark\.rolling, not of windows"):
        call(windows, store)
    kept = windows.make().shard(0)
    manifest = manifest_of(kept)
    manifest.query = {"rows": True}
    kept["manifest"] = (write_manifest(manifest),)
    store.shard(0).update(kept)
    with pytest.raises(CheckpointError, match="structure WindowOperator, not of RollingStream"):
        call(rolling, store)


def test_rows_that_wait_are_covered_by_the_checksum() -> None:
    """They are no part of the operator's snapshot, and come out again as they went in."""
    kept = CASES["rolling"].make().shard(0)
    entry = kept["entries"][1, 0][1]
    rows = to_bytes(entry_parts(entry)[1])
    at = entry.find(rows)
    assert at > 0
    refused = 0
    for place in range(at, at + len(rows)):
        try:
            _, found = entry_parts(entry[:place] + bytes([entry[place] ^ 1]) + entry[place + 1 :])
        except ValueError:
            refused += 1
            continue
        assert to_bytes(found) == rows
    assert refused == len(rows)
