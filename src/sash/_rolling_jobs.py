"""One job for each aggregate of a rolling call: which kernel runs it, on what, and what it gives.

An aggregate meets a column here: its type decides how values become machine words without loss, and
what type the result has.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash import _arrow, _core
from sash._agg_ordered import BETWEEN, COUNTED, RANKED
from sash._aggregate import Aggregate, PythonMonoid
from sash._columns import to_words
from sash._compile import Plan, compile_live
from sash._rolling_results import finish_words, from_objects
from sash._tables import Table

_SUMS = {"mean", "geomean", "variance", "stddev", "product", "relative_variation", "histogram"}
_EXTREMES = {"min", "max", "mincount", "maxcount", "topk", "range"}
_SELECTS = {"first", "last", "nth_youngest"}
_HASHED = {"bloom", "hll", "countmin"}
_TRUTHS = {"any", "all"}


@dataclass
class Job:
    """One kernel over one set of frames, for one aggregate or for several that share it."""

    outputs: list[str]
    kernel: str
    """What runs, in words."""
    why: str
    start: Callable[[_core.RollTask], _core.Roll | None]
    finish: Callable[[Any, Any], list[pa.Array]]
    """Make result columns of what the kernel gave; also told the order of rows."""
    parallel: bool = True
    counts_rows: bool = False


def jobs_of(aggregates: list[Aggregate], table: Table, arrival: bool) -> list[Job]:
    """Return the jobs of a call, those that can share a kernel together."""
    jobs: list[Job] = []
    ranked: dict[str, list[Aggregate]] = {}
    for one in aggregates:
        if one.name in RANKED and one.python is None:
            ranked.setdefault(_only_column(one), []).append(one)
        else:
            jobs.append(_job(one, table, arrival))
    jobs += [_rank_job(many, column, table) for column, many in ranked.items()]
    return jobs


def _only_column(one: Aggregate) -> str:
    column = one.columns[0]
    if column is None:
        raise ValueError(f"{one.name}: name its column, as in agg.{one.name}('price')")
    return column


def _job(one: Aggregate, table: Table, arrival: bool) -> Job:
    if one.name == "count" and not one.columns and not arrival:
        return Job([one.output], "frame sizes", "rows are counted, none is read", _nothing, _sizes,
                   counts_rows=True)
    if None in one.columns:
        raise ValueError(f"{one.name}: name its column, as in agg.{one.name}('price')")
    columns = [table.column(c) for c in one.columns if c is not None]
    if one.name == "count" and not arrival and columns and not columns[0].null_count:
        return Job([one.output], "frame sizes", "no value is null, so rows are counted", _nothing,
                   _sizes, counts_rows=True)
    if one.name in COUNTED and one.python is None:
        return _count_job(one, columns[0])
    if one.name in ("argmin", "argmax") and one.python is None and not arrival:
        return _place_job(one, columns)
    native, inputs, decode = _typed(one, columns)
    if native.python is not None:
        return _python_job(native, columns)
    return _native_job(one, native, inputs, decode, arrival)


def _nothing(_: _core.RollTask) -> None:
    return None


def _sizes(raw: Any, _: Any) -> list[pa.Array]:
    return [raw]


# ---- values become words -----------------------------------------------------------------------


def _typed(
    one: Aggregate, columns: list[pa.Array]
) -> tuple[Aggregate, list[pa.Array], _arrow.Decode]:
    """Return the aggregate for its columns' types, its inputs for it, and how results are read."""
    if one.python is not None:
        return one, columns, _arrow.same
    names = [c or "" for c in one.columns]
    if one.name == "sum":
        return _typed_sum(one, columns[0], names[0])
    if one.name in _SUMS:
        _need_numbers(one, columns[0], names[0])
        integers = pa.types.is_integer(columns[0].type) and "int" in one.native
        if integers and (columns[0].type != pa.uint64() or _arrow.fits(columns[0])):
            return replace(one, dtype="int"), [columns[0].cast(pa.int64())], _arrow.same
        return replace(one, dtype="float"), [_arrow.as_floats(columns[0])], _arrow.same
    if one.name in _EXTREMES:
        return _typed_extreme(one, columns[0], names[0])
    if one.name in _SELECTS:
        if pa.types.is_floating(columns[0].type) or pa.types.is_integer(columns[0].type):
            ordered, decode = _arrow.as_ordered(columns[0], names[0])
        else:
            ordered, decode = _arrow.positions(columns[0])
        return replace(one, dtype=_dtype(ordered)), [ordered], decode
    if one.name in ("argmin", "argmax"):
        ordered, _ = _arrow.as_ordered(columns[0], names[0])
        # The argument is the row's place: a null one is an answer too.
        places = pa.array(np.arange(len(columns[1]), dtype=np.int64))
        code = "f" if _dtype(ordered) == "float" else "i"
        natives = {
            kind: replace(native, op=f"{one.name}_{code}64", inputs=(code, "i"), output="i")
            for kind, native in one.native.items()
        }
        return replace(one, dtype=_dtype(ordered), native=natives), [ordered, places], columns[1].take
    if one.name == "m4":
        _need_numbers(one, columns[0], names[0])
        ordered, _ = _arrow.as_ordered(columns[0], names[0])
        if pa.types.is_decimal(columns[0].type):
            ordered = _arrow.as_floats(columns[0])
        if not _arrow.is_clock(columns[1].type) and not pa.types.is_integer(columns[1].type):
            raise TypeError(f"m4: column {names[1]!r} must hold times, not {columns[1].type}")
        times, decode = _arrow.as_ordered(columns[1], names[1])
        return replace(one, dtype=_dtype(ordered)), [ordered, times], decode
    if one.name in _TRUTHS:
        _need_numbers(one, columns[0], names[0])
        return one, [_truths(columns[0])], _arrow.same
    if one.name in _HASHED and not _hashable(columns[0].type):
        raise TypeError(f"{one.name}: column {names[0]!r} holds {columns[0].type}, not plain values")
    return one, columns, _arrow.same


