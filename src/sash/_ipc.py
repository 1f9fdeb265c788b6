"""Tables as bytes and back: Arrow's IPC stream format.

Bytes that are read may be damaged or made up. So a stream is looked at before Arrow makes arrays of
it: it must be whole, with nothing after its end, and plain. Compressed batches are refused, since a
few bytes could claim any amount of memory; and what comes out is validated in full before anything
follows its offsets.
"""

from __future__ import annotations

import struct

import pyarrow as pa

_END = b"\xff\xff\xff\xff\0\0\0\0"
_HEADER, _COMPRESSION = 2, 3
"""The numbers of these fields in Arrow's Message and RecordBatch."""


def to_bytes(table: pa.Table) -> bytes:
    """Return a table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def from_bytes(data: bytes | pa.Buffer) -> pa.Table:
    """Return the table, in the memory of the bytes; raise `ValueError` where there is none."""
    return table_of(*open_stream(data))


def open_stream(data: bytes | pa.Buffer) -> tuple[pa.Schema, list[pa.ipc.Message]]:
    """Return the schema of a stream, and its batches as they are."""
    try:
        schema, *batches = _messages(pa.py_buffer(data))
        if schema.type != "schema" or any(b.type != "record batch" for b in batches):
            raise ValueError("other parts than a schema and its rows")
        if any(map(_is_compressed, batches)):
            raise ValueError("its rows are compressed")
        return pa.ipc.read_schema(schema), batches
    except (pa.ArrowException, ValueError, OSError, struct.error, MemoryError) as error:
        raise ValueError(f"these bytes are no table ({error})") from None


def table_of(schema: pa.Schema, batches: list[pa.ipc.Message]) -> pa.Table:
    """Return the table that a stream is made of."""
    try:
        table = pa.Table.from_batches(
            [pa.ipc.read_record_batch(batch, schema) for batch in batches], schema
        )
        table.validate(full=True)
    except (pa.ArrowException, OSError, MemoryError) as error:
        raise ValueError(f"these bytes are no table ({error})") from None
    return table


def _messages(data: pa.Buffer) -> list[pa.ipc.Message]:
    source = pa.BufferReader(data)
    found, end = [], 0
    for message in pa.ipc.MessageReader.open_stream(source):
        found.append(message)
        end = source.tell()
    if bytes(memoryview(data)[end:]) != _END:
        raise ValueError("it is not one whole stream")
    return found


def _is_compressed(batch: pa.ipc.Message) -> bool:
    """Whether its header, a flatbuffer that Arrow has checked, names a compression."""
    data = memoryview(batch.metadata)
    header = _field(data, _reference(data, 0), _HEADER)
    return _field(data, _reference(data, header), _COMPRESSION) != 0


def _reference(data: memoryview, at: int) -> int:
    """Return the place that the place ``at`` refers to."""
    return at + int(struct.unpack_from("<I", data, at)[0])


def _field(data: memoryview, table: int, number: int) -> int:
    """Return the place of a table's field; 0: it is not there."""
    fields = table - struct.unpack_from("<i", data, table)[0]
    slot = 4 + 2 * number
    if slot >= struct.unpack_from("<H", data, fields)[0]:
        return 0
    offset = int(struct.unpack_from("<H", data, fields + slot)[0])
    return table + offset if offset else 0
