"""Aggregates to something that runs: the spec the core parses (see ``cpp/bindings/spec.hpp``).

One scalar aggregate over plain values is compiled into the structure. Several, or ones that read
named columns, run as one native record. As soon as one of them works on Python objects, all do: the
native ones then keep their states as bytes. So do they where they read more than a record can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from sash import _core
from sash._aggregate import Aggregate, Native, PythonMonoid, repeated

AggregateLike = Aggregate | Iterable[Aggregate]
MOST_AGGREGATES = 10_000
MOST_RECORD = 1 << 26
"""The bytes of the state of several aggregates."""
MOST_CELLS = 62
"""The inputs that one native record reads; aggregates with more of them run on Python objects."""


@dataclass(frozen=True)
class Cell:
    """One input of the native core: which source it is read from, and as what."""

    source: int
    code: str


@dataclass(frozen=True)
class Output:
    """One result: its name, its code (``O`` for Python objects) and what finishes its bytes."""

    name: str
    code: str
    finish: Callable[[bytes], Any] | None = None


@dataclass(frozen=True)
class Plan:
    """Aggregates ready to run: the core's spec, and how values reach and leave it."""

    spec: dict[str, Any]
    aggregates: tuple[Aggregate, ...]
    single: bool
    sources: tuple[str | None, ...]
    cells: tuple[Cell, ...]
    outputs: tuple[Output, ...]

    @property
    def native(self) -> bool:
        """Whether it runs without Python objects."""
        return bool(self.spec["kind"] != "python")

    @property
    def signature(self) -> str:
        """What a snapshot must agree with."""
        return "|".join(a.signature() for a in self.aggregates)

    @property
    def label(self) -> str:
        """The aggregates as a reader would name them."""
        return ", ".join(a.output for a in self.aggregates)


def aggregates_of(what: AggregateLike) -> tuple[tuple[Aggregate, ...], bool]:
    """Return the aggregates as a tuple, and whether one was given by itself."""
    if isinstance(what, Aggregate):
        return (what,), True
    if callable(what):
        hint = getattr(what, "__name__", "it")
        raise TypeError(f"expected an aggregate, got the function {hint}: call it, as in {hint}()")
    try:
        many = tuple(islice(what, MOST_AGGREGATES + 1))
    except TypeError:
        many = ()
    if len(many) > MOST_AGGREGATES:
        raise ValueError(f"at most {MOST_AGGREGATES} aggregates can be computed in one call")
    for one in many:
        if callable(one) and not isinstance(one, Aggregate):
            hint = getattr(one, "__name__", "it")
            raise TypeError(
                f"expected an aggregate, got the function {hint}: call it, as in {hint}()"
            )
    if not many or not all(isinstance(a, Aggregate) for a in many):
        raise TypeError(f"expected an aggregate such as agg.sum(), or a list of them, not {what!r}")
    if (twice := repeated(a.output for a in many)) is not None:
        raise ValueError(f"two aggregates are named {twice!r}: give one an alias()")
    return many, False


def compile_live(what: AggregateLike) -> Plan:
    """Plan aggregates for a live window, fed one value or one row at a time."""
    many, single = aggregates_of(what)
    sources, places = _sources(many)
    outputs = tuple(_output(a) for a in many)
    natives = [_native(a) for a in many]
    if single and natives[0] is not None and natives[0].scalar and many[0].columns == (None,):
        spec, cells = _scalar(many[0], natives[0])
    elif None in natives:
        spec, cells = _python(many, places, len(sources)), ()
    else:
        spec, cells = _record(many, natives, places, sources, single)  # type: ignore[arg-type]
        _refuse_big_states(many)
        if len(cells) > MOST_CELLS:
            spec, cells = _python(many, places, len(sources)), ()
    return Plan(spec, many, single, sources, cells, outputs)


def _refuse_big_states(many: tuple[Aggregate, ...]) -> None:
    """Raise where one state of all the aggregates would be too much to keep many of."""
    wide = [a for a in many if a.ints or a.doubles]
    if len(wide) > 1:  # one alone has its own limits
        room = MOST_RECORD
        for one in wide:
            room -= len(functions_of(one).identity)
            if room < 0:
                raise ValueError(
                    f"the states of these {len(wide)} sketches, histograms or lists take more than "
                    f"{MOST_RECORD} bytes, and a window keeps many: use fewer or smaller ones"
                )


def _native(aggregate: Aggregate) -> Native | None:
    if aggregate.python is not None:
        return None
    if not aggregate.native:
        raise TypeError(
            f"{aggregate.name} needs all values of a window, in order or counted: no structure "
            "keeps them, sash.rolling does"
        )
    return aggregate.native[aggregate.dtype]


def _output(aggregate: Aggregate) -> Output:
    native = _native(aggregate)
    return Output(aggregate.output, native.output if native else "O", aggregate.finish)


def _sources(many: tuple[Aggregate, ...]) -> tuple[tuple[str | None, ...], list[tuple[int, ...]]]:
    """Return what a row is made of, and for each aggregate the places of its inputs in it."""
    named = [c for a in many for c in a.columns if c is not None]
    unnamed = [a for a in many for c in a.columns if c is None]
    if named and unnamed:
        raise ValueError(f"{unnamed[0].name}: name the columns of all aggregates, or of none")
    if named:
        sources: tuple[str | None, ...] = tuple(dict.fromkeys(named))
        at = {source: place for place, source in enumerate(sources)}
        return sources, [tuple(at[c] for c in a.columns) for a in many]
    widest = max((len(a.columns) for a in many), default=0)
    return (None,) * widest, [tuple(range(len(a.columns))) for a in many]


