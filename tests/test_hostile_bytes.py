"""Bytes that fuzzing found, and the mistakes it has found: refused as documented, or of use."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import hostile_bytes
import pytest
from damage import unpacked

import sash
from sash import SnapshotError, _operator_snapshot, _snapshot

CORPUS = sorted((Path(__file__).parent.parent / "cpp" / "fuzz" / "corpus" / "bytes").iterdir())


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
