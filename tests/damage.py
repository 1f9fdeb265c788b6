"""Bytes as choices, and good bytes with damage that they choose."""

from __future__ import annotations

import struct
from typing import Any

from sash import _ipc, _snapshot

WORDS = [0, 1, 2, 3, 7, 8, 255, 1000, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
Header = dict[str, Any]
Buffers = dict[str, bytes]


class Choices:
    """Bytes as choices, as few for each as will do; after the last one all are 0."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def some(self, n: int) -> bytes:
        taken = self._data[self._at : self._at + n]
        self._at += len(taken)
        return taken

    def rest(self) -> bytes:
        return self.some(len(self._data))

    def below(self, n: int) -> int:
        width = ((n - 1).bit_length() + 7) // 8
        return int.from_bytes(self.some(width), "big") % n if n > 1 else 0

    def one_in(self, n: int) -> bool:
        return self.below(n) == n - 1  # not once the choices are used up

    def of(self, these: Any) -> Any:
        return these[self.below(len(these))]


def damaged(data: bytes, choices: Choices) -> bytes:
    """Return data with a few changes."""
    for _ in range(1 + choices.below(3)):
        kind, at = choices.below(6), choices.below(len(data) + 1)
        if kind == 0:
            at -= at % 8
            data = data[:at] + struct.pack("<Q", choices.of(WORDS)) + data[at + 8 :]
        elif kind == 1:
            fresh = choices.some(choices.below(16))
            data = data[:at] + fresh + data[at + len(fresh) :]
        elif kind == 2:
            data = data[:at]
        elif kind == 3:
            data = data[:at] + choices.some(choices.below(16)) + data[at:]
        elif kind == 4:
            data = data[:at] + data[at + choices.below(16) :]
        else:
            at -= at % 8
            word = struct.pack("<q", choices.below(16) - 8)
            data = data[:at] + word + data[at + 8 :]
    return data


def damaged_json(value: Any, choices: Choices) -> Any:
    """Return a value of JSON with one part of it another one."""
    if isinstance(value, dict) and value and not choices.one_in(4):
        key = choices.of(sorted(value))
        if choices.one_in(8):
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: damaged_json(value[key], choices)}
    if isinstance(value, list) and value and not choices.one_in(4):
        at = choices.below(len(value))
        return [*value[:at], damaged_json(value[at], choices), *value[at + 1 :]]
    text = choices.some(choices.below(8)).decode("latin-1")
    others = [None, True, choices.of(WORDS), -1, 0.5, text, [], {}, [text], {text: 1}, [[]], 1e300]
    return choices.of(others)


def unpacked(data: bytes, names: tuple[str, ...]) -> tuple[Header, Buffers]:
    schema, batches = _ipc.open_stream(data)
    header, buffers = _snapshot._header(schema), _snapshot._buffers(schema, batches, names)
    del header["crc32"], header["format"]
    return header, dict(zip(names, buffers, strict=True))


def packed(header: Header, buffers: Buffers, choices: Choices) -> bytes:
    """Return a snapshot with damage under a valid checksum; now and then the whole is damaged."""
    for _ in range(1 + choices.below(2)):
        name = choices.of(sorted(buffers))
        buffers = {**buffers, name: damaged(buffers[name], choices)}
    if choices.one_in(4):
        header = damaged_json(header, choices)
        header = header if isinstance(header, dict) else {}
    data = _snapshot.pack(header, buffers)
    return damaged(data, choices) if choices.one_in(8) else data
