"""Snapshots: what goes in comes out; anything else is refused with `SnapshotError`."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from cases import STRUCTURES, Case, agrees, named
from forging import run
from hypothesis import given
from hypothesis import strategies as st
from kinds import kinds_for

import sash
from sash import SnapshotError, TimedWindow, agg
from sash.structures import Window

SUM = agg.sum(dtype=int)
PAIRS = [(s, k) for s in STRUCTURES for k in kinds_for(s)]


def filled(structure: type[Window], aggregate: Any = SUM, n: int = 20) -> Window:
    window = structure(aggregate)
    for i in range(n):
        window.insert(i)
        if i % 3 == 0:
            window.evict()
    return window


@pytest.mark.parametrize(("structure", "kind"), PAIRS, ids=named)
def test_the_restored_window_goes_on_as_the_old_one(structure: type[Window], kind: Case) -> None:
    for n in (0, 1, 5, 40):
        values = [None if i % 7 == 3 else i for i in range(n)]
        if kind.name == "max-float":
            values = [None if v is None else float(v) for v in values]
        window = structure(kind.aggregate)
        for i, value in enumerate(values):
            window.insert(value)
            if i % 3 == 0:
                window.evict()
        twin = structure.restore(window.snapshot(), kind.aggregate)
        assert twin.snapshot() == window.snapshot() or structure is sash.FlatFit
        for step in range(2 * n + 5):
            for each in (window, twin):
                each.insert(values[step % n] if n else None)
                if step % 2:
                    each.evict()
                each.check_invariants()
            assert repr(window.query()) == repr(twin.query())


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_cut_short(structure: type[Window]) -> None:
    data = filled(structure).snapshot()
    for length in [*range(0, len(data), 11), len(data) - 8, len(data) - 1]:
        with pytest.raises(SnapshotError):
            structure.restore(data[:length], SUM)


FLIPS = """
import sash
from test_snapshots import STRUCTURES, SUM, filled
for start, structure in enumerate(STRUCTURES):
    data = filled(structure).snapshot()
    for bit in range(start, 8 * len(data), 17):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << (bit % 8)
        try:
            restored = structure.restore(bytes(damaged), SUM)
        except sash.SnapshotError:
            continue
        assert restored.snapshot() == data, bit  # a bit of padding: nothing was lost
