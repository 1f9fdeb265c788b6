"""Floats keep the bounds of docs/numbers.md in every structure, whatever has left a window."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction

import pytest
from cases import STRUCTURES
from depth import examples
from error_bounds import CLAIMS, Stream, sum_bound
from every_window import EXACT_ONLY, SYSTEMS
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash import agg

HUGE = [1.7e308, -1.7e308, 1e308, 1e300, -1e300]
PLAIN = [1.0, -1.0, 3.0, 0.1, 1e16, -1e16, 1e16 + 2, 1e-3]
SMALL = [5e-324, -5e-324, 2.2e-308, -1e-310, 1e-160, 3e-170, 0.0, -0.0]
FLAT = [1e9 + k * 2**-20 for k in range(4)]
MIXED = st.sampled_from(HUGE) | st.sampled_from(PLAIN) | st.sampled_from(SMALL)
ANY = st.floats(allow_nan=False, allow_infinity=False)
STREAMS = st.one_of(
    st.lists(MIXED | ANY, min_size=1, max_size=40),
    st.lists(st.sampled_from(FLAT) | st.sampled_from(HUGE[:1]), min_size=1, max_size=40),
    st.lists(st.sampled_from(SMALL), min_size=1, max_size=40),
)


def check(system: str, names: Sequence[str], values: Sequence[float], size: int) -> int:
    """Hold every window to the bounds; returns how many could be."""
    stream, held = Stream(values), 0
    claims = [CLAIMS[name] for name in names]
    aggregates = [claim.aggregate("v") for claim in claims]
    for lo, hi, row in SYSTEMS[system](aggregates, values, size):
        window = stream.window(lo, hi)
        for name, claim, got in zip(names, claims, row, strict=True):
            if claim.promised(window):
                held += 1
                assert claim.kept(got, window), (system, name, got, values[lo:hi])
    return held


@pytest.mark.parametrize("system", SYSTEMS)
@given(values=STREAMS, size=st.integers(1, 12))
@settings(max_examples=examples(12))
def test_all_at_once(system: str, values: list[float], size: int) -> None:
    check(system, list(CLAIMS), values, size)


@pytest.mark.parametrize("system", SYSTEMS)
@given(values=STREAMS, size=st.integers(1, 12), name=st.sampled_from(list(CLAIMS)))
@settings(max_examples=examples(12))
def test_one_by_itself(system: str, values: list[float], size: int, name: str) -> None:
    check(system, [name], values, size)


def hostile(seed: int, n: int) -> list[float]:
    """Long quiet stretches, now and then a burst of other magnitudes, and of huge values."""
    source, values = random.Random(seed), []
    while len(values) < n:
        scale = source.choice([1.0, 1e-300, 1e16, 1e9, 1e-310, 1e150])
        shift = source.choice([0.0, 1e9, 1.0])
        values += [source.gauss(shift, 1.0) * scale for _ in range(source.randint(1, 700))]
        values += [source.choice(HUGE) for _ in range(source.randint(0, 4))]
    return values[:n]


@pytest.mark.parametrize("system", [s for s in SYSTEMS if not s.endswith("-steps")])
def test_long_windows_and_many_slides(system: str) -> None:
    assert check(system, ["sum", "mean", "variance", "stddev"], hostile(1, 1200), 150) > 10


def test_what_subtracts_does_not_keep_them() -> None:
    """The streams are hostile enough, and the bounds tight enough, to tell."""
    values = [1e16, 1.0, 3.0, 1e16, -1e16, 1.0, 1.0, 1.0]
    drifting = sash.SubtractOnEvict(agg.sum(), allow_rounding=True).slide(values, 3)
    window = Stream(values).window(5, 8)
    assert not CLAIMS["sum"].kept(drifting[-1], window)
    assert CLAIMS["sum"].kept(3.0, window)
    near = FLAT * 3
    naive = math.fsum(v * v for v in near) / len(near) - (math.fsum(near) / len(near)) ** 2
    window = Stream(near).window(0, len(near))
    assert not CLAIMS["variance"].kept(naive * len(near) / (len(near) - 1), window)


@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=30))
@settings(max_examples=examples(40))
def test_chains_of_combines(sizes: list[int]) -> None:
    """How many roundings a value goes through: what the bounds are made of."""
    longest = sash.monoid(lambda a, b: max(a, b) + 1, lift=lambda v: 0, name="longest")
    for structure in STRUCTURES:
        if structure is EXACT_ONLY:
            continue
        window = structure(longest)
        for size in sizes:
            while len(window) > size:
                window.evict()
            window.insert_many([0] * (size - len(window)))
            most = window.query()
            assert most <= size - 1
            if structure is sash.ReactiveAggregator:
                assert most <= tree_depth(size)


def tree_depth(n: int) -> int:
    return 2 * (n - 1).bit_length() + 1


def test_a_tree_of_combines_rounds_less() -> None:
    values = [v * 0.1 for v in range(1, 3000)]
    stream = Stream(values)
    for i, got in enumerate(sash.ReactiveAggregator(agg.sum()).slide(values, 1000).tolist()):
        window = stream.window(max(0, i - 999), i + 1)
        bound = sum_bound(window, min(window.n - 1, tree_depth(window.n)))
        assert abs(Fraction(got) - window.total) <= bound
