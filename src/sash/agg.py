"""The aggregates: what is computed over a window.

Each function returns a description (:class:`~sash.Aggregate`) that any structure can run. The
``column`` names what to read in tables and in rows given as dicts; a window fed plain values needs
none. ``dtype`` says what the values are: ``float`` (the default), ``int`` (exact, an overflow is an
error), or ``object`` for any Python values, where that makes sense.

Nulls (``None``) are skipped. An empty window gives ``None``; counts give 0. NaN is greater than
every number, and a sum it is part of is NaN until it leaves the window.
"""

from __future__ import annotations

import heapq
import itertools
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sash._agg_ordered import count_distinct, median, mode, quantile, rank
from sash._agg_sketches import bloom, countmin, hll, quantiles
from sash._aggregate import Aggregate, Laws, Native, PythonMonoid, dtype_name
from sash._define import (
    FLOAT_SUM,
    MAX_LIKE,
    ORDERED,
    SUM_LIKE,
    define,
    float_and_int,
    numbers,
    positive,
)
from sash._recipe import remembering

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "bloom",
    "collect",
    "concat",
    "count",
    "count_distinct",
    "countmin",
    "distinct",
    "first",
    "geomean",
    "histogram",
    "hll",
    "last",
    "m4",
    "max",
    "maxcount",
    "mean",
    "median",
    "min",
    "mincount",
    "mode",
    "nth_youngest",
    "product",
    "quantile",
    "quantiles",
    "range",
    "rank",
    "relative_variation",
    "stddev",
    "sum",
    "topk",
    "variance",
    "weighted_mean",
]

_range, _min, _max = range, min, max  # the built-ins, before ours take their names

# ---- sums and counts ---------------------------------------------------------------------------


def count(column: str | None = None) -> Aggregate:
    """Count rows, or the rows whose ``column`` is not null. Result: int64.

    >>> import sash
    >>> window = sash.TwoStacksLite(count())
    >>> window.insert_many([1.0, None, 3.0])
    >>> window.query()
    3
    """
    if column is None:
        native = Native("count_rows", (), "i")
        return Aggregate("count", (), SUM_LIKE, "int64", "float", {"float": native})
    return define(
        "count", (column,), float, SUM_LIKE, "int64", {"float": Native("count", ("*",), "i", True)}
    )


