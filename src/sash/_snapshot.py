"""Snapshots of windows: versioned, checked Arrow data. Loading one never runs code.

A snapshot is an Arrow IPC stream of one row. Its columns are the buffers that a structure's archive
is made of (``cpp/bindings/archive.hpp``): ``numbers``, ``times``, ``cells`` of native aggregates
and ``objects`` of Python ones. The schema's metadata says what it is a snapshot of; a checksum
covers everything.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

import pyarrow as pa

from sash import _states
from sash._compile import Plan

FORMAT = 1
COLUMNS = ("numbers", "times", "cells", "objects")
_KEY = b"sash"
BROKEN = (ValueError, TypeError, OSError, MemoryError, RecursionError)


class SnapshotError(ValueError):
    """Bytes that are not a snapshot of this structure and aggregate."""


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
        crc = zlib.crc32(buffer, crc)
    return crc


def pack(header: dict[str, Any], buffers: dict[str, bytes]) -> bytes:
    """Return a snapshot: what it says of itself, and its buffers by name."""
    header = {"format": FORMAT, **header}
    metadata = {_KEY: json.dumps({**header, "crc32": _checksum(header, list(buffers.values()))})}
    fields = [pa.field(name, pa.large_binary()) for name in buffers]
    arrays = [pa.array([b], pa.large_binary()) for b in buffers.values()]
    batch = pa.record_batch(arrays, schema=pa.schema(fields, metadata=metadata))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def unpack(
    data: bytes, structure: str, names: tuple[str, ...]
) -> tuple[dict[str, Any], list[bytes]]:
    """Return header and buffers, or raise `SnapshotError` saying why they are not to be had."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"a snapshot is bytes, not {type(data).__name__}")
    header, buffers = _open(data, names)
    crc = header.pop("crc32", None)
    if header.get("format") != FORMAT:
        raise SnapshotError(
            f"this snapshot has format {header.get('format')!r}; this version reads {FORMAT}"
        )
    if crc != _checksum(header, buffers):
        raise SnapshotError("the snapshot is damaged: its checksum differs")
    require(header, "structure", structure)
    return header, buffers


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
        raise SnapshotError(str(error)) from None


def write(structure: str, plan: Plan, saved: tuple[bytes, bytes, bytes, list[Any]]) -> bytes:
    """Return the snapshot of what a core's ``_save`` gave."""
    *native, objects = saved
    buffers = [*native, dump_objects(plan, objects)]
    header = {"structure": structure, "aggregate": plan.signature}
    return pack(header, dict(zip(COLUMNS, buffers, strict=True)))


def read(structure: str, plan: Plan, data: bytes) -> tuple[bytes, bytes, bytes, list[Any]]:
    """Return what ``_load`` takes, or raise `SnapshotError` saying why it is not to be had."""
    header, buffers = unpack(data, structure, COLUMNS)
    require(header, "aggregate", plan.signature)
    return buffers[0], buffers[1], buffers[2], load_objects(plan, buffers[3])


def _open(data: bytes, names: tuple[str, ...]) -> tuple[dict[str, Any], list[bytes]]:
    try:
        with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
            table = reader.read_all()
            table.validate(full=True)  # before anything follows its offsets
            header = json.loads((table.schema.metadata or {})[_KEY])
        if table.num_rows != 1 or tuple(table.column_names) != names:
            raise ValueError("other columns than a snapshot's")
        buffers = [table[name][0].as_py() for name in names]
        if not isinstance(header, dict) or not all(isinstance(b, bytes) for b in buffers):
            raise ValueError("other contents than a snapshot's")
    except (pa.ArrowException, LookupError, *BROKEN) as error:
        raise SnapshotError(f"these bytes are not a snapshot ({error})") from None
    return header, buffers
