"""One job for each aggregate of a rolling call: which kernel runs it, on what, and what it gives.

An aggregate meets a column here: its type decides how values become machine words without loss, and
what type the result has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash import _arrow, _core
from sash._agg_ordered import BETWEEN, COUNTED, RANKED
from sash._aggregate import Aggregate
from sash._columns import to_words
from sash._compile import compile_live
from sash._rolling_results import finish_words, from_objects, in_row_order, lists_of
from sash._rolling_types import dtype_of, need_numbers, typed
from sash._slices import listed, taken
from sash._tables import Table

Order = Callable[[], Any]


@dataclass
class Job:
    """One kernel over one set of frames, for one aggregate or for several that share it."""

    outputs: list[str]
    kernel: str
    """What runs, in words."""
    why: str
    start: Callable[[_core.RollTask], _core.Roll | None]
    """Make the kernel; none: the frames' sizes are all it takes."""
    finish: Callable[[Any, Order], list[pa.Array]]
    """Make result columns of what the kernel gave; the order of rows may be asked for."""
    parallel: bool = True
    set_up: int = 0
    """What starting a part of the work costs, in rows."""


def jobs_of(aggregates: list[Aggregate], table: Table, arrival: bool) -> list[Job]:
    """Return the jobs of a call, those that can share a kernel together."""
    jobs: list[Job] = []
    ranked: dict[tuple[str, bool], list[Aggregate]] = {}
    for one in aggregates:
        if None in one.columns:
            raise ValueError(f"{one.name}: name its column, as in agg.{one.name}('price')")
        if one.name in RANKED and one.python is None:
            as_numbers = one.name != "rank" and one.ints[0] not in _VALUES
            ranked.setdefault((str(one.columns[0]), as_numbers), []).append(one)
        else:
            jobs.append(_job(one, table, arrival))
    jobs += [_rank_job(many, table, *key) for key, many in ranked.items()]
    return jobs


def _job(one: Aggregate, table: Table, arrival: bool) -> Job:
    columns = [table.column(c) for c in one.columns if c is not None]
    if one.python is not None:
        return _python_job(one, columns, _arrow.same)
    if one.name == "count" and not one.columns and not arrival:
        return _size_job(one, "rows are counted, none is read")
    if one.name == "count" and not arrival and columns and not columns[0].null_count:
        return _size_job(one, "no value is null, so rows are counted")
    if one.name in COUNTED:
        return _count_job(one, columns[0])
    if one.name in ("argmin", "argmax") and not arrival:
        return _place_job(one, columns)
    native, inputs, decode = typed(one, columns)
    if native.python is not None:
        return _python_job(native, inputs, decode)
    return _native_job(one, native, inputs, decode, arrival)


def _size_job(one: Aggregate, why: str) -> Job:
    return Job([one.output], "frame sizes", why, lambda _: None, lambda raw, _: [raw])


# ---- kernels -----------------------------------------------------------------------------------


def _native_job(
    one: Aggregate, native: Aggregate, inputs: list[pa.Array], decode: _arrow.Decode, arrival: bool
) -> Job:
    plan = compile_live(replace(native, columns=(None,) * len(native.columns)))
    cells = [to_words(inputs[c.source], c.code, repr(one.columns[c.source])) for c in plan.cells]
    output = plan.outputs[0]

    def start(task: _core.RollTask) -> _core.Roll:
        return _core.Roll.monoid(task, plan.spec, cells)

    def finish(raw: Any, _: Order) -> list[pa.Array]:
        words, valid = raw[0]
        return [finish_words(native, output.code, np.asarray(words), valid, decode)]

    kernel, why = "TwoStacksLite", "associative, frames move one way"
    if arrival:
        kernel, why = "FingerTree", "rows arrive late"
    return Job([one.output], kernel, why, start, finish)


