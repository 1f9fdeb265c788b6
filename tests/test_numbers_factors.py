"""Products, means with weights, geometric means and integers keep the bounds of docs/numbers.md."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from depth import examples
from error_bounds import CLAIMS, LARGEST, TINY, Stream, U, gamma
from every_window import SYSTEMS
from hypothesis import given, settings
from hypothesis import strategies as st

from sash import Aggregate, agg

SMALLEST = Fraction(1, 2**1022)
SIZES = st.integers(1, 12)


def windows(system: str, aggregate: Aggregate, values: list[Any], size: int) -> Any:
    for lo, hi, (got,) in SYSTEMS[system]([aggregate], values, size):
        yield got, values[lo:hi]


# ---- products ----------------------------------------------------------------------------------

FACTORS = st.sampled_from([1e200, 1e-200, 0.5, -3.0, 1.1, 1e-308, -1e300]) | st.floats(0.1, 10.0)


@pytest.mark.parametrize("system", SYSTEMS)
@given(values=st.lists(FACTORS, min_size=1, max_size=30), size=SIZES)
@settings(max_examples=examples(12))
def test_products(system: str, values: list[float], size: int) -> None:
    for got, inside in windows(system, agg.product("v"), values, size):
        exact = math.prod(map(Fraction, inside))
        above = math.prod(abs(Fraction(v)) for v in inside if abs(v) > 1)
        below = math.prod(abs(Fraction(v)) for v in inside if abs(v) < 1)
        error = gamma(len(inside) - 1)
        if above * (1 + error) <= LARGEST and below * (1 - error) >= SMALLEST:
            assert abs(Fraction(got) - exact) <= error * abs(exact), (got, inside)


# ---- geometric means ---------------------------------------------------------------------------

POSITIVE = st.floats(min_value=5e-324, allow_infinity=False, allow_nan=False) | st.sampled_from(
    [1.0, 1e308, 1e-308, 5e-324, 1 + 2**-52, 1e16]
)


@pytest.mark.parametrize("system", SYSTEMS)
@given(values=st.lists(POSITIVE, min_size=1, max_size=25), size=SIZES)
@settings(max_examples=examples(8))
def test_geometric_means(system: str, values: list[float], size: int) -> None:
    with localcontext() as context:
        context.prec = 60
        for got, inside in windows(system, agg.geomean("v"), values, size):
            logs = [Decimal(v).ln() for v in inside]
            n, u = len(inside), Decimal(2) ** -53
            # Of each logarithm 2 u, of the sum n - 1, of the division 1; then exp, by 2 u again.
            far = (n + 2) * u / (1 - (n + 2) * u) * sum(map(abs, logs)) / n
            bound = far.exp() - 1 + 3 * u
            exact = (sum(logs) / n).exp()
            assert abs(Decimal(got) - exact) <= bound * exact + Decimal(2) ** -1074, (got, inside)


# ---- means with weights ------------------------------------------------------------------------

VALUES = st.sampled_from([1e16, -1e16, 1.0, 1e150, -1e150, 1e-300, 0.1]) | st.floats(-1e3, 1e3)
WEIGHTS = st.sampled_from([0.0, 1.0, 1e100, 1e-20, 1e-300, 3.0]) | st.floats(1e-3, 1e3)


@pytest.mark.parametrize("system", SYSTEMS)
@given(values=st.lists(st.tuples(VALUES, WEIGHTS), min_size=1, max_size=30), size=SIZES)
@settings(max_examples=examples(10))
def test_weighted_means(system: str, values: list[tuple[float, float]], size: int) -> None:
    for got, inside in windows(system, agg.weighted_mean("v", "w"), values, size):
        pairs = [(Fraction(v), Fraction(w)) for v, w in inside]
        n, weight = len(pairs), sum(w for _, w in pairs)
        if weight == 0:
            assert got is None
            continue
        exact = sum(v * w for v, w in pairs) / weight
        bound = gamma(2 * n) * sum(abs(v) * w for v, w in pairs) / weight
        lost = 2 * n * TINY / weight + TINY
        if abs(exact) + bound + lost <= LARGEST:
            assert abs(Fraction(got) - exact) <= bound + lost, (got, inside)


# ---- integers ----------------------------------------------------------------------------------

TOP = 2**63 - 1
WHOLE = st.sampled_from([TOP, -TOP - 1, 0, 1, -1, 2**53 + 1, TOP - 1]) | st.integers(-TOP, TOP)


@pytest.mark.parametrize("system", SYSTEMS)
@given(values=st.lists(WHOLE, min_size=1, max_size=30), size=SIZES)
@settings(max_examples=examples(10))
def test_means_and_ratios_of_integers(system: str, values: list[int], size: int) -> None:
    for got, inside in windows(system, agg.mean("v", dtype=int), values, size):
        exact = Fraction(sum(inside), len(inside))
        assert abs(Fraction(got) - exact) <= (U + Fraction(1, 2**62)) * abs(exact), (got, inside)
    ratio = agg.relative_variation("v", dtype=int)
    for got, inside in windows(system, ratio, values, size):
        if max(inside) == 0:
            assert got is None
            continue
        exact = Fraction(max(inside) - min(inside), max(inside))
        assert abs(Fraction(got) - exact) <= gamma(3) * abs(exact), (got, inside)


@pytest.mark.parametrize("system", SYSTEMS)
@given(values=st.lists(st.integers(-(2**53), 2**53), min_size=2, max_size=20), size=SIZES)
@settings(max_examples=examples(6))
def test_integers_that_floats_hold(system: str, values: list[int], size: int) -> None:
    """Variance reads integers as floats: below 2^53 that is exact, and its bound is kept."""
    stream = Stream([float(v) for v in values])
    for name in ("variance", "stddev"):
        claim = CLAIMS[name]
        spread = claim.make("v", dtype=int, **dict(claim.options))
        for lo, hi, (got,) in SYSTEMS[system]([spread], values, size):
            assert claim.kept(got, stream.window(lo, hi)), (got, values[lo:hi])