def _dtype(column: pa.Array) -> str:
    return "float" if pa.types.is_floating(column.type) else "int"


def _truths(column: pa.Array) -> pa.Array:
    if pa.types.is_boolean(column.type):
        return column
    return _arrow.with_nulls(
        np.asarray(_arrow.as_floats(column).fill_null(0).to_numpy(zero_copy_only=False) != 0), column
    )


def _hashable(kind: pa.DataType) -> bool:
    return not pa.types.is_nested(kind)


def _need_numbers(one: Aggregate, column: pa.Array, name: str) -> None:
    if not _arrow.is_numeric(column.type):
        able = "min, max, first, last, count, count_distinct and mode take any type"
        raise TypeError(f"{one.name}: column {name!r} holds {column.type}, not numbers ({able})")


def _typed_sum(
    one: Aggregate, column: pa.Array, name: str
) -> tuple[Aggregate, list[pa.Array], _arrow.Decode]:
    kind = column.type
    integer = replace(one, dtype="int")
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return integer, [_arrow.as_ints(column, name)], _arrow.same
    if pa.types.is_duration(kind):
        return integer, [column.view(pa.int64())], _arrow.typed_view(kind)
    if pa.types.is_decimal(kind):
        whole = _arrow.unscaled(column)
        if whole is None:  # beyond 64 bits: exact all the same, on Python's decimals
            return replace(one, dtype="object", python=PythonMonoid(operator.add)), [column], _arrow.same
        decode = _arrow.to_decimals(pa.decimal128(38, kind.scale))
        return integer, [_arrow.with_nulls(whole, column)], decode
    _need_numbers(one, column, name)
    return replace(one, dtype="float"), [_arrow.as_floats(column)], _arrow.same


def _typed_extreme(
    one: Aggregate, column: pa.Array, name: str
) -> tuple[Aggregate, list[pa.Array], _arrow.Decode]:
    kind = column.type
    if one.name == "range":
        if _arrow.is_clock(kind) and pa.types.is_timestamp(kind):
            decode = _arrow.typed_view(pa.duration(kind.unit))
            return replace(one, dtype="int"), [column.view(pa.int64())], decode
        if not pa.types.is_duration(kind):
            _need_numbers(one, column, name)
    ordered, decode = _arrow.as_ordered(column, name)
    if one.name == "range" and pa.types.is_integer(kind):
        decode = _arrow.same  # the difference of small integers may need a wider one
    if one.name in ("mincount", "maxcount"):
        decode = _arrow.same
    return replace(one, dtype=_dtype(ordered)), [ordered], decode


# ---- kernels -----------------------------------------------------------------------------------


