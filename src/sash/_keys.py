"""The keys of an operator: values of one or several columns to small numbers and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sash import _arrow, _core
from sash._stream_types import is_word
from sash._tables import Table

UNKNOWN = int(np.iinfo(np.uint32).max)
"""The number of no key."""
Ids = npt.NDArray[np.uint32]
Words = npt.NDArray[np.int64]


class _WordColumn:
    """Keys that are machine words themselves."""

    def __init__(self, name: str, kind: pa.DataType) -> None:
        self._name, self._kind = name, kind
        empty = pa.array([], kind)
        self._decode = _arrow.as_ordered(empty, name)[1]

    def words(self, column: pa.Array) -> Words:
        if pa.types.is_floating(column.type):
            wide = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
            return np.asarray(_arrow.one_zero(wide).view(np.int64))
        if column.type == pa.uint64():
            column = _arrow.as_ints(column, self._name)
        ordered, _ = _arrow.as_ordered(column, self._name)
        return np.ascontiguousarray(ordered.to_numpy(zero_copy_only=False), np.int64)

    def values(self, words: Words) -> pa.Array:
        if pa.types.is_floating(self._kind):
            return pa.array(words.view(np.float64)).cast(self._kind)
        return self._decode(pa.array(words)).cast(self._kind)

    def use(self, words: Words) -> None:
        """Nothing is kept."""

    def drop(self, words: Words) -> None:
        """Nothing is kept."""

    def sweep(self) -> None:
        """Nothing is kept."""


class _ValueColumn:
    """Keys of any other type: each value has a code while a key uses it."""

    def __init__(self, name: str, kind: pa.DataType) -> None:
        self._kind = kind
        self._codes: dict[Any, int] = {}
        self._values: list[Any] = []
        self._uses: list[int] = []
        self._free: list[int] = []
        if pa.types.is_nested(kind):
            raise TypeError(f"by: column {name!r} holds {kind}, which cannot be a key")

    def words(self, column: pa.Array) -> Words:
        encoded = column.dictionary_encode()
        codes = np.array([self._code(v) for v in encoded.dictionary.to_pylist()], np.int64)
        indices = encoded.indices.to_numpy(zero_copy_only=False)
        return codes[indices] if len(codes) else np.empty(0, np.int64)

    def _code(self, value: Any) -> int:
        code = self._codes.get(value)
        if code is None:
            if self._free:
                code = self._free.pop()
                self._values[code] = value
            else:
                code = len(self._values)
                self._values.append(value)
                self._uses.append(0)
            self._codes[value] = code
        return code

    def values(self, words: Words) -> pa.Array:
        return pa.array([self._values[w] for w in words.tolist()], self._kind)

    def use(self, words: Words) -> None:
        for code in words.tolist():
            self._uses[code] += 1

    def drop(self, words: Words) -> None:
        for code in words.tolist():
            self._uses[code] -= 1
            if self._uses[code] == 0:
                self._give_up(code)

    def sweep(self) -> None:
        """Give up the codes that no key uses."""
        for code in [c for c in self._codes.values() if self._uses[c] == 0]:
            self._give_up(code)

    def _give_up(self, code: int) -> None:
        del self._codes[self._values[code]]
        self._values[code] = None
        self._free.append(code)


class Keys:
    """The keys that are known now, by number."""

    def __init__(self, names: list[str], types: dict[str, pa.DataType]) -> None:
        self.names = names
        self.types = [types[n] for n in names]
        self._columns = [
            (_WordColumn if is_word(kind) else _ValueColumn)(name, kind)
            for name, kind in zip(names, self.types, strict=True)
        ]
        self._index = _core.KeyIndex(len(names))
        self._forgotten: list[pa.Table] = []
        """Since the last snapshot."""

    @property
    def room(self) -> int:
        """A bound of all numbers."""
        return self._index.room if self.names else 1

    def all(self) -> Ids:
        """Return the numbers of all keys."""
        return np.asarray(self._index.ids()) if self.names else np.empty(0, np.uint32)

    def ids(self, table: Table) -> tuple[Ids | None, Ids]:
        """Return the number of each row's key, and those that are new."""
        if not self.names:
            return None, np.empty(0, np.uint32)
        columns = []
        for name in self.names:
            column = table.column(name)
            if column.null_count:
                row = int(np.flatnonzero(~column.is_valid().to_numpy(zero_copy_only=False))[0])
                raise ValueError(
                    f"by: column {name!r} has {column.null_count} null keys, the first in row "
                    f"{row}: fill them in or filter them out"
                )
            columns.append(column)
        return self._find(columns)

    def _find(self, columns: list[pa.Array]) -> tuple[Ids, Ids]:
        try:
            words = [c.words(a) for c, a in zip(self._columns, columns, strict=True)]
        except BaseException:
            for c in self._columns:
                c.sweep()
            raise
        ids, fresh = map(np.asarray, self._index.find(words))
        if len(fresh):
            for i, column in enumerate(self._columns):
                column.use(np.asarray(self._index.words(fresh, i)))
        return ids, fresh

    def find(self, key: Any) -> int:
        """Return the number of a key; `UNKNOWN` if nothing of it is kept."""
        if not self.names:
            if key is not None:
                raise ValueError(
                    f"there are no keys (by= was not given), so ask for None, not {key!r}"
                )
            return 0
        if key is None:
            raise ValueError(f"which key? Give a value of {', '.join(self.names)}")
        several = len(self.names) > 1
        parts = key if several and isinstance(key, (tuple, list)) else (key,)
        if len(parts) != len(self.names):
            raise ValueError(
                f"a key has {len(self.names)} parts ({', '.join(self.names)}): {key!r}"
            )
        try:
            columns = [pa.array([p], t) for p, t in zip(parts, self.types, strict=True)]
        except (pa.ArrowException, TypeError, OverflowError) as error:
            kinds = ", ".join(map(str, self.types))
            raise TypeError(
                f"the key {key!r} is not of the type of its column ({kinds})"
            ) from error
        if any(c.null_count for c in columns):
            return UNKNOWN
        ids, fresh = self._find(columns)
        if len(fresh):
            self.forget(fresh)
            return UNKNOWN
        return int(ids[0])

    def columns(self, ids: Ids) -> dict[str, pa.Array]:
        """Return the values of keys by their numbers."""
        found = {}
        for i, (name, column) in enumerate(zip(self.names, self._columns, strict=True)):
            found[name] = column.values(np.asarray(self._index.words(ids, i)))
        return found

    def forget(self, ids: Ids, noted: bool = False) -> None:
        """Forget keys; their numbers may be given to others."""
        if not len(ids):
            return
        if noted:
            self._forgotten.append(self._named(ids))
        if not self.names:
            return
        for i, column in enumerate(self._columns):
            column.drop(np.asarray(self._index.words(ids, i)))
        self._index.forget(ids)

    # ---- snapshots -------------------------------------------------------------------------

    def save(self, ids: Ids) -> pa.Table:
        """Return keys as a table, with their numbers."""
        return pa.table({"number": pa.array(ids, pa.uint32()), **self._prefixed(ids)})

    def save_forgotten(self) -> pa.Table:
        """Return the keys forgotten since the last time."""
        return pa.concat_tables([self._named(np.empty(0, np.uint32)), *self._forgotten])

    def saved(self) -> None:
        """Begin to note forgotten keys anew."""
        self._forgotten = []

    def load(self, table: pa.Table) -> tuple[Ids, Ids]:
        """Take up the keys of a table: the numbers they had, and those they have here."""
        self._check(table, ("number", pa.uint32()))
        had = np.ascontiguousarray(table["number"].to_numpy(), np.uint32)
        if len(np.unique(had)) < len(had):
            raise ValueError("two of its keys have one number")
        if not self.names:
            return had, np.zeros(len(had), np.uint32)
        return had, self._find(self._arrays(table))[0]

    def load_forgotten(self, table: pa.Table) -> Ids:
        """Forget the keys of a table that are known: their numbers here."""
        self._check(table, *(() if self.names else [("number", pa.uint32())]))
        if not self.names:
            return np.zeros(min(table.num_rows, 1), np.uint32)
        if not table.num_rows:
            return np.empty(0, np.uint32)
        ids, fresh = self._find(self._arrays(table))
        ids = np.unique(ids)  # a key may have come and gone twice
        self.forget(ids)
        return np.setdiff1d(ids, fresh).astype(np.uint32)

    def _named(self, ids: Ids) -> pa.Table:
        """Return what tells these keys from others: their values, or the number of the only one."""
        return pa.table(self._prefixed(ids)) if self.names else self.save(ids)

    def _prefixed(self, ids: Ids) -> dict[str, pa.Array]:
        return {f"key {name}": column for name, column in self.columns(ids).items()}

    def _check(self, table: pa.Table, *others: tuple[str, pa.DataType]) -> None:
        ours = [(f"key {n}", kind) for n, kind in zip(self.names, self.types, strict=True)]
        if table.schema.remove_metadata() != pa.schema([*others, *ours]):
            raise ValueError("its keys are of other types")
        if any(column.null_count for column in table.columns):
            raise ValueError("some of its keys are null")

    def _arrays(self, table: pa.Table) -> list[pa.Array]:
        return [table[f"key {name}"].combine_chunks() for name in self.names]
