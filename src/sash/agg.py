"""The aggregates: what is computed over a window.

Each function returns a description (:class:`~sash.Aggregate`) that any structure can run. The
``column`` names what to read in tables and in rows given as dicts; a window fed plain values needs
none. ``dtype`` says what the values are: ``float`` (the default), ``int`` (exact, an overflow is an
error), or ``object`` for any Python values, where that makes sense.

Nulls (``None``) are skipped. An empty window gives ``None``; counts give 0. NaN is greater than
every number, and a sum it is part of is NaN until it leaves the window.
"""

from __future__ import annotations

import copy
import heapq
import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from sash import _core
from sash._aggregate import Aggregate, Laws, Native, PythonMonoid, dtype_name
from sash.sketches import Bloom, CountMin

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "bloom",
    "collect",
    "concat",
    "count",
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
    "min",
    "mincount",
    "nth_youngest",
    "product",
    "quantiles",
    "range",
    "relative_variation",
    "stddev",
    "sum",
    "topk",
    "variance",
]

_range, _min, _max = range, min, max  # the built-ins, before ours take their names

_SUM_LIKE = Laws(invertible=True, commutative=True)
_FLOAT_SUM = Laws(invertible=True, commutative=True, exact=False)
_MAX_LIKE = Laws(commutative=True, idempotent=True)
_ORDERED = Laws()


def _numeric(
    name: str,
    columns: tuple[str | None, ...],
    dtype: Any,
    laws: Laws,
    result: str,
    native: dict[str, Native],
    python: PythonMonoid | None = None,
    **more: Any,
) -> Aggregate:
    """Build an aggregate for the dtype asked for, refusing one it has no meaning for."""
    kind = dtype_name(dtype)
    allowed = [*native, *(["object"] if python is not None else [])]
    if kind not in allowed:
        raise TypeError(f"{name} takes dtype {' or '.join(allowed)}, not {kind}")
    for column in columns:
        if column is not None and not isinstance(column, str):
            raise TypeError(f"{name}: a column is named by a string, not {column!r}")
    chosen = python if kind == "object" else None
    return Aggregate(name, columns, laws, result, kind, native, chosen, **more)


def _both(op: str, output: str = "", scalar: bool = False) -> dict[str, Native]:
    """Build the float and the integer version of a native aggregate."""
    return {
        "float": Native(f"{op}_f64", ("f",), output or "f", scalar),
        "int": Native(f"{op}_i64", ("i",), output or "i", scalar),
    }


def _positive(name: str, what: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name}: {what} must be a positive integer, not {value!r}")
    return int(value)


def _power_of_two(name: str, what: str, value: Any, least: int) -> int:
    if _positive(name, what, value) < least or value & (value - 1):
        raise ValueError(f"{name}: {what} must be a power of two of at least {least}, not {value}")
    return int(value)


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
        return Aggregate("count", (), _SUM_LIKE, "int64", "float", {"float": native})
    return _numeric(
        "count", (column,), float, _SUM_LIKE, "int64", {"float": Native("count", ("*",), "i", True)}
    )


