"""Snapshots with other contents, and processes of their own to read them in."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from patience import ONE_ALLOCATOR, finished

from sash import _snapshot


def repacked(data: bytes, change: dict[str, Any], **more: bytes) -> bytes:
    """A snapshot with other words in its header, and other columns, under a checksum that fits."""
    with pa.ipc.open_stream(data) as reader:
        table = reader.read_all()
    header = json.loads(table.schema.metadata[b"sash"])
    del header["crc32"]
    buffers = {n: table[n][0].as_py() for n in table.column_names}
    return _snapshot.pack({**header, **change}, {**buffers, **more})


def run(code: str, *arguments: str) -> str:
    """Return what a process of its own prints."""
    command = [sys.executable, "-c", code, *arguments]
    done = finished(command, cwd=Path(__file__).parent, **ONE_ALLOCATOR)
    assert done.returncode == 0, (done.returncode, done.stderr[-800:])
    return done.stdout.strip()