def _place_job(one: Aggregate, columns: list[pa.Array]) -> Job:
    ordered, _ = _arrow.as_ordered(columns[0], one.columns[0] or "")
    integers = dtype_of(ordered) == "int"
    cells = [to_words(ordered, "i" if integers else "f", repr(one.columns[0]))]

    def start(task: _core.RollTask) -> _core.Roll:
        return _core.Roll.places(task, cells, one.name == "argmax", integers)

    def finish(raw: Any, _: Order) -> list[pa.Array]:
        words, there = raw[0]
        return [taken(columns[1], _arrow.from_words("i", np.asarray(words), there))]

    why = "associative, frames move one way"
    return Job([one.output], "TwoStacksLite", why, start, finish)


def _python_job(one: Aggregate, columns: list[pa.Array], decode: _arrow.Decode) -> Job:
    plan = compile_live(replace(one, columns=(None,) * len(one.columns)))
    values: pa.Array | None = None
    if one.result in ("list", "frozenset"):  # collect and distinct: of places, to lose nothing
        places, values = _arrow.positions(columns[0])[0], columns[0]
        if one.result == "frozenset":
            places, values = _arrow.codes_of(columns[0], one.columns[0] or "", ordered=True)
        columns = [places]
    lists = [listed(c) for c in columns]
    rows = lists[0] if len(lists) == 1 else list(zip(*lists, strict=True))

    def start(task: _core.RollTask) -> _core.Roll:
        return _core.Roll.monoid(task, plan.spec, rows)

    def finish(raw: Any, order: Order) -> list[pa.Array]:
        found = in_row_order(raw, order())
        if values is None:
            return [from_objects(one, found, decode)]
        if one.result == "frozenset":
            found = [None if p is None else sorted(p) for p in found]
        return [lists_of(found, values)]

    why = "its functions are Python's: one thread, under the GIL"
    return Job([one.output], "a structure over Python objects", why, start, finish, parallel=False)


# The ways to lie between two values that give one of them.
_VALUES = {BETWEEN.index(how) for how in ("lower", "higher", "nearest")}


def _rank_job(many: list[Aggregate], table: Table, name: str, as_numbers: bool) -> Job:
    """Answer all questions about one column that read it the same way."""
    column = table.column(name)
    asks = [(a.name == "rank", a.doubles[0] if a.doubles else 0.0, a.ints[0]) for a in many]
    discrete = [not rank and how in _VALUES for rank, _, how in asks]
    if as_numbers:
        need_numbers(many[0], column, name)
        if not pa.types.is_integer(column.type):
            column = _arrow.as_floats(column)
    ordered, decode = _arrow.as_ordered(column, name)
    if as_numbers and column.type == pa.uint64() and not _arrow.fits(column):
        ordered, decode = _arrow.as_floats(column), _arrow.same
    integers = dtype_of(ordered) == "int"
    words, valid = to_words(ordered, "i" if integers else "f", name)

    def start(task: _core.RollTask) -> _core.Roll:
        return _core.Roll.ranks(task, asks, integers, words, valid)

    def finish(raw: Any, _: Order) -> list[pa.Array]:
        code = "i" if integers else "f"
        found = []
        for (data, there), is_value in zip(raw, discrete, strict=True):
            column = _arrow.from_words(code if is_value else "f", np.asarray(data), there)
            found.append(decode(column) if is_value else column)
        return found

    why = "values are ranked a block at a time; each quantile is a finger among them"
    return Job([a.output for a in many], "order statistics", why, start, finish)


def _count_job(one: Aggregate, column: pa.Array) -> Job:
    mode = one.name == "mode"
    codes, values = _arrow.codes_of(column, one.columns[0] or "", ordered=mode)
    plain = codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)

    def start(task: _core.RollTask) -> _core.Roll:
        return _core.Roll.counts(task, plain, len(values), mode)

    def finish(raw: Any, _: Order) -> list[pa.Array]:
        words, there = raw[0]
        found = _arrow.from_words("i", np.asarray(words), there)
        return [taken(values, found) if mode else found]

    why = "each value's count is kept" + (", the most frequent by tournament" if mode else "")
    return Job([one.output], "value counts", why, start, finish, set_up=len(values))