def sum(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Add the values up. Result: the input's type; integers are exact or an error.

    >>> import sash
    >>> window = sash.TwoStacksLite(sum(dtype=int))
    >>> window.slide([1, 2, 3, 4], 2)
    array([1, 3, 5, 7])
    """
    laws = _FLOAT_SUM if dtype_name(dtype) == "float" else _SUM_LIKE
    python = PythonMonoid(operator.add, inverse=operator.sub)
    return _numeric("sum", (column,), dtype, laws, "as input", _both("sum", scalar=True), python)


def mean(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Arithmetic mean. Result: float64; over integers the sum is exact until the division."""
    native = {
        "float": Native("mean_f64", ("f",), "f", True),
        "int": Native("mean_i64", ("i",), "f"),
    }
    laws = _FLOAT_SUM if dtype_name(dtype) == "float" else _SUM_LIKE
    python = PythonMonoid(
        lambda a, b: (a[0] + b[0], a[1] + b[1]), lambda v: (v, 1), lambda s: s[0] / s[1]
    )
    return _numeric("mean", (column,), dtype, laws, "float64", native, python)


def geomean(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Geometric mean: the exponential of the mean logarithm. Result: float64.

    A zero in the window gives 0, a negative value NaN.
    """
    native = {
        "float": Native("geomean_f64", ("f",), "f", True),
        "int": Native("geomean_i64", ("i",), "f"),
    }
    return _numeric("geomean", (column,), dtype, _FLOAT_SUM, "float64", native)


def _spread(name: str, column: str | None, dtype: Any, ddof: int, root: bool) -> Aggregate:
    if ddof not in (0, 1):
        raise ValueError(f"{name}: ddof is 1 (sample) or 0 (population), not {ddof!r}")
    native = {
        "float": Native("variance_f64", ("f",), "f", True),
        "int": Native("variance_i64", ("i",), "f"),
    }
    laws = Laws(commutative=True, exact=False)
    return _numeric(name, (column,), dtype, laws, "float64", native, ints=(ddof, int(root)))


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
    return _numeric("product", (column,), dtype, laws, "float64", _both("product", "f"), python)


# ---- extremes ----------------------------------------------------------------------------------


def min(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Smallest value. Result: the input's type."""
    python = PythonMonoid(lambda a, b: b if b < a else a)
    return _numeric(
        "min", (column,), dtype, _MAX_LIKE, "as input", _both("min", scalar=True), python
    )


def max(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Largest value. Result: the input's type; NaN is the largest float.

    >>> import sash
    >>> window = sash.DabaLite(max())
    >>> window.slide([3.0, 1.0, 2.0, 0.0], 2)
    array([3., 3., 2., 2.])
    """
    python = PythonMonoid(lambda a, b: b if b > a else a)
    return _numeric(
        "max", (column,), dtype, _MAX_LIKE, "as input", _both("max", scalar=True), python
    )


def _count_of(better: Callable[[Any, Any], bool]) -> PythonMonoid:
    def combine(a: tuple[Any, int], b: tuple[Any, int]) -> tuple[Any, int]:
        if a[0] == b[0]:
            return (a[0], a[1] + b[1])
        return b if better(b[0], a[0]) else a

    return PythonMonoid(combine, lambda v: (v, 1), lambda s: s[1])


def mincount(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """How often the smallest value occurs. Result: int64, 0 when empty."""
    laws, native = Laws(commutative=True), _both("mincount", "i")
    python = _count_of(operator.lt)
    return _numeric("mincount", (column,), dtype, laws, "int64", native, python)


def maxcount(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """How often the largest value occurs. Result: int64, 0 when empty."""
    laws, native = Laws(commutative=True), _both("maxcount", "i")
    python = _count_of(operator.gt)
    return _numeric("maxcount", (column,), dtype, laws, "int64", native, python)


def _arg(name: str, columns: tuple[str | None, ...], dtype: Any, arg_dtype: Any) -> Aggregate:
    better = operator.gt if name == "argmax" else operator.lt

    def combine(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        if a[0] is None or b[0] is None:
            return b if a[0] is None else a
        return b if better(b[0], a[0]) else a

    python = PythonMonoid(combine, tuple, lambda s: None if s[0] is None else s[1])
    arg = dtype_name(arg_dtype)
    if arg == "object":
        return _numeric(name, columns, object, _ORDERED, "as argument", {}, python)
    code = {"float": "f", "int": "i", "bool": "b"}[arg]
    native = {
        "float": Native(f"{name}_f64", ("f", code), code),
        "int": Native(f"{name}_i64", ("i", code), code),
    }
    return _numeric(name, columns, dtype, _ORDERED, f"as argument ({arg})", native)


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
    return _numeric("range", (column,), dtype, _MAX_LIKE, "as input", _both("range"), python)


def relative_variation(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Compute (largest - smallest) / largest; null when the largest is 0. Result: float64."""
    native = _both("relative_variation", "f")
    return _numeric("relative_variation", (column,), dtype, _MAX_LIKE, "float64", native)


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
    return _numeric("first", (column,), dtype, laws, "as input", _any_type("first"), python)


def last(column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Youngest value that is not null. Result: the input's type."""
    python = PythonMonoid(lambda _, b: b)
    laws = Laws(idempotent=True)
    return _numeric("last", (column,), dtype, laws, "as input", _any_type("last"), python)


def nth_youngest(n: int, column: str | None = None, *, dtype: Any = float) -> Aggregate:
    """Return the n-th youngest value that is not null (1 is the youngest), if there are so many.

    >>> import sash
    >>> window = sash.DabaLite(nth_youngest(2))
    >>> window.insert_many([1.0, 2.0, 3.0])
    >>> window.query()
    2.0
    """
    n = _positive("nth_youngest", "n", n)
    python = PythonMonoid(
        lambda a, b: (a + b)[-n:], lambda v: (v,), lambda s: s[0] if len(s) == n else None
    )
    native = _any_type("nth_youngest")
    return _numeric(
        "nth_youngest", (column,), dtype, _ORDERED, "as input", native, python, ints=(n,)
    )


def any(column: str | None = None) -> Aggregate:
    """Whether some value is true. Result: bool."""
    native = {"bool": Native("any", ("b",), "b")}
    return _numeric("any", (column,), bool, _MAX_LIKE, "bool", native)


def all(column: str | None = None) -> Aggregate:
    """Whether every value is true. Result: bool."""
    native = {"bool": Native("all", ("b",), "b")}
    return _numeric("all", (column,), bool, _MAX_LIKE, "bool", native)


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
    return _numeric("m4", (column, time), dtype, _ORDERED, result, native, finish=finish)


# ---- collections -------------------------------------------------------------------------------


def collect(column: str | None = None) -> Aggregate:
    """Gather all values, oldest first. Result: a list. Its state grows with the window."""
    python = PythonMonoid(operator.add, lambda v: (v,), list)
    return _numeric("collect", (column,), object, _ORDERED, "list", {}, python)


def distinct(column: str | None = None) -> Aggregate:
    """Gather the set of values, exactly. Result: a frozenset. Its state grows with the window."""
    python = PythonMonoid(operator.or_, lambda v: frozenset((v,)))
    return _numeric("distinct", (column,), object, _MAX_LIKE, "frozenset", {}, python)


def concat(column: str | None = None, *, separator: str = "") -> Aggregate:
    """Join the values as strings, oldest first. Result: str. Its state grows with the window."""
    python = PythonMonoid(lambda a, b: f"{a}{separator}{b}", str)
    return _numeric("concat", (column,), object, _ORDERED, "str", {}, python)


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
    k = _positive("topk", "k", k)
    view = np.float64 if dtype_name(dtype) == "float" else np.int64

    def finish(data: bytes) -> list[Any]:
        found = int(np.frombuffer(data, np.int64)[0])
        best: list[Any] = np.frombuffer(data, view)[1 : 1 + found].tolist()
        return best

    pick = heapq.nsmallest if smallest else heapq.nlargest
    python = PythonMonoid(lambda a, b: tuple(pick(k, a + b)), lambda v: (v,), list)
    laws = Laws(commutative=True)
    ints = (k, int(smallest))
    native = _both("topk", "B")
    return _numeric(
        "topk", (column,), dtype, laws, "list", native, python, ints=ints, finish=finish
    )


def histogram(edges: Iterable[float], column: str | None = None) -> Aggregate:
    """Count values between ascending edges, as ``numpy.histogram`` does. Result: a list of int.

    Bins are ``[e0, e1)``, ``[e1, e2)``, ..., the last one closed; what is outside is not counted.
    """
    doubles = tuple(float(e) for e in edges)
    ascending = [a < b for a, b in itertools.pairwise(doubles)]
    if not ascending or False in ascending:
        raise ValueError(f"histogram: edges must be at least two, strictly ascending: {doubles}")

    def finish(data: bytes) -> list[int]:
        counts: list[int] = np.frombuffer(data, np.int64).tolist()
        return counts

    native = {"float": Native("histogram", ("f",), "B")}
    more: dict[str, Any] = {"doubles": doubles, "finish": finish}
    return _numeric("histogram", (column,), float, _SUM_LIKE, "list of int64", native, **more)


# ---- sketches ----------------------------------------------------------------------------------


def _probe(value: Any) -> tuple[int, ...]:
    """Make the parameters of a sketch that is asked about one value only."""
    if value is None:
        return ()
    hashed = _core.hash_value(value)
    return (1, hashed - (1 << 64) if hashed >= 1 << 63 else hashed)


def bloom(
    column: str | None = None, *, bits: int = 1 << 14, hashes: int = 4, contains: Any = None
) -> Aggregate:
    """Keep a Bloom filter of the values. Result: a `sash.sketches.Bloom`; bool with ``contains``.

    ``contains=value`` asks one question of every window: may this value be in it? With 2^14 bits
    and 4 hashes about 1% of answers for 1,500 values are false positives.
    """
    ints = (_power_of_two("bloom", "bits", bits, 64), _positive("bloom", "hashes", hashes))
    probe = _probe(contains)
    native = {"object": Native("bloom", ("h",), "b" if probe else "B")}
    result = "bool" if probe else "Bloom"

    def finish(data: bytes) -> Bloom:
        return Bloom(data, hashes)

    more: dict[str, Any] = {"ints": ints + probe, "finish": finish}
    return _numeric("bloom", (column,), object, _MAX_LIKE, result, native, **more)


def hll(column: str | None = None, *, lg_k: int = 12) -> Aggregate:
    """Estimate the number of distinct values by HyperLogLog. Result: int64.

    ``2**lg_k`` registers of a byte give a standard error of 1.04 / sqrt(2**lg_k): 1.6% by default.
    """
    lg_k = _positive("hll", "lg_k", lg_k)
    if not 4 <= lg_k <= 21:
        raise ValueError(f"hll: lg_k must be from 4 to 21, not {lg_k}")
    native = {"object": Native("hll", ("c",), "i")}
    laws = Laws(commutative=True, idempotent=True)
    return _numeric("hll", (column,), object, laws, "int64", native, ints=(lg_k,))


def countmin(
    column: str | None = None, *, width: int = 1 << 10, depth: int = 4, count: Any = None
) -> Aggregate:
    """Keep a count-min sketch. Result: a `sash.sketches.CountMin`; int64 with ``count``.

    ``count=value`` asks one question of every window: about how often does this value occur in it?
    """
    ints = (_power_of_two("countmin", "width", width, 1), _positive("countmin", "depth", depth))
    probe = _probe(count)
    native = {"object": Native("countmin", ("h",), "i" if probe else "B")}
    result = "int64" if probe else "CountMin"

    def finish(data: bytes) -> CountMin:
        return CountMin(data, width, depth)

    more: dict[str, Any] = {"ints": ints + probe, "finish": finish}
    return _numeric("countmin", (column,), object, _SUM_LIKE, result, native, **more)


def quantiles(
    fractions: float | Sequence[float] = 0.5, column: str | None = None, *, k: int = 200
) -> Aggregate:
    """Estimate quantiles with the KLL sketch of Apache DataSketches.

    It is an extra: ``pip install 'sash[sketches]'``. Result: float64 for one fraction, else a list.
    The rank error is about 1.3% with ``k=200``.
    """
    try:
        from datasketches import kll_doubles_sketch
    except ImportError as error:
        raise ImportError(
            "agg.quantiles needs Apache DataSketches: pip install 'sash[sketches]'"
        ) from error
    single = isinstance(fractions, (int, float))
    wanted = [float(f) for f in ([fractions] if isinstance(fractions, (int, float)) else fractions)]
    for f in wanted:
        if not 0 <= f <= 1:
            raise ValueError(f"quantiles: a fraction lies between 0 and 1, not {f}")

    def lift(value: float) -> Any:
        sketch = kll_doubles_sketch(k)
        sketch.update(float(value))
        return sketch

    def combine(a: Any, b: Any) -> Any:
        merged = copy.copy(a)
        merged.merge(b)
        return merged

    def lower(sketch: Any) -> Any:
        if sketch.is_empty():
            return None
        found = [float(q) for q in sketch.get_quantiles(wanted)]
        return found[0] if single else found

    python = PythonMonoid(
        combine, lift, lower, dump=lambda s: s.serialize(), load=kll_doubles_sketch.deserialize
    )
    laws = Laws(commutative=True, exact=False)
    more: dict[str, Any] = {"ints": (k,), "doubles": tuple(wanted)}
    return _numeric("quantiles", (column,), object, laws, "float64", {}, python, **more)