def sum(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Add the values up. Result: the input's type; integers are exact or an error.

    >>> import sash
    >>> window = sash.TwoStacksLite(sum(dtype=int))
    >>> window.slide([1, 2, 3, 4], 2)
    array([1, 3, 5, 7])
    """
    laws = FLOAT_SUM if dtype_name(dtype) == "float" else SUM_LIKE
    python = PythonMonoid(operator.add, inverse=operator.sub)
    return define(
        "sum", (column,), dtype, laws, "as input", float_and_int("sum", scalar=True), python
    )


def mean(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Arithmetic mean. Result: float64; over integers the sum is exact until the division."""
    native = {
        "float": Native("mean_f64", ("f",), "f", True),
        "int": Native("mean_i64", ("i",), "f"),
    }
    laws = FLOAT_SUM if dtype_name(dtype) == "float" else SUM_LIKE
    python = PythonMonoid(
        lambda a, b: (a[0] + b[0], a[1] + b[1]), lambda v: (v, 1), lambda s: s[0] / s[1]
    )
    return define("mean", (column,), dtype, laws, "float64", native, python)


def weighted_mean(column: str | None = None, weight: str | None = None) -> Aggregate:
    """Mean of ``column``, each value with the ``weight`` of its row. Result: float64.

    The price by volume of a market, the value of a meter by the time it held. Rows without a value
    or a weight are skipped; weights that add up to 0 give ``None``. A window fed plain values takes
    pairs ``(value, weight)``.

    >>> import sash
    >>> window = sash.DabaLite(weighted_mean())
    >>> window.insert_many([(10.0, 1.0), (20.0, 3.0)])
    >>> window.query()
    17.5
    """
    laws = Laws(commutative=True, exact=False)
    native = {"float": Native("weighted_mean_f64", ("f", "f"), "f")}
    return define("weighted_mean", (column, weight), float, laws, "float64", native)


def geomean(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Geometric mean: the exponential of the mean logarithm. Result: float64.

    A zero in the window gives 0, a negative value NaN.
    """
    native = {
        "float": Native("geomean_f64", ("f",), "f", True),
        "int": Native("geomean_i64", ("i",), "f"),
    }
    laws = Laws(commutative=True, exact=False)
    return define("geomean", (column,), dtype, laws, "float64", native)


def _spread(name: str, column: str | None, dtype: Any, ddof: int, root: bool) -> Aggregate:
    if ddof not in (0, 1):
        raise ValueError(f"{name}: ddof is 1 (sample) or 0 (population), not {ddof!r}")
    native = {
        "float": Native("variance_f64", ("f",), "f", True),
        "int": Native("variance_i64", ("i",), "f"),
    }
    laws = Laws(commutative=True, exact=False)
    return define(name, (column,), dtype, laws, "float64", native, ints=(ddof, int(root)))


def variance(column: str | None = None, *, ddof: int = 1, dtype: Any = float) -> Aggregate:
    """Variance of the sample (``ddof=1``) or the population (``ddof=0``). Result: float64.

    Kept by the stable pairwise merge: values near 1e9 lose nothing to cancellation. A window with
    too few values gives ``None``.
    """
    return _spread("variance", column, dtype, ddof, root=False)


def stddev(column: str | None = None, *, ddof: int = 1, dtype: Any = float) -> Aggregate:
    """Standard deviation: the square root of `variance`. Result: float64."""
    return _spread("stddev", column, dtype, ddof, root=True)


def product(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Multiply the values. Result: float64, whatever the input, as in Spark."""
    laws = Laws(commutative=True, exact=False)
    python = PythonMonoid(operator.mul)
    return define(
        "product", (column,), dtype, laws, "float64", float_and_int("product", "f"), python
    )


# ---- extremes ----------------------------------------------------------------------------------


def min(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Smallest value. Result: the input's type."""
    python = PythonMonoid(lambda a, b: b if b < a or a != a else a)  # a != a: a is NaN
    return define(
        "min", (column,), dtype, MAX_LIKE, "as input", float_and_int("min", scalar=True), python
    )


def max(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Largest value. Result: the input's type; NaN is the largest float.

    >>> import sash
    >>> window = sash.DabaLite(max())
    >>> window.slide([3.0, 1.0, 2.0, 0.0], 2)
    array([3., 3., 2., 2.])
    """
    python = PythonMonoid(lambda a, b: b if b > a or b != b else a)  # b != b: b is NaN
    return define(
        "max", (column,), dtype, MAX_LIKE, "as input", float_and_int("max", scalar=True), python
    )


def _count_of(better: Callable[[Any, Any], bool]) -> PythonMonoid:
    def combine(a: tuple[Any, int], b: tuple[Any, int]) -> tuple[Any, int]:
        if a[1] == 0 or b[1] == 0:
            return b if a[1] == 0 else a
        if a[0] == b[0]:
            return (a[0], a[1] + b[1])
        return b if better(b[0], a[0]) else a

    return PythonMonoid(combine, lambda v: (v, 1), lambda s: s[1], identity=(None, 0))


def mincount(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """How often the smallest value occurs. Result: int64, 0 when empty."""
    laws, native = Laws(commutative=True), float_and_int("mincount", "i")
    python = _count_of(operator.lt)
    return define("mincount", (column,), dtype, laws, "int64", native, python)


def maxcount(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """How often the largest value occurs. Result: int64, 0 when empty."""
    laws, native = Laws(commutative=True), float_and_int("maxcount", "i")
    python = _count_of(operator.gt)
    return define("maxcount", (column,), dtype, laws, "int64", native, python)


def _arg(name: str, columns: tuple[str | None, ...], dtype: Any, arg_dtype: Any) -> Aggregate:
    better = operator.gt if name == "argmax" else operator.lt

    def combine(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        if a[0] is None or b[0] is None:
            return b if a[0] is None else a
        return b if better(b[0], a[0]) else a

    python = PythonMonoid(combine, tuple, lambda s: None if s[0] is None else s[1])
    arg = dtype_name(arg_dtype)
    if arg == "object":
        return define(name, columns, object, ORDERED, "as argument", {}, python)
    code = {"float": "f", "int": "i", "bool": "b"}[arg]
    native = {
        "float": Native(f"{name}_f64", ("f", code), code),
        "int": Native(f"{name}_i64", ("i", code), code),
    }
    return define(name, columns, dtype, ORDERED, f"as argument ({arg})", native)


def argmax(
    column: str | None = None,
    argument: str | None = None,
    *,
    dtype: Any = float,
    argument_dtype: Any = float,
) -> Aggregate:
    """Return the ``argument`` of the row where ``column`` is largest; the first such row wins.

    A window fed plain values takes pairs ``(value, argument)``. Result: the argument's type.

    >>> import sash
    >>> window = sash.DabaLite(argmax(argument_dtype=object))
    >>> window.insert_many([(3.0, "tea"), (5.0, "rum"), (5.0, "gin")])
    >>> window.query()
    'rum'
    """
    return _arg("argmax", (column, argument), dtype, argument_dtype)


def argmin(
    column: str | None = None,
    argument: str | None = None,
    *,
    dtype: Any = float,
    argument_dtype: Any = float,
) -> Aggregate:
    """Return the ``argument`` of the row where ``column`` is smallest; the first such row wins."""
    return _arg("argmin", (column, argument), dtype, argument_dtype)


def range(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Largest minus smallest value. Result: the input's type."""
    python = PythonMonoid(
        lambda a, b: (_min(a[0], b[0]), _max(a[1], b[1])), lambda v: (v, v), lambda s: s[1] - s[0]
    )
    return define("range", (column,), dtype, MAX_LIKE, "as input", float_and_int("range"), python)


def relative_variation(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Compute (largest - smallest) / largest; null when the largest is 0. Result: float64."""
    native = float_and_int("relative_variation", "f")
    return define("relative_variation", (column,), dtype, MAX_LIKE, "float64", native)


# ---- order and truth ---------------------------------------------------------------------------


def _any_type(op: str) -> dict[str, Native]:
    return {
        "float": Native(op, ("f",), "f"),
        "int": Native(op, ("i",), "i"),
        "bool": Native(op, ("b",), "b"),
    }


def first(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Oldest value that is not null. Result: the input's type."""
    python = PythonMonoid(lambda a, _: a)
    laws = Laws(idempotent=True)
    return define("first", (column,), dtype, laws, "as input", _any_type("first"), python)


def last(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Youngest value that is not null. Result: the input's type."""
    python = PythonMonoid(lambda _, b: b)
    laws = Laws(idempotent=True)
    return define("last", (column,), dtype, laws, "as input", _any_type("last"), python)


def nth_youngest(n: int, column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Return the n-th youngest value that is not null (1 is the youngest), if there are so many.

    >>> import sash
    >>> window = sash.DabaLite(nth_youngest(2))
    >>> window.insert_many([1.0, 2.0, 3.0])
    >>> window.query()
    2.0
    """
    n = positive("nth_youngest", "n", n)
    python = PythonMonoid(
        lambda a, b: (a + b)[-n:], lambda v: (v,), lambda s: s[0] if len(s) == n else None
    )
    native = _any_type("nth_youngest")
    return define("nth_youngest", (column,), dtype, ORDERED, "as input", native, python, ints=(n,))


def any(column: str | None = None) -> Aggregate:
    """Whether some value is true. Result: bool."""
    native = {"bool": Native("any", ("b",), "b")}
    return define("any", (column,), bool, MAX_LIKE, "bool", native)


def all(column: str | None = None) -> Aggregate:
    """Whether every value is true. Result: bool."""
    native = {"bool": Native("all", ("b",), "b")}
    return define("all", (column,), bool, MAX_LIKE, "bool", native)


def m4(column: str | None = None, time: str | None = None, *, dtype: Any = float) -> Aggregate:
    """First, last, smallest and largest value with their times: what a line chart needs.

    Reads pairs ``(value, time)``; times are integers. Result: a dict of four ``(time, value)``.
    """
    code = "f" if dtype_name(dtype) == "float" else "i"
    view = np.float64 if code == "f" else np.int64

    def finish(data: bytes) -> dict[str, tuple[int, Any]]:
        times = np.frombuffer(data, np.int64)[0::2].tolist()
        values = np.frombuffer(data, view)[1::2].tolist()
        names = ("first", "last", "min", "max")
        return dict(zip(names, zip(times, values, strict=True), strict=True))

    native = {
        "float": Native("m4_f64", ("f", "i"), "B"),
        "int": Native("m4_i64", ("i", "i"), "B"),
    }
    result = "dict of (time, value)"
    return define("m4", (column, time), dtype, ORDERED, result, native, finish=finish)


# ---- collections -------------------------------------------------------------------------------


def collect(column: str | None = None) -> Aggregate:
    """Gather all values, oldest first. Result: a list. Its state grows with the window."""
    python = PythonMonoid(operator.add, lambda v: (v,), list)
    return define("collect", (column,), object, ORDERED, "list", {}, python)


def distinct(column: str | None = None) -> Aggregate:
    """Gather the set of values, exactly. Result: a frozenset. Its state grows with the window."""
    python = PythonMonoid(operator.or_, lambda v: frozenset((v,)))
    return define("distinct", (column,), object, MAX_LIKE, "frozenset", {}, python)


def concat(column: str | None = None, *, separator: str = "") -> Aggregate:
    """Join the values as strings, oldest first. Result: str. Its state grows with the window."""
    if not isinstance(separator, str):
        raise TypeError(f"concat: separator must be a string, not {separator!r}")
    python = PythonMonoid(lambda a, b: f"{a}{separator}{b}", str)
    result = f"str joined by {separator!r}" if separator else "str"
    return define("concat", (column,), object, ORDERED, result, {}, python)


def topk(
    k: int, column: str | None = None, *, dtype: Any = float, smallest: bool = False
) -> Aggregate:
    """Return the k largest (or smallest) values with repeats, best first. Result: a list.

    >>> import sash
    >>> window = sash.DabaLite(topk(2, dtype=int))
    >>> window.insert_many([5, 1, 7, 7])
    >>> window.query()
    [7, 7]
    """
    k = positive("topk", "k", k)
    view = np.float64 if dtype_name(dtype) == "float" else np.int64

    def finish(data: bytes) -> list[Any]:
        found = int(np.frombuffer(data, np.int64)[0])
        best: list[Any] = np.frombuffer(data, view)[1 : 1 + found].tolist()
        return best

    pick = heapq.nsmallest if smallest else heapq.nlargest
    python = PythonMonoid(lambda a, b: tuple(pick(k, a + b)), lambda v: (v,), list)
    laws = Laws(commutative=True)
    ints = (k, int(smallest))
    native = float_and_int("topk", "B")
    return define("topk", (column,), dtype, laws, "list", native, python, ints=ints, finish=finish)


def histogram(edges: Iterable[float], column: str | None = None) -> Aggregate:
    """Count values between ascending edges, as ``numpy.histogram`` does. Result: a list of int.

    Bins are ``[e0, e1)``, ``[e1, e2)``, ..., the last one closed; what is outside is not counted.
    """
    doubles = numbers("histogram", "edges", edges)
    ascending = [a < b for a, b in itertools.pairwise(doubles)]
    if not ascending or False in ascending:
        raise ValueError(f"histogram: edges must be at least two, strictly ascending: {doubles}")

    def finish(data: bytes) -> list[int]:
        counts: list[int] = np.frombuffer(data, np.int64).tolist()
        return counts

    native = {"float": Native("histogram", ("f",), "B")}
    more: dict[str, Any] = {"doubles": doubles, "finish": finish}
    return define("histogram", (column,), float, SUM_LIKE, "list of int64", native, **more)


for _name in __all__:
    globals()[_name] = remembering(globals()[_name])
