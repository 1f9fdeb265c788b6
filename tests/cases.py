"""What is tested: every structure, and every aggregate with values for it and its oracle."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import oracle
from hypothesis import strategies as st

import sash
from sash import Aggregate, agg
from sash.structures import Window

STRUCTURES: list[type[Window]] = [
    sash.Recalc,
    sash.SubtractOnEvict,
    sash.TwoStacks,
    sash.TwoStacksLite,
    sash.Daba,
    sash.DabaLite,
    sash.FlatFit,
    sash.Amta,
    sash.ReactiveAggregator,
]
ITERABLE = {
    sash.Recalc,
    sash.SubtractOnEvict,
    sash.TwoStacks,
    sash.Daba,
    sash.Amta,
    sash.ReactiveAggregator,
}


def named(value: Any) -> str:
    """A readable test id."""
    return getattr(value, "__name__", None) or getattr(value, "name", None) or str(value)


def agrees(a: Any, b: Any, scale: float = 0.0) -> bool:
    """Equal, NaN equal to NaN, floats up to rounding relative to ``scale`` (0: exactly)."""
    if isinstance(a, float) and isinstance(b, (float, int)):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return a == b or math.isclose(a, b, rel_tol=1e-9 if scale else 0, abs_tol=1e-11 * scale)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(lambda x, y: agrees(x, y, scale), a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(agrees(a[k], b[k], scale) for k in a)
    return type(a) is type(b) and bool(a == b)


@dataclass(frozen=True)
class Case:
    """An aggregate, values it is fed, what it should give, and how rounding may differ."""

    aggregate: Aggregate | list[Aggregate]
    values: st.SearchStrategy[Any]
    expected: Callable[[list[Any]], Any]
    rounding: Callable[[list[Any]], float] = lambda values: 0.0
    label: str = ""
    finish: Callable[[Any], Any] = lambda result: result

    @property
    def name(self) -> str:
        if self.label or isinstance(self.aggregate, list):
            return self.label
        return f"{self.aggregate.name}-{self.aggregate.dtype}"

    def check(self, result: Any, values: list[Any]) -> None:
        wanted = self.expected(values)
        got = self.finish(result)
        assert agrees(got, wanted, self.rounding(values)), f"{got!r}, not {wanted!r}, for {values}"


def nullable(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


INT64 = st.integers(-(2**63), 2**63 - 1)
SMALL = st.integers(-(2**40), 2**40)
EXTREME_INTS = st.sampled_from([-(2**63), 2**63 - 1, 0, 1, -1]) | INT64
ANY_FLOAT = st.floats()
NO_MINUS_ZERO = st.floats().map(lambda v: v + 0.0)
SPECIAL = st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 0.0])
SUMMABLE = SPECIAL | st.floats(-1e150, 1e150)
SQUARABLE = SPECIAL | st.floats(-1e6, 1e6)
FACTORS = SPECIAL | st.floats(1e-10, 1e10) | st.floats(-1e10, -1e-10)
TEXT = st.text(max_size=3)


def magnitude(values: list[Any]) -> float:
    """The size of the largest finite value, which rounding is relative to."""
    found = [abs(v) for v in values if v is not None and math.isfinite(v)]
    return float(max(found, default=0.0)) * max(1, len(found)) or 1.0


def squared(values: list[Any]) -> float:
    return magnitude(values) ** 2 + 1.0


def relative(values: list[Any]) -> float:
    return 1e-300


def _spreads() -> list[Case]:
    return [
        Case(
            make(ddof=ddof, dtype=dtype),
            nullable(values),
            wanted(ddof),
            rounding,
            f"{make.__name__}-{dtype.__name__}-{ddof}",
        )
        for make, wanted, rounding in [
            (agg.variance, oracle.variance, squared),
            (agg.stddev, oracle.stddev, lambda v: 1e5 * magnitude(v) + 1),
        ]
        for dtype, values in [(float, SQUARABLE), (int, st.integers(-(10**6), 10**6))]
        for ddof in (0, 1)
    ]


def _numbers(
    make: Callable[..., Aggregate],
    expected: Callable[[list[Any]], Any],
    *,
    floats: st.SearchStrategy[float] = ANY_FLOAT,
    ints: st.SearchStrategy[int] = EXTREME_INTS,
    rounding: Callable[[list[Any]], float] | None = None,
    objects: st.SearchStrategy[Any] | None = None,
) -> list[Case]:
    """The float, the int and, with values for it, the object version of one aggregate."""
    exact = Case.rounding
    cases = [
        Case(make(), nullable(floats), expected, rounding or exact),
        Case(make(dtype=int), nullable(ints), expected, rounding or exact),
    ]
    if objects is not None:
        cases.append(Case(make(dtype=object), nullable(objects), expected))
    return cases


FEW_FLOATS = NO_MINUS_ZERO | st.sampled_from([1.0, math.nan])
EDGES = [-10.0, 0.0, 1.0, 2.5]
PAIRS_F = st.tuples(nullable(NO_MINUS_ZERO), nullable(ANY_FLOAT))
PAIRS_I = st.tuples(nullable(EXTREME_INTS), nullable(INT64))
WEIGHTED = st.tuples(
    nullable(SPECIAL | st.floats(-1e6, 1e6)), nullable(st.just(0.0) | st.floats(1e-3, 1e3))
)
HASHABLE = st.integers(0, 9) | TEXT | INT64

AGGREGATES: list[Case] = [
    Case(agg.count(), st.none() | ANY_FLOAT, oracle.count_rows, label="count-rows"),
    Case(agg.count().alias("c"), HASHABLE, oracle.count_rows, label="count-any"),
    *_numbers(agg.sum, oracle.sum_, floats=SUMMABLE, ints=SMALL, rounding=magnitude, objects=INT64),
    *_numbers(
        agg.mean, oracle.mean, floats=SUMMABLE, ints=INT64, rounding=magnitude, objects=SMALL
    ),
    *_numbers(
        agg.geomean,
        oracle.geomean,
        floats=FACTORS.map(abs),
        ints=st.integers(0, 10**9),
        rounding=relative,
    ),
    Case(agg.geomean(), nullable(FACTORS), oracle.geomean, relative, "geomean-negative"),
    *_spreads(),
    *_numbers(
        agg.product,
        oracle.product,
        floats=FACTORS,
        ints=st.integers(-(10**9), 10**9),
        rounding=relative,
    ),
    *_numbers(agg.min, oracle.min_, objects=TEXT),
    *_numbers(agg.max, oracle.max_, objects=TEXT),
    *_numbers(agg.mincount, oracle.mincount, floats=FEW_FLOATS),
    *_numbers(agg.maxcount, oracle.maxcount, floats=FEW_FLOATS),
    *_numbers(agg.range, oracle.range_, ints=SMALL, objects=INT64),
    *_numbers(agg.relative_variation, oracle.relative_variation, rounding=relative),
    *_numbers(agg.first, oracle.first, objects=TEXT),
    *_numbers(agg.last, oracle.last, objects=TEXT),
    Case(agg.first(dtype=bool), nullable(st.booleans()), oracle.first),
    Case(agg.last(dtype=bool), nullable(st.booleans()), oracle.last),
    Case(agg.nth_youngest(1), nullable(ANY_FLOAT), oracle.nth_youngest(1), label="youngest"),
    Case(agg.nth_youngest(3), nullable(ANY_FLOAT), oracle.nth_youngest(3)),
    Case(agg.nth_youngest(20, dtype=int), nullable(INT64), oracle.nth_youngest(20), label="20th"),
    Case(agg.nth_youngest(2, dtype=bool), nullable(st.booleans()), oracle.nth_youngest(2)),
    Case(agg.nth_youngest(2, dtype=object), nullable(TEXT), oracle.nth_youngest(2)),
    Case(agg.any(), nullable(st.booleans()), oracle.any_),
    Case(agg.all(), nullable(st.booleans()), oracle.all_),
    Case(agg.argmax(), PAIRS_F, oracle.argmax),
    Case(agg.argmin(), PAIRS_F, oracle.argmin),
    Case(agg.argmax(dtype=int, argument_dtype=int), PAIRS_I, oracle.argmax),
    Case(agg.argmin(dtype=int, argument_dtype=int), PAIRS_I, oracle.argmin),
    Case(agg.argmax(argument_dtype=object), st.tuples(nullable(SMALL), TEXT), oracle.argmax),
    Case(agg.argmin(argument_dtype=object), st.tuples(nullable(SMALL), TEXT), oracle.argmin),
    Case(
        agg.weighted_mean(),
        WEIGHTED,
        oracle.weighted_mean,
        lambda pairs: magnitude([value for value, _ in pairs]),
    ),
    Case(agg.m4(), st.tuples(nullable(NO_MINUS_ZERO), nullable(INT64)), oracle.m4),
    Case(agg.m4(dtype=int), PAIRS_I, oracle.m4),
    Case(agg.collect(), nullable(TEXT), oracle.collect),
    Case(agg.distinct(), nullable(TEXT), oracle.distinct),
    Case(agg.concat(separator="-"), nullable(TEXT), oracle.concat("-")),
    Case(agg.topk(3), nullable(ANY_FLOAT), oracle.topk(3)),
    Case(agg.topk(3, smallest=True), nullable(ANY_FLOAT), oracle.topk(3, True), label="least"),
    Case(agg.topk(2, dtype=int), nullable(EXTREME_INTS), oracle.topk(2)),
    Case(agg.topk(2, dtype=object), nullable(TEXT), oracle.topk(2)),
    Case(
        agg.histogram(EDGES), nullable(ANY_FLOAT | st.sampled_from(EDGES)), oracle.histogram(EDGES)
    ),
]

HASHED: list[Case] = [
    Case(agg.bloom(bits=256, hashes=3), HASHABLE, oracle.bloom(256, 3), finish=lambda b: b.data),
    Case(
        agg.countmin(width=16, depth=3),
        HASHABLE,
        oracle.countmin(16, 3),
        finish=lambda c: c.counters.tolist(),
    ),
]
