"""Of the structures, the trees, windows by time, `FlatFat`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import sash
from bad_inputs.row import Bad, Hostile, HostileError, Liar, endless, nested, recursive
from sash import agg
from sash._snapshot import DamagedSnapshotError


def floats() -> Any:
    window = sash.DabaLite(agg.sum())
    window.insert_many([1.0, 2.0])
    return window


def ints() -> Any:
    window = sash.TwoStacksLite(agg.sum(dtype=int))
    window.insert_many([1, 2])
    return window


def named() -> Any:
    window = sash.Daba([agg.sum("price"), agg.max("size")])
    window.insert_many({"price": [1.0], "size": [2.0]})
    return window


def objects() -> Any:
    window = sash.TwoStacks(agg.max(dtype=object))
    window.insert_many(["a", "b"])
    return window


def tree() -> Any:
    window = sash.FingerTree(agg.sum())
    window.bulk_insert([1, 5], [1.0, 2.0])
    return window


def timed() -> Any:
    window = sash.TimedWindow(agg.sum())
    window.insert(1, 1.0)
    window.insert(5, 2.0)
    return window


def places() -> Any:
    return sash.FlatFat(agg.sum(), [1.0, 2.0])


def masked(values: list[Any]) -> Any:
    return np.ma.MaskedArray(values, mask=[False] * len(values))


MAKING = [
    Bad("no aggregate", lambda: sash.DabaLite([]), TypeError, "expected an aggregate"),
    Bad("aggregate None", lambda: sash.DabaLite(None), TypeError, "expected an aggregate"),
    Bad("aggregate by name", lambda: sash.DabaLite("max"), TypeError, "expected an aggregate"),
    Bad("aggregate not called", lambda: sash.DabaLite(agg.max), TypeError, "call it, as in max()"),
    Bad("the function max", lambda: sash.DabaLite([max]), TypeError, "call it"),
    Bad("twice", lambda: sash.DabaLite([agg.sum(), agg.sum()]), ValueError, "named 'sum'"),
    Bad("one without a name", lambda: sash.Daba([agg.sum("a"), agg.max()]), ValueError, "of all"),
    Bad("a median", lambda: sash.DabaLite(agg.median()), TypeError, "sash.rolling does"),
    Bad("hostile", lambda: sash.DabaLite(Hostile()), HostileError, "from within"),
    Bad(
        "without end", lambda: sash.Daba(agg.sum() for _ in endless()), ValueError, "at most 10000"
    ),
    Bad(
        "too big together",
        lambda: sash.Daba([agg.topk(2**20).alias(f"{i}") for i in range(9)]),
        ValueError,
        "take more than 67108864 bytes",
    ),
    Bad("subtract max", lambda: sash.SubtractOnEvict(agg.max()), TypeError, "not invertible"),
    Bad("subtract floats", lambda: sash.SubtractOnEvict(agg.sum()), TypeError, "drifts"),
    Bad("abstract", lambda: sash.structures.Window(agg.sum()), TypeError, "abstract"),
    Bad("leaf of 3", lambda: sash.FingerTree(agg.sum(), leaf=3), ValueError, "at least 4"),
    Bad("leaf of 10^9", lambda: sash.FingerTree(agg.sum(), leaf=10**9), ValueError, "4096"),
    Bad("fanout of text", lambda: sash.FingerTree(agg.sum(), fanout="8"), TypeError, "integer"),
    Bad("leaf of True", lambda: sash.FingerTree(agg.sum(), leaf=True), TypeError, "not True"),
    Bad("no places", lambda: sash.FlatFat(agg.sum(), []), ValueError, "at least one place"),
    Bad("places of a number", lambda: sash.FlatFat(agg.sum(), 5), TypeError, "column of values"),
    Bad("restore text", lambda: sash.Daba.restore("x", agg.sum()), TypeError, "bytes"),
    Bad("restore None", lambda: sash.Daba.restore(None, agg.sum()), TypeError, "bytes"),
    Bad(
        "restore nothing",
        lambda: sash.Daba.restore(b"", agg.sum()),
        DamagedSnapshotError,
        "snapshot",
    ),
    Bad(
        "restore another",
        lambda: sash.Daba.restore(floats().snapshot(), agg.sum()),
        sash.SnapshotError,
        "DabaLite",
    ),
    Bad(
        "restore with another aggregate",
        lambda: sash.DabaLite.restore(floats().snapshot(), agg.max()),
        sash.SnapshotError,
        "max",
    ),
    Bad(
        "restore one cut off",
        lambda: sash.DabaLite.restore(floats().snapshot()[:-9], agg.sum()),
        DamagedSnapshotError,
        "snapshot",
    ),
]
VALUES = [
    Bad("insert text", lambda w: w.insert("1"), TypeError, "expected a number", floats),
    Bad("insert a list", lambda w: w.insert([1.0]), TypeError, "expected a number", floats),
    Bad("insert complex", lambda w: w.insert(1j), TypeError, "expected a number", floats),
    Bad("insert bytes", lambda w: w.insert(b"1"), TypeError, "expected a number", floats),
    Bad("insert 10^400", lambda w: w.insert(10**400), OverflowError, "too large", floats),
    Bad("insert hostile", lambda w: w.insert(Hostile()), TypeError, "got <hostile>", floats),
    Bad("insert a half", lambda w: w.insert(1.5), TypeError, "expected an integer", ints),
    Bad("insert NaN", lambda w: w.insert(float("nan")), TypeError, "expected an integer", ints),
    Bad("insert 2^63", lambda w: w.insert(2**63), OverflowError, "64", ints),
    Bad("insert a NumPy float", lambda w: w.insert(np.float64(1)), TypeError, "integer", ints),
    Bad("insert nothing", lambda w: w.insert(), TypeError, "insert", floats),
    Bad("insert two", lambda w: w.insert(1.0, 2.0), TypeError, "insert", floats),
    Bad("many of text", lambda w: w.insert_many("123"), TypeError, "column of values", floats),
    Bad("many of a number", lambda w: w.insert_many(1.0), TypeError, "got float", floats),
    Bad("many of None", lambda w: w.insert_many(None), TypeError, "NoneType", floats),
    Bad("many in a table", lambda w: w.insert_many(np.ones((2, 2))), ValueError, "2", floats),
    Bad("many nested", lambda w: w.insert_many([[1.0]]), TypeError, "numbers", floats),
    Bad("many deep", lambda w: w.insert_many(nested(50)), TypeError, "nested more", floats),
    Bad("many of itself", lambda w: w.insert_many(recursive()), TypeError, "themselves", floats),
    Bad("many mixed", lambda w: w.insert_many([1.0, "a"]), TypeError, "types", floats),
    Bad("many strings", lambda w: w.insert_many(pa.array(["a"])), TypeError, "string", floats),
    Bad("many dates", lambda w: w.insert_many(np.zeros(1, "M8[s]")), TypeError, "num", floats),
    Bad("many masked", lambda w: w.insert_many(masked(["a"])), TypeError, "numbers", floats),
    Bad("many objects", lambda w: w.insert_many(np.array([{}])), TypeError, "objects", floats),
    Bad("many floats", lambda w: w.insert_many([1.5]), TypeError, "floats", ints),
    Bad("many too large", lambda w: w.insert_many([2**63]), OverflowError, "64-bit", ints),
    Bad("many unsigned", lambda w: w.insert_many(np.array([2**63], "u8")), OverflowError, "", ints),
    Bad("many hostile", lambda w: w.insert_many(Hostile()), HostileError, "within", floats),
    Bad("many of a liar", lambda w: w.insert_many(Liar(10**15, 3)), MemoryError, "", floats),
    Bad("a column missing", lambda w: w.insert_many({"price": [1.0]}), KeyError, "'size'", named),
    Bad(
        "unequal columns",
        lambda w: w.insert_many({"price": [1.0], "size": [1.0, 2.0]}),
        ValueError,
        "1 and 2 rows",
        named,
    ),
    Bad("a row missing a key", lambda w: w.insert({"price": 1.0}), KeyError, "size", named),
    Bad("a row too short", lambda w: w.insert((1.0,)), TypeError, "tuple of 2", named),
    Bad("a row of text", lambda w: w.insert("ab"), TypeError, "tuple of 2", named),
    Bad("not to be compared", lambda w: w.insert_many(["c", 5]), TypeError, "not supp", objects),
    Bad("evict too many", lambda w: w.evict_many(3), IndexError, "3 entries from a", floats),
    Bad("evict -1", lambda w: w.evict_many(-1), ValueError, "at least 0, not -1", floats),
    Bad("evict 1.0", lambda w: w.evict_many(1.0), TypeError, "integer, not 1.0", floats),
    Bad("evict True", lambda w: w.evict_many(True), TypeError, "integer, not True", floats),
    Bad("evict 2^63", lambda w: w.evict_many(2**63), ValueError, "below 2^63", floats),
    Bad("evict hostile", lambda w: w.evict_many(Hostile()), TypeError, "<hostile>", floats),
    Bad("slide by 0", lambda w: w.slide([1.0], 0), ValueError, "size must be at least 1", floats),
    Bad("slide by 1.5", lambda w: w.slide([1.0], 1.5), TypeError, "size must be an", floats),
    Bad("slide by None", lambda w: w.slide([1.0], None), TypeError, "not None", floats),
    Bad("slide by 2^64", lambda w: w.slide([1.0], 2**64), ValueError, "below 2^63", floats),
    Bad("slide text", lambda w: w.slide(["a"], 2), TypeError, "numbers", floats),
    Bad("pickled", lambda w: w.__reduce__(), TypeError, "snapshot()", floats),
]
TIMES = [
    Bad("time of text", lambda w: w.insert("1", 1.0), TypeError, "time", tree),
    Bad("time of None", lambda w: w.insert(None, 1.0), TypeError, "time", tree),
    Bad("time of 1.5", lambda w: w.insert(1.5, 1.0), TypeError, "time", tree),
    Bad("time of True", lambda w: w.insert(True, 1.0), TypeError, "time", tree),
    Bad("time of 2^63", lambda w: w.insert(2**63, 1.0), OverflowError, "64", tree),
    Bad("time hostile", lambda w: w.insert(Hostile(), 1.0), TypeError, "time", tree),
    Bad("value at a time", lambda w: w.insert(2, "a"), TypeError, "number", tree),
    Bad("bulk unequal", lambda w: w.bulk_insert([1], [1.0, 2.0]), ValueError, "1", tree),
    Bad("bulk of floats", lambda w: w.bulk_insert([1.5], [1.0]), TypeError, "time", tree),
    Bad("bulk of text", lambda w: w.bulk_insert(["1"], [1.0]), TypeError, "time", tree),
    Bad("bulk of null", lambda w: w.bulk_insert([None], [1.0]), TypeError, "time", tree),
    Bad("bulk of too large", lambda w: w.bulk_insert([2**63], [1.0]), OverflowError, "", tree),
    Bad("bulk of one number", lambda w: w.bulk_insert(1, 1.0), TypeError, "values", tree),
    Bad("bulk of bad values", lambda w: w.bulk_insert([1], ["a"]), TypeError, "numbers", tree),
    Bad("bulk hostile", lambda w: w.bulk_insert(Hostile(), [1.0]), HostileError, "", tree),
    Bad("evict a text", lambda w: w.evict("1"), TypeError, "time", tree),
    Bad("evict up to text", lambda w: w.bulk_evict("1"), TypeError, "time", tree),
    Bad("query of text", lambda w: w.query("a", "b"), TypeError, "time", tree),
    Bad("tree slide of none", lambda w: w.slide([1], [1.0]), TypeError, "size", tree),
    Bad("tree slide of both", lambda w: w.slide([1], [1.0], 2, rows=2), TypeError, "size", tree),
    Bad("tree slide by -1", lambda w: w.slide([1], [1.0], -1), ValueError, "at least 1", tree),
    Bad("back in time", lambda w: w.insert(4, 1.0), ValueError, "4", timed),
    Bad("timed at 1.5", lambda w: w.insert(6.5, 1.0), TypeError, "time", timed),
    Bad("timed at None", lambda w: w.insert(None, 1.0), TypeError, "time", timed),
    Bad("timed evict text", lambda w: w.bulk_evict("x"), TypeError, "time", timed),
    Bad("timed text", lambda w: w.insert(9, "x"), TypeError, "number", timed),
    Bad("place 2 of 2", lambda w: w.update({2: 1.0}), IndexError, "place 2 of 2", places),
    Bad("place -1", lambda w: w.update({-1: 1.0}), ValueError, "at least 0", places),
    Bad("place by text", lambda w: w.update({"0": 1.0}), TypeError, "integer, not '0'", places),
    Bad("place of text", lambda w: w.update({0: "x"}), TypeError, "number", places),
    Bad("prefix of 9", lambda w: w.prefix(9), IndexError, "place 9 of 2", places),
    Bad("suffix of None", lambda w: w.suffix(None), TypeError, "not None", places),
    Bad("changes of a number", lambda w: w.update(5), TypeError, "pairs", places),
    Bad("changes of text", lambda w: w.update("ab"), TypeError, "pairs", places),
]
ROWS = [*MAKING, *VALUES, *TIMES]
