"""Several aggregates over the columns of a stream: what the core is given, what its results are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sash import _arrow
from sash._aggregate import Aggregate
from sash._columns import to_words
from sash._compile import compile_live
from sash._rolling_results import finish_words, from_objects
from sash._stream_types import LISTS, same_kind, stream_typed

_WORDS = {"f": pa.float64(), "i": pa.int64(), "b": pa.bool_()}
Read = Callable[[str], pa.Array]


class StreamPlan:
    """Aggregates bound to the types of their columns."""

    def __init__(self, aggregates: Iterable[Aggregate], types: dict[str, pa.DataType]) -> None:
        self.aggregates = tuple(aggregates)
        readings = [
            self._reading(a, lambda name: pa.array([], types[name])) for a in self.aggregates
        ]
        self._typed = [native for native, _, _ in readings]
        self._decodes = [decode for _, _, decode in readings]
        self._inputs = [inputs[0].type if inputs else None for _, inputs, _ in readings]
        self._sources: dict[tuple[str, str], tuple[int, int]] = {}
        renamed = []
        for i, (native, inputs, _) in enumerate(readings):
            names = []
            for j, (column, array) in enumerate(zip(native.columns, inputs, strict=True)):
                source = (str(column), str(array.type))
                self._sources.setdefault(source, (i, j))
                names.append(" ".join(source))
            renamed.append(replace(native, columns=tuple(names), named=native.output))
        scalar = self._scalar(renamed)
        self.plan = compile_live(replace(renamed[0], columns=(None,)) if scalar else renamed)
        if not self.plan.native:  # wide results as the bytes they are
            renamed = [replace(a, finish=bytes) if self._wide(a) else a for a in renamed]
            self.plan = compile_live(renamed)
        self._kinds: list[pa.DataType | None] = [None] * len(renamed)

    @staticmethod
    def _scalar(many: list[Aggregate]) -> bool:
        one = many[0]
        if len(many) > 1 or one.python is not None or len(one.columns) != 1:
            return False
        return one.dtype in one.native and one.native[one.dtype].scalar

    @staticmethod
    def _wide(one: Aggregate) -> bool:
        return one.python is None and one.native[one.dtype].output == "B"

    @staticmethod
    def _reading(one: Aggregate, read: Read) -> tuple[Aggregate, list[pa.Array], _arrow.Decode]:
        return stream_typed(one, [read(c) for c in one.columns if c is not None])

    def columns(self, read: Read, rows: int) -> Any:
        """Return what the core reads: words, or a list of Python values."""
        readings = [self._reading(a, read) for a in self.aggregates]
        for bound, (now, _, _) in zip(self._typed, readings, strict=True):
            if not same_kind(bound, now):
                raise TypeError(f"{now.output}: values that do not fit in 64 bits; cast the column")
        arrays = [readings[i][1][j] for i, j in self._sources.values()]
        if self.plan.native:
            names = [column for column, _ in self._sources]
            return [
                to_words(arrays[c.source], c.code, repr(names[c.source])) for c in self.plan.cells
            ]
        lists = [a.to_pylist() for a in arrays]
        if len(lists) == 1:
            if pa.types.is_nested(arrays[0].type):  # a dict would be taken for a row
                (name,) = self.plan.sources
                return [{name: value} for value in lists[0]]
            return lists[0]
        return list(zip(*lists, strict=True)) if lists else [None] * rows

    def results(self, raw: Any) -> dict[str, pa.Array]:
        """Return the results as columns by name."""
        if self.plan.native:
            found = [
                finish_words(one, output.code, np.asarray(words), valid, decode)
                for one, output, decode, (words, valid) in zip(
                    self._typed, self.plan.outputs, self._decodes, raw, strict=True
                )
            ]
        else:
            single = len(self.aggregates) == 1
            parts = [raw] if single else list(zip(*raw, strict=True)) or [()] * len(self._typed)
            found = [self._objects(i, list(p)) for i, p in enumerate(parts)]
        return {a.output: column for a, column in zip(self.aggregates, found, strict=True)}

    def _objects(self, i: int, values: list[Any]) -> pa.Array:
        one = self._typed[i]
        if one.result == "frozenset":
            values = [None if v is None else sorted(v) for v in values]
        if one.name in LISTS:
            lists = pa.array(values, pa.list_(self._inputs[i]))
            items = self._decodes[i](lists.values)
            return pa.ListArray.from_arrays(lists.offsets, items, mask=lists.is_null())
        if self._wide(one):
            words, valid = _words_of(values)
            return finish_words(one, "B", words, valid, self._decodes[i])
        if one.python is None and (word := _WORDS.get(one.native[one.dtype].output)) is not None:
            return self._decodes[i](pa.array(values, word))
        column = from_objects(one, values, self._decodes[i])
        kind = self._kinds[i]
        if pa.types.is_null(column.type) and kind is not None:
            return column.cast(kind)
        self._kinds[i] = column.type
        return column


def _words_of(values: list[bytes | None]) -> tuple[npt.NDArray[np.uint64], Any]:
    """Return wide results that came as bytes as the words that they are, and which are there."""
    width = max((len(v) for v in values if v is not None), default=64)
    joined = b"".join(bytes(width) if v is None else v for v in values)
    words = np.frombuffer(joined, np.uint64).reshape(len(values), width // 8)
    valid = np.array([v is not None for v in values], np.uint8)
    return words, None if valid.all() else valid