print("whole")
"""


def test_one_bit_off() -> None:
    """In a process of its own, which must not end before it is through."""
    assert run(FLIPS) == "whole"


@pytest.mark.parametrize("data", [b"", b"sash", bytes(500), "text", None, 5, bytearray(b"x")])
def test_not_a_snapshot(data: Any) -> None:
    with pytest.raises((SnapshotError, TypeError)):
        sash.DabaLite.restore(data, SUM)


def test_of_another_structure() -> None:
    for one in STRUCTURES:
        for other in STRUCTURES:
            if one is not other:
                with pytest.raises(SnapshotError, match=f"structure {one.__name__}"):
                    other.restore(filled(one).snapshot(), SUM)
    with pytest.raises(SnapshotError, match="structure DabaLite, not of TimedDabaLite"):
        TimedWindow.restore(filled(sash.DabaLite).snapshot(), SUM)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SUM, agg.sum()),
        (SUM, agg.max(dtype=int)),
        (SUM, [SUM, agg.count()]),
        (agg.topk(2), agg.topk(3)),
        (agg.topk(2), agg.topk(2, smallest=True)),
        (agg.bloom(bits=64), agg.bloom(bits=128)),
        (agg.histogram([0.0, 1.0]), agg.histogram([0.0, 2.0])),
        (agg.variance(ddof=0), agg.variance(ddof=1)),
        (agg.collect(), agg.concat()),
        (agg.concat(), agg.concat(separator=",")),
        (sash.monoid(max, name="a"), sash.monoid(max, name="b")),
        (agg.argmax(argument_dtype=int), agg.argmax(argument_dtype=float)),
    ],
    ids=repr,
)
def test_of_another_aggregate(one: Any, other: Any) -> None:
    data = sash.DabaLite(one).snapshot()
    with pytest.raises(SnapshotError, match="snapshot of aggregate"):
        sash.DabaLite.restore(data, other)


def test_of_another_format() -> None:
    data = filled(sash.DabaLite).snapshot()
    assert data.count(b'"format": 1') == 1
    with pytest.raises(SnapshotError, match="format 9; this version reads 1"):
        sash.DabaLite.restore(data.replace(b'"format": 1', b'"format": 9'), SUM)


def test_other_arrow_streams() -> None:
    for table in (
        pa.table({"x": [1]}),
        pa.table({"numbers": [b""], "times": [b""], "cells": [b""], "objects": [b""]}),
        pa.table({"x": [1]}).replace_schema_metadata({"sash": "{}"}),
        pa.table({"x": [1]}).replace_schema_metadata({"sash": "[1"}),
        pa.table({"x": [1]}).replace_schema_metadata({"sash": "[" * 100_000}),
    ):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        with pytest.raises(SnapshotError):
            sash.DabaLite.restore(sink.getvalue().to_pybytes(), SUM)


STATES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.decimals(allow_nan=False)
    | st.fractions(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
        | st.frozensets(st.integers() | st.text(max_size=2) | st.tuples(st.integers()), max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(STATES, max_size=5))
def test_python_states(values: list[Any]) -> None:
    pairs = sash.monoid(lambda a, b: (a, b), lift=lambda v: [v])
    for structure in (sash.TwoStacksLite, sash.ReactiveAggregator):
        window = structure(pairs)
        for value in values:
            window.insert(value)
        restored = structure.restore(window.snapshot(), pairs)
        assert agrees(restored.query(), window.query())
        assert in_order(restored.query()) == in_order(window.query())


def in_order(value: Any) -> str:
    """The repr of a value, types and all, with sets in one order."""
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__}({sorted(map(in_order, value))})"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({[in_order(v) for v in value]})"
    if isinstance(value, dict):
        return f"dict({sorted((in_order(k), in_order(v)) for k, v in value.items())})"
    return repr(value)


def test_special_states() -> None:
    last = sash.monoid(lambda a, b: b)
    for value in (
        math.nan,
        -0.0,
        math.inf,
        Decimal("NaN"),
        Decimal("1E+5"),
        Fraction(1, 3),
        {1, 2},
    ):
        window = sash.DabaLite(last)
        window.insert(value)
        assert repr(sash.DabaLite.restore(window.snapshot(), last).query()) == repr(value)


def test_long_integers() -> None:
    window = sash.DabaLite(agg.product(dtype=object))
    window.insert_many([10**3000, 10**3000])
    restored = sash.DabaLite.restore(window.snapshot(), agg.product(dtype=object))
    assert restored.query() == 10**6000


class Point:
    def __init__(self, x: int) -> None:
        self.x = x


@pytest.mark.parametrize("lift", [Point, lambda v: (Point(v),), lambda v: {"p": [Point(v)]}])
def test_states_that_are_no_plain_data(lift: Any) -> None:
    window = sash.DabaLite(sash.monoid(lambda a, b: b, lift=lift))
    window.insert(1)
    with pytest.raises(
        TypeError, match="Point is not plain data: give the monoid a dump and a load"
    ):
        window.snapshot()
    assert len(window) == 1


def test_dump_and_load() -> None:
    points = sash.monoid(
        lambda a, b: Point(a.x + b.x),
        lift=Point,
        lower=lambda p: p.x,
        dump=lambda p: str(p.x).encode(),
        load=lambda data: Point(int(data)),
    )
    window = filled(sash.DabaLite, points)
    assert sash.DabaLite.restore(window.snapshot(), points).query() == window.query()


@pytest.mark.parametrize("column", [None, "x"])
def test_quantiles(column: str | None) -> None:
    aggregate = agg.quantiles(0.5, column)
    window = sash.DabaLite(aggregate)
    window.insert_many({"x": [1.0, 2.0, 3.0]} if column else [1.0, 2.0, 3.0])
    assert sash.DabaLite.restore(window.snapshot(), aggregate).query() == 2.0


def test_mixed_products_with_nulls() -> None:
    mixed = [agg.sum("x"), sash.monoid(max, name="longest", column="y")]
    window = sash.DabaLite(mixed)
    window.insert({"x": 1.0, "y": None})
    restored = sash.DabaLite.restore(window.snapshot(), mixed)
    restored.insert({"x": None, "y": 5})
    assert restored.query() == (1.0, 5)


def test_mixed_products_with_dump_and_load() -> None:
    mixed = [agg.count(), agg.quantiles(0.5)]
    window = sash.DabaLite(mixed)
    window.insert_many([1.0, 2.0, 3.0])
    assert sash.DabaLite.restore(window.snapshot(), mixed).query() == (3, 2.0)