def _native_job(
    one: Aggregate, native: Aggregate, inputs: list[pa.Array], decode: _arrow.Decode, arrival: bool
) -> Job:
    plan = compile_live(replace(native, columns=(None,) * len(native.columns)))
    cells = [to_words(inputs[c.source], c.code, repr(one.columns[c.source])) for c in plan.cells]
    output = plan.outputs[0]

    def start(task: _core.RollTask) -> _core.Roll:
        return _core.Roll.monoid(task, plan.spec, cells)

    def finish(raw: Any, _: Any) -> list[pa.Array]:
        words, valid = raw[0]
        return [finish_words(native, output.code, np.asarray(words), valid, decode)]

    return Job([one.output], *_monoid_kernel(plan, arrival), start, finish)


def _place_job(one: Aggregate, columns: list[pa.Array]) -> Job:
    ordered, _ = _arrow.as_ordered(columns[0], one.columns[0] or "")
    integers = _dtype(ordered) == "int"
    cells = [to_words(ordered, "i" if integers else "f", repr(one.columns[0]))]

    def start(task: _core.RollTask) -> _core.Roll:
        return _core.Roll.places(task, cells, one.name == "argmax", integers)

    def finish(raw: Any, _: Any) -> list[pa.Array]:
        words, there = raw[0]
        return [columns[1].take(_arrow.from_words("i", np.asarray(words), there))]

    return Job([one.output], "TwoStacksLite", "associative, the row's place compiled in", start, finish)


def _monoid_kernel(plan: Plan, arrival: bool) -> tuple[str, str]:
    what = "compiled in" if plan.spec["kind"] == "scalar" else "a native record"
    if arrival:
        return "FingerTree", f"rows arrive late, {what}"
    return "TwoStacksLite", f"associative, frames move one way, {what}"


def _python_job(one: Aggregate, columns: list[pa.Array]) -> Job:
    plan = compile_live(replace(one, columns=(None,) * len(one.columns)))
    lists = [c.to_pylist() for c in columns]
    rows = lists[0] if len(lists) == 1 else list(zip(*lists, strict=True))

    def start(task: _core.RollTask) -> _core.Roll:
        return _core.Roll.monoid(task, plan.spec, rows)

    def finish(raw: Any, order: Any) -> list[pa.Array]:
        return [from_objects(one, raw, order, columns[0].type if columns else pa.null())]

    why = "its functions are Python's: one thread, under the GIL"
    return Job([one.output], "a structure over Python objects", why, start, finish, parallel=False)


def _rank_job(many: list[Aggregate], name: str, table: Table) -> Job:
    column = table.column(name)
    asks = [(a.name == "rank", a.doubles[0] if a.doubles else 0.0, a.ints[0]) for a in many]
    only_ranks = all(rank for rank, _, _ in asks)
    discrete = [not rank and BETWEEN[how] in ("lower", "higher", "nearest") for rank, _, how in asks]
    if not only_ranks and not all(discrete):
        _need_numbers(many[0], column, name)
    if pa.types.is_decimal(column.type) and not all(discrete):
        column = column.cast(pa.float64())
    ordered, decode = _arrow.as_ordered(column, name)
    integers = _dtype(ordered) == "int"
    words, valid = to_words(ordered, "i" if integers else "f", name)

    def start(task: _core.RollTask) -> _core.Roll:
        return _core.Roll.ranks(task, asks, integers, words, valid)

    def finish(raw: Any, _: Any) -> list[pa.Array]:
        code = "i" if integers else "f"
        found = []
        for (data, there), exact in zip(raw, discrete, strict=True):
            column = _arrow.from_words(code if exact else "f", np.asarray(data), there)
            found.append(decode(column) if exact else column)
        return found

    why = "values are ranked a block at a time; each quantile is a finger among them"
    return Job([a.output for a in many], "order statistics", why, start, finish)


def _count_job(one: Aggregate, column: pa.Array) -> Job:
    mode = one.name == "mode"
    codes, values = _arrow.codes_of(column, one.columns[0] or "", ordered=mode)
    plain = codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)

    def start(task: _core.RollTask) -> _core.Roll:
        return _core.Roll.counts(task, plain, len(values), mode)

    def finish(raw: Any, _: Any) -> list[pa.Array]:
        words, there = raw[0]
        found = _arrow.from_words("i", np.asarray(words), there)
        return [values.take(found) if mode else found]

    why = "each value's count is kept" + (", the most frequent by tournament" if mode else "")
    return Job([one.output], "value counts", why, start, finish)
