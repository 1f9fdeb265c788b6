"""Snapshots of windows: versioned, checked Arrow data. Loading one never runs code.

A snapshot is an Arrow IPC stream of one row. Its columns are the buffers that a structure's archive
is made of (``cpp/bindings/archive.hpp``): ``numbers``, ``times``, ``cells`` of native aggregates
and ``objects`` of Python ones. The schema's metadata says what it is a snapshot of; a checksum
covers everything.

The checksum finds accidents. It does not tell who wrote a snapshot, so whatever it covers is
checked again where it is read: sizes against the bytes there are, states against their aggregate.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from sash import _ipc, _states
from sash._compile import Plan
from sash._slices import BYTES, slices

FORMAT = 1
COLUMNS = ("numbers", "times", "cells", "objects")
_KEY = b"sash"


class SnapshotError(ValueError):
    """Bytes that are not a snapshot of this structure and aggregate."""


class DamagedSnapshotError(SnapshotError):
    """Bytes that are no snapshot at all, or one whose contents cannot be."""


def state_functions(plan: Plan) -> tuple[_states.Dumps, _states.Loads]:
    """Return what turns states into bytes and back: one each for the parts of a product."""
    parts = [a.python for a in plan.aggregates]
    dumps = tuple(None if p is None else p.dump for p in parts)
    loads = tuple(None if p is None else p.load for p in parts)
    product = len(parts) > 1 or len(plan.sources) > 1
    return (dumps, loads) if product else (dumps[0], loads[0])


def _checksum(header: dict[str, Any], buffers: list[bytes]) -> int:
    crc = zlib.crc32(json.dumps(header, sort_keys=True).encode())
    for buffer in buffers:
        for part in slices(memoryview(buffer), BYTES):
            crc = zlib.crc32(part, crc)
    return crc


def pack(header: dict[str, Any], buffers: dict[str, bytes]) -> bytes:
    """Return a snapshot: what it says of itself, and its buffers by name."""
    header = {"format": FORMAT, **header}
    metadata = {_KEY: json.dumps({**header, "crc32": _checksum(header, list(buffers.values()))})}
    fields = [pa.field(name, pa.large_binary()) for name in buffers]
    arrays = [_one_value(b) for b in buffers.values()]
    batch = pa.record_batch(arrays, schema=pa.schema(fields, metadata=metadata))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _one_value(data: bytes) -> pa.Array:
    """Return a column of one row that holds these bytes, without a copy of them."""
    ends = pa.py_buffer(np.array([0, len(data)], np.int64))
    return pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(data)])


def unpack(
    data: bytes, structure: str, names: tuple[str, ...]
) -> tuple[dict[str, Any], list[bytes]]:
    """Return header and buffers, or raise `SnapshotError` saying why they are not to be had."""
    require_bytes(data)
    with _refusing():
        schema, batches = _ipc.open_stream(data)
        header = _header(schema)
        crc = header.pop("crc32", None)
    if header.get("format") != FORMAT:  # then its columns may be others, too
        raise SnapshotError(
            f"this snapshot has format {header.get('format')!r}; this version reads {FORMAT}: "
            "restore it with the version of Sash that wrote it"
        )
    require(header, "structure", structure)
    with _refusing():
        buffers = _buffers(schema, batches, names)
    if crc != _checksum(header, buffers):
        raise DamagedSnapshotError("the snapshot is damaged: its checksum differs")
    return header, buffers


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except (LookupError, ValueError, RecursionError) as error:
        raise DamagedSnapshotError(f"these bytes are not a snapshot ({error})") from None


def _header(schema: pa.Schema) -> dict[str, Any]:
    header = json.loads((schema.metadata or {})[_KEY])
    if not isinstance(header, dict):
        raise ValueError("other contents than a snapshot's")
    return header


def _buffers(
    schema: pa.Schema, batches: list[pa.ipc.Message], names: tuple[str, ...]
) -> list[bytes]:
    if schema.remove_metadata() != pa.schema([(name, pa.large_binary()) for name in names]):
        raise ValueError("other columns than a snapshot's")
    table = _ipc.table_of(schema, batches)
    if table.num_rows != 1 or any(column.null_count for column in table.columns):
        raise ValueError("other contents than a snapshot's")
    return [table[name][0].as_py() for name in names]


def require_bytes(data: Any) -> None:
    """Raise unless this may be a snapshot by its type."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"a snapshot is bytes, not {type(data).__name__}")


def require(header: dict[str, Any], what: str, wanted: Any) -> None:
    """Raise unless a snapshot says what it should."""
    if header.get(what) != wanted:
        raise SnapshotError(f"this is a snapshot of {what} {header.get(what)}, not of {wanted}")


def dump_objects(plan: Plan, objects: list[Any]) -> bytes:
    """Return the states of Python aggregates as bytes."""
    return _states.dumps(objects, state_functions(plan)[0])


def load_objects(plan: Plan, data: bytes) -> list[Any]:
    """Return the states of Python aggregates."""
    try:
        return _states.loads(data, state_functions(plan)[1])
    except ValueError as error:
        raise DamagedSnapshotError(str(error)) from None


def write(structure: str, plan: Plan, saved: tuple[bytes, bytes, bytes, list[Any]]) -> bytes:
    """Return the snapshot of what a core's ``_save`` gave."""
    *native, objects = saved
    buffers = [*native, dump_objects(plan, objects)]
    header = {"structure": structure, "aggregate": plan.signature}
    return pack(header, dict(zip(COLUMNS, buffers, strict=True)))


def load(window: Any, data: bytes) -> None:
    """Fill an empty window from its snapshot, or raise `SnapshotError` saying why it cannot be."""
    header, buffers = unpack(data, window._kind(), COLUMNS)
    require(header, "aggregate", window._plan.signature)
    *native, objects = buffers
    states = load_objects(window._plan, objects)
    # Python functions, given strange states, may raise anything. Native code raises only these;
    # anything else comes from a signal handler.
    native_only = window._plan.native
    damage = (ValueError, OverflowError, AssertionError) if native_only else Exception
    try:
        window._load(*native, states)
    except MemoryError:
        raise
    except damage as error:
        raise DamagedSnapshotError(f"the snapshot cannot be read: {error}") from error