def _scalar(aggregate: Aggregate, native: Native) -> tuple[dict[str, Any], tuple[Cell, ...]]:
    spec = {
        "kind": "scalar",
        "name": native.op,
        "ints": list(aggregate.ints),
        "doubles": list(aggregate.doubles),
        "in": native.inputs[0],
        "out": native.output,
    }
    return spec, (Cell(0, native.inputs[0]),)


def _record(
    many: tuple[Aggregate, ...],
    natives: list[Native],
    places: list[tuple[int, ...]],
    sources: tuple[str | None, ...],
    single: bool,
) -> tuple[dict[str, Any], tuple[Cell, ...]]:
    cells: dict[Cell, int] = {}
    components = []
    for aggregate, native, at in zip(many, natives, places, strict=True):
        read = [-1, -1]
        for i, (source, code) in enumerate(zip(at, native.inputs, strict=True)):
            read[i] = cells.setdefault(Cell(source, code), len(cells))
        components.append((native.op, list(aggregate.ints), list(aggregate.doubles), *read))
    spec = {
        "kind": "record",
        "components": components,
        "cells": [(c.source, c.code) for c in cells],
        "sources": list(sources),
        "outs": [(n.output, a.finish) for a, n in zip(many, natives, strict=True)],
        "single": single,
    }
    return spec, tuple(cells)


def _python(
    many: tuple[Aggregate, ...], places: list[tuple[int, ...]], width: int
) -> dict[str, Any]:
    laws = [a.laws for a in many]
    if len(many) == 1 and many[0].columns == (None,):
        functions = functions_of(many[0])
    elif len(many) == 1 and len(many[0].columns) == 1:
        functions = _of_column(functions_of(many[0]), many[0].columns[0])
    else:
        functions = _product(many, places, width)
    return {
        "kind": "python",
        "lift": functions.lift,
        "combine": functions.combine,
        "lower": functions.lower,
        "identity": functions.identity,
        "inverse": functions.inverse,
        "commutative": all(law.commutative for law in laws),
        "skip_nulls": functions.skip_nulls,
    }


def functions_of(aggregate: Aggregate) -> PythonMonoid:
    """Return the aggregate as Python functions; native ones keep their states as bytes."""
    if aggregate.python is not None:
        return aggregate.python
    native = aggregate.native[aggregate.dtype]
    nameless = (None,) * len(aggregate.columns)
    spec, _ = _record((aggregate,), [native], [tuple(range(len(nameless)))], nameless, True)
    core = _core.BytesMonoid(spec)
    return PythonMonoid(core.combine, core.lift, core.lower, core.identity(), skip_nulls=False)


def _of_column(part: PythonMonoid, column: str | None) -> PythonMonoid:
    """Return the monoid reading one column of rows given as dicts, or plain values."""

    def lift(row: Any) -> Any:
        value = row[column] if isinstance(row, dict) else row
        return _lift_one(part, [value])

    return replace(part, lift=lift, skip_nulls=False)


_EMPTY = ...  # the state of a component that has seen only nulls


def _product(
    many: tuple[Aggregate, ...], places: list[tuple[int, ...]], width: int
) -> PythonMonoid:
    """Return aggregates as one that reads rows: states are tuples of theirs."""
    parts = [functions_of(a) for a in many]
    names = [c for a in many for c in a.columns]
    columns = list(dict.fromkeys(n for n in names if n is not None))

    def cells(row: Any) -> tuple[Any, ...]:
        if isinstance(row, dict) and columns:
            return tuple(row[c] for c in columns)
        if width == 1:
            return (row,)
        if not isinstance(row, tuple) or len(row) != width:
            wanted = ", ".join(columns) or "values"
            raise TypeError(
                f"expected a tuple of {width} values ({wanted}) or a dict of them, got {row!r}"
            )
        return row

    def lift(row: Any) -> tuple[Any, ...]:
        values = cells(row)
        return tuple(
            _lift_one(part, [values[p] for p in at]) for part, at in zip(parts, places, strict=True)
        )

    def combine(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(_combine_one(p, x, y) for p, x, y in zip(parts, a, b, strict=True))

    def lower(state: tuple[Any, ...]) -> Any:
        out = tuple(_lower_one(p, s) for p, s in zip(parts, state, strict=True))
        return out if len(many) > 1 else out[0]

    def inverse(state: tuple[Any, ...], entry: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(_remove_one(p, s, e) for p, s, e in zip(parts, state, entry, strict=True))

    identity = tuple(_EMPTY if p.identity is None else p.identity for p in parts)
    invertible = all(p.inverse is not None for p in parts)
    return PythonMonoid(
        combine, lift, lower, identity, inverse if invertible else None, skip_nulls=False
    )


def _remove_one(part: PythonMonoid, state: Any, entry: Any) -> Any:
    assert part.inverse is not None
    return state if entry is _EMPTY else part.inverse(state, entry)


def _lift_one(part: PythonMonoid, values: list[Any]) -> Any:
    if part.skip_nulls and values and values[0] is None:
        return _EMPTY if part.identity is None else part.identity
    value = values[0] if len(values) == 1 else tuple(values) if values else None
    return value if part.lift is None else part.lift(value)


def _combine_one(part: PythonMonoid, a: Any, b: Any) -> Any:
    if a is _EMPTY or b is _EMPTY:
        return b if a is _EMPTY else a
    return part.combine(a, b)


def _lower_one(part: PythonMonoid, state: Any) -> Any:
    if state is _EMPTY:
        return None
    return state if part.lower is None else part.lower(state)
