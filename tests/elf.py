"""What a shared library of Linux says of itself: its segments, dynamic section and imports."""

from __future__ import annotations

import struct
from pathlib import Path

PT_LOAD, PT_DYNAMIC, PT_GNU_STACK, PT_GNU_RELRO = 1, 2, 0x6474E551, 0x6474E552
PF_X = 1
DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_TEXTREL, DT_BIND_NOW, DT_FLAGS = 5, 6, 10, 22, 24, 30
DT_FLAGS_1 = 0x6FFFFFFB
DF_BIND_NOW, DF_1_NOW = 8, 1


class Library:
    """A 64-bit little-endian ELF file."""

    def __init__(self, path: Path) -> None:
        self._data = path.read_bytes()
        if self._data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is not a 64-bit little-endian ELF file")
        (start,) = struct.unpack_from("<Q", self._data, 32)
        size, count = struct.unpack_from("<HH", self._data, 54)
        fields = [
            struct.unpack_from("<IIQQQQQQ", self._data, start + i * size) for i in range(count)
        ]
        self._segments = [(f[0], f[1], f[2], f[3], f[5]) for f in fields]
        self.flags: dict[int, int] = {kind: flags for kind, flags, *_ in self._segments}
        """The flags of the segments, by their types."""
        self.dynamic = self._dynamic()
        """The values of the dynamic section, by their tags."""

    def _dynamic(self) -> dict[int, int]:
        at, size = next((s[2], s[4]) for s in self._segments if s[0] == PT_DYNAMIC)
        entries = struct.iter_unpack("<QQ", self._data[at : at + size])
        return dict(entry for entry in entries if entry[0] != 0)  # the last of a tag

    def _place(self, address: int) -> int:
        """Return where in the file an address is."""
        for kind, _, offset, start, size in self._segments:
            if kind == PT_LOAD and start <= address < start + size:
                return offset + address - start
        raise ValueError(f"no segment holds address {address:#x}")

    def imports(self) -> set[str]:
        """Return the names of undefined symbols. The table of symbols ends where names begin."""
        names, at = self._place(self.dynamic[DT_STRTAB]), self._place(self.dynamic[DT_SYMTAB])
        symbols = struct.iter_unpack("<IBBHQQ", self._data[at : at + (names - at) // 24 * 24])
        undefined = [symbol[0] for symbol in symbols if symbol[3] == 0 and symbol[0]]
        return {self._name(names + name) for name in undefined}

    def _name(self, at: int) -> str:
        return self._data[at : self._data.index(b"\0", at)].decode()

    @property
    def binds_now(self) -> bool:
        """Whether all imports are resolved when the library is loaded."""
        return bool(
            DT_BIND_NOW in self.dynamic
            or self.dynamic.get(DT_FLAGS, 0) & DF_BIND_NOW
            or self.dynamic.get(DT_FLAGS_1, 0) & DF_1_NOW
        )
