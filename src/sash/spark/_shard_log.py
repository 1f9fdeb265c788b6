"""What is kept of one shard in Spark's state store: a snapshot, and the changes made since.

Each micro-batch appends an entry with its changes, so that it costs its own rows and not what is
kept. When the changes outweigh the snapshot, a new snapshot takes the place of all entries: every
byte is written about twice over. The manifest says which entries there are. It carries the name of
the last one, drawn at random whenever an entry is made: attempts at the same micro-batch differ in
it, so that a worker can tell whether what it has in memory is what the store has.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from sash._snapshot import DamagedSnapshotError

FORMAT = 1
"""Of the manifest and the entries; snapshots have a format of their own."""
MANIFEST = "manifest string"
ENTRY_KEY, ENTRY = "entry bigint, piece int", "pieces int, data binary"
"""The schemas of the state variables. An entry is cut into pieces of a bearable size."""
PIECE = 1 << 22
LEAST_WEIGHT, LEAST_BASE = 1 << 14, 1 << 20
"""A small entry costs as much to read as one of this size; a small snapshot is not made anew."""
MOST_ENTRIES = 1 << 12


class CheckpointError(RuntimeError):
    """A checkpoint that this query cannot go on from."""


@dataclass
class Manifest:
    """Which entries there are, and what holds for the shard."""

    format: int
    shard: int
    """Which one this is."""
    shards: int
    """How many shards the keys were spread over."""
    query: dict[str, Any]
    """What was asked, as far as it can be said in JSON (see ``_state.py``)."""
    base: int = 0
    """The number of the snapshot; changes follow it."""
    last: int = -1
    """The number of the last entry."""
    name: str = ""
    """The name of the last entry."""
    base_bytes: int = 0
    weight: int = 0
    """Of the changes."""
    timer: int | None = None
    """When Spark is to call, in milliseconds."""


_NUMBERS = ("shard", "shards", "base", "last", "base_bytes", "weight")


def write_manifest(manifest: Manifest) -> str:
    """Return the manifest as text, with a checksum."""
    said = asdict(manifest)
    return json.dumps({**said, "crc32": _checksum(said)})


def read_manifest(text: str, shard: int) -> Manifest:
    """Return the manifest of a shard, or raise `CheckpointError` saying why it is not to be had."""
    try:
        found = json.loads(text)
        crc = found.pop("crc32", None)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise damaged(f"a manifest cannot be read ({error})") from None
    if found.get("format") != FORMAT:
        raise CheckpointError(
            f"this checkpoint has state of format {found.get('format')!r}, and this version of "
            f"Sash reads {FORMAT}: go on with the version that wrote it, or start anew with "
            "another checkpointLocation"
        )
    if crc != _checksum(found):
        raise damaged("the checksum of a manifest differs")
    return _manifest_of(found, shard)


def _manifest_of(found: dict[str, Any], shard: int) -> Manifest:
    """Return a manifest, of which nothing is known but that it is of this format."""
    try:
        manifest = Manifest(**found)
    except TypeError as error:
        raise damaged(f"a manifest has other parts than it should ({error})") from None
    numbers = [getattr(manifest, name) for name in _NUMBERS]
    if manifest.timer is not None:
        numbers.append(manifest.timer)
    if (
        not all(type(n) is int for n in numbers)
        or not isinstance(manifest.name, str)
        or not isinstance(manifest.query, dict)
        or not -1 <= manifest.base - 1 <= manifest.last <= manifest.base + MOST_ENTRIES
    ):
        raise damaged("a manifest says what it cannot say")
    if manifest.shard != shard:
        raise damaged(f"shard {shard} has the manifest of shard {manifest.shard}")
    return manifest


def _checksum(said: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(said, sort_keys=True).encode())


def damaged(what: str) -> CheckpointError:
    """Return the error to raise where a checkpoint is broken."""
    return CheckpointError(
        f"the checkpoint is damaged: {what}. Restore its files from a copy, or start anew with "
        "another checkpointLocation"
    )


def joined_pieces(number: int, piece: Callable[[tuple[int, int]], Any]) -> bytes:
    """Return an entry whole; ``piece`` gives by (number, i) how many there are, and piece i."""
    parts: list[bytes] = []
    pieces = 1
    while len(parts) < pieces:
        found = piece((number, len(parts)))
        if found is None:
            raise DamagedSnapshotError(f"piece {len(parts)} of entry {number} is missing")
        told, data = found
        fits = type(told) is int and (told == pieces or (not parts and told > 0))
        if not fits or not isinstance(data, (bytes, bytearray)):
            raise DamagedSnapshotError(f"the pieces of entry {number} do not belong together")
        pieces = told
        parts.append(bytes(data))
    return b"".join(parts)


class ShardLog:
    """The entries of the shard that Spark has at hand."""

    def __init__(self, shard: int, manifest: Any, entries: Any, timers: Any) -> None:
        """Take Spark's value state, its map state, and the handle that sets timers."""
        self.shard = shard
        self._manifest, self._entries, self._timers = manifest, entries, timers
        found = manifest.get()
        self.manifest = None if found is None else read_manifest(found[0], shard)

    def begin(self, shards: int, query: dict[str, Any]) -> None:
        """Start a shard that nothing is kept of."""
        self.manifest = Manifest(FORMAT, self.shard, shards, query)

    def entries(self, first: int) -> Iterator[bytes]:
        """Yield the entries from a number on."""
        assert self.manifest is not None
        for number in range(max(first, self.manifest.base), self.manifest.last + 1):
            yield joined_pieces(number, self._entries.getValue)

    def add(self, name: str, changes: bytes, all_of_it: Callable[[], bytes]) -> None:
        """Add an entry, of which the first is a snapshot; or, when it is time, make a new snapshot.

        ``all_of_it()`` is a snapshot under the same name as the changes.
        """
        m = self.manifest
        assert m is not None
        m.last += 1
        m.name = name
        weight = m.weight + max(len(changes), LEAST_WEIGHT)
        heavy = weight > max(m.base_bytes, LEAST_BASE) or m.last - m.base >= MOST_ENTRIES
        if m.last > 0 and not heavy:
            m.weight = weight
            self._write(m.last, changes)
            return
        snapshot = all_of_it() if m.last > 0 else changes
        self._entries.clear()
        m.base, m.base_bytes, m.weight = m.last, len(snapshot), 0
        self._write(m.base, snapshot)

    def _write(self, number: int, data: bytes) -> None:
        view = memoryview(data)
        pieces = max(1, -(-len(data) // PIECE))
        for i in range(pieces):
            part = bytes(view[i * PIECE : (i + 1) * PIECE])
            self._entries.updateValue((number, i), (pieces, part))

    def wake(self, timer: int | None, fired: bool) -> bool:
        """Have Spark call when the watermark passes a time; say whether that is news.

        ``fired``: this is such a call, and Spark takes the timer away by itself.
        """
        m = self.manifest
        assert m is not None
        if m.timer == timer:
            return False
        if m.timer is not None and not fired:
            self._timers.deleteTimer(m.timer)
        if timer is not None:
            self._timers.registerTimer(timer)
        m.timer = timer
        return True

    def save(self) -> None:
        """Write the manifest."""
        assert self.manifest is not None
        self._manifest.update((write_manifest(self.manifest),))
