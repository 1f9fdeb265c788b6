"""Tables as bytes and back: Arrow's IPC stream format."""

from __future__ import annotations

import pyarrow as pa


def to_bytes(table: pa.Table) -> bytes:
    """Return a table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def from_bytes(data: bytes) -> pa.Table:
    """Return the table, in the memory of the bytes."""
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_all()
