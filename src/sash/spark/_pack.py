"""Rows of a stream on their way to their shards, and results on their way back.

Rows travel in cells: Arrow data in one binary value, all rows of a worker for one shard together.
Spark then shuffles, sorts and hands over a few values instead of many rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sash._ipc import from_bytes, to_bytes
from sash._partials import OWN
from sash._tables import flat
from sash.spark._rows import stretches
from sash.spark._worker import calm, task_context

SHARD = f"{OWN}shard"
"""The column that says which shard a row goes to."""
CELLS = pa.schema(
    [("shard", pa.int32()), ("part", pa.int32()), ("number", pa.int32()), ("cell", pa.binary())]
)
"""A cell, the partition it comes from, and its number there."""
_MOST_ROWS, _CELL_BYTES = 1 << 20, 1 << 22


def labels_of(shards: int) -> list[int]:
    """Return what shards are called in Spark: numbers that its hash puts into different partitions.

    That is so where there are as many partitions as shards. The first one is called 0 whatever
    their number is, so that a checkpoint made with another number is found out.
    """
    found = {murmur3(0) % shards: 0}
    label = 0
    while len(found) < shards:
        label += 1
        found.setdefault(murmur3(label) % shards, label)
    return sorted(found.values())


def murmur3(value: int, seed: int = 42) -> int:
    """Return Spark's hash of a non-negative 32-bit integer."""
    mask = 0xFFFFFFFF

    def rotated(x: int, by: int) -> int:
        return ((x << by) | (x >> (32 - by))) & mask

    k = rotated(value * 0xCC9E2D51 & mask, 15) * 0x1B873593 & mask
    h = (rotated(seed ^ k, 13) * 5 + 0xE6546B64) & mask
    h ^= 4  # its length
    h = (h ^ (h >> 16)) * 0x85EBCA6B & mask
    h = (h ^ (h >> 13)) * 0xC2B2AE35 & mask
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


@dataclass
class Pack:
    """Rows to cells."""

    labels: list[int]
    __name__: str = "sash_pack"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pack the rows of a partition; the first one makes sure that the first shard is called."""
        context = task_context()
        part = 0 if context is None else context.partitionId()
        number, first_shard = 0, False
        for table in stretches(batches, _MOST_ROWS):
            for label, rows in self._spread(table):
                first_shard |= label == self.labels[0]
                yield _cell_row(label, part, number, to_bytes(rows))
                number += 1
        if part == 0 and not first_shard:
            yield _cell_row(self.labels[0], part, number, b"")
        calm("pack")

    def _spread(self, table: pa.Table) -> Iterator[tuple[int, pa.Table]]:
        """Yield the rows of each shard, in their order."""
        if SHARD not in table.column_names:
            yield from ((self.labels[0], rows) for rows in bearable(table))
            return
        small = np.uint16 if len(self.labels) <= 1 << 16 else np.uint32  # which sorts fastest
        places = flat(table.column(SHARD)).to_numpy().astype(small)
        order = np.argsort(places, kind="stable")
        table = table.drop_columns([SHARD]).take(pa.array(order))
        edges = np.searchsorted(places[order], np.arange(len(self.labels) + 1))
        for label, begin, end in zip(self.labels, edges[:-1], edges[1:], strict=True):
            if begin < end:
                rows = table.slice(int(begin), int(end - begin))
                yield from ((label, some) for some in bearable(rows))


def _cell_row(label: int, part: int, number: int, cell: bytes) -> pa.RecordBatch:
    values = [label], [part], [number], [cell]
    arrays = [pa.array(v, f.type) for v, f in zip(values, CELLS, strict=True)]
    return pa.record_batch(arrays, schema=CELLS)


def bearable(rows: pa.Table) -> Iterator[pa.Table]:
    """Yield rows as cells that Spark can sort and send."""
    each = max(1, _CELL_BYTES * rows.num_rows // max(1, rows.nbytes))
    for begin in range(0, rows.num_rows, each):
        yield rows.slice(begin, each)


@dataclass
class Unpack:
    """Cells of results to rows."""

    __name__: str = "sash_unpack"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of cells."""
        for batch in batches:
            for cell in batch.column(batch.schema.get_field_index("cell")):
                data = cell.as_buffer()
                if data is not None and data.size:
                    yield from from_bytes(data).to_batches()
        calm("unpack")
