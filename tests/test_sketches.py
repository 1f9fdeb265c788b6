"""Sketches: the very bits of their definitions, and their error bounds at real sizes."""

from __future__ import annotations

import math
import random

import numpy as np
import oracle
import pyarrow as pa
import pytest
from cases import HASHABLE
from datasketches import hll_sketch, kll_doubles_sketch, tgt_hll_type
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import _core, agg
from sash._compile import functions_of


@given(st.text() | st.binary() | st.integers(-(2**63), 2**63 - 1))
def test_hashes_are_murmur3(value: str | bytes | int) -> None:
    assert _core.hash_value(value) == oracle.hashed(value)[0]


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_columns_hash_as_values_do(values: list[int]) -> None:
    column = _core.hash_ints(np.array(values, np.int64), True)
    assert column.tolist() == [_core.hash_value(v, True) for v in values]
    floats = [float(v) for v in values]
    column = _core.hash_floats(np.array(floats, np.float64), False)
    assert column.tolist() == [_core.hash_value(v) for v in floats]


def test_there_is_one_zero_and_one_nan() -> None:
    assert _core.hash_value(0.0) == _core.hash_value(-0.0)
    assert _core.hash_value(float("nan")) == _core.hash_value(-float("nan"))


def registers_of(values: list[int | str], lg_k: int) -> bytes:
    functions = functions_of(agg.hll(lg_k=lg_k))
    assert functions.lift is not None
    state = functions.identity
    for value in values:
        state = functions.combine(state, functions.lift(value))
    return bytes(state)


@given(st.lists(HASHABLE, max_size=60))
def test_hll_registers(values: list[int | str]) -> None:
    assert registers_of(values, 4) == oracle.hll_registers(4)(values)


def test_hll_registers_are_those_of_datasketches() -> None:
    values = list(range(5000))
    sketch = hll_sketch(10, tgt_hll_type.HLL_8)
    for value in values:
        sketch.update(value)
    assert registers_of(list(values), 10) == sketch.serialize_updatable()[-1024:]


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("n", [0, 1, 10, 1000, 30_000, 100_000])
def test_hll_estimates(n: int, text: bool) -> None:
    values = [f"user-{i}" for i in range(n)] if text else list(range(n))
    window = sash.TwoStacksLite(agg.hll(lg_k=10))
    window.insert_many(values)
    assert window.query() == pytest.approx(n, rel=3 * 1.04 / 32, abs=0.5)


def test_hll_agrees_with_datasketches() -> None:
    for n in (100, 10_000, 50_000):
        sketch = hll_sketch(12, tgt_hll_type.HLL_8)
        for value in range(n):
            sketch.update(value)
        window = sash.TwoStacksLite(agg.hll())
        window.insert_many(np.arange(n))
        assert window.query() == pytest.approx(sketch.get_estimate(), rel=3 * 1.04 / 64)


def ertl(registers: list[int], lg_k: int) -> float:
    """The improved raw estimate of Ertl (2017), with its series summed as they are written."""
    q, m = 64 - lg_k, 1 << lg_k
    count = [sum(min(r, q + 1) == k for r in registers) for k in range(q + 2)]
    empty, full = count[0] / m, 1 - count[q + 1] / m
    sigma = empty + sum(empty ** (2.0**k) * 2.0 ** (k - 1) for k in range(1, 40))
    tau = (1 - full - sum((1 - full ** (2.0**-k)) ** 2 * 2.0**-k for k in range(1, 60))) / 3
    ends = m * sigma + m * tau * 2.0**-q
    return m * m / (2 * math.log(2)) / (ends + sum(count[k] * 2.0**-k for k in range(1, q + 1)))


@pytest.mark.parametrize(
    "ranks", [{0: 200, 1: 500, 9: 324}, {1: 1000, 2: 24}, {51: 512, 55: 256, 58: 128, 63: 128}]
)
def test_hll_estimates_of_given_registers(ranks: dict[int, int]) -> None:
    """Of registers that are empty, and of full ones, which take more values than a test can add."""
    registers = [rank for rank, many in ranks.items() for _ in range(many)]
    found = functions_of(agg.hll(lg_k=10)).lower(bytes(registers))
    assert found == pytest.approx(ertl(registers, 10), rel=1e-9, abs=0.5)


def test_hll_forgets_what_left() -> None:
    window = sash.TwoStacksLite(agg.hll())
    window.insert_many(np.arange(10_000))
    window.evict_many(9_990)
    assert window.query() == 10


def test_bloom_at_its_documented_size() -> None:
    window = sash.TwoStacksLite(agg.bloom())
    inside = [f"in-{i}" for i in range(1500)]
    window.insert_many(inside)
    bloom = window.query()
    assert all(v in bloom for v in inside)
    false = sum(bloom.contains(f"out-{i}") for i in range(20_000)) / 20_000
    assert 0.004 < false < 0.02  # about 1 in 100, as documented
    assert bloom.estimate() == pytest.approx(1500, rel=0.05)
    assert bloom.bits == 1 << 14


def test_bloom_probe() -> None:
    answers = sash.DabaLite(agg.bloom(contains="tea")).slide(["tea", "rum", "gin", "ale"], 2)
    assert answers.tolist() == [True, True, False, False]


@pytest.mark.parametrize("values", [[1, 2.5], [2.5, 1], [True, False]])
def test_bloom_has_no_false_negatives_in_columns_of_mixed_numbers(values: list[float]) -> None:
    window = sash.DabaLite(agg.bloom())
    window.insert_many(values)
    assert all(window.query().contains(v) for v in values)


def test_an_integer_and_an_equal_float_are_one_value() -> None:
    window = sash.DabaLite(agg.hll())
    window.insert(1)
    window.insert(1.0)
    assert window.query() == 1


def test_unsigned_values_too_large_to_hash_are_refused() -> None:
    window = sash.DabaLite(agg.bloom())
    with pytest.raises(OverflowError):
        window.insert(2**63)
    with pytest.raises(OverflowError):
        window.insert_many(np.array([2**63], np.uint64))
    assert len(window) == 0


def test_countmin_never_counts_too_low_and_seldom_too_high() -> None:
    source = random.Random(1)
    values = [int(source.paretovariate(1)) for _ in range(20_000)]
    window = sash.TwoStacksLite(agg.countmin(width=1 << 10, depth=4))
    window.insert_many(values)
    sketch = window.query()
    truth = {v: values.count(v) for v in range(1, 30)}
    for value, times in truth.items():
        assert times <= sketch.count(value) <= times + 2.72 * len(values) / 1024
    probe = sash.TwoStacksLite(agg.countmin(count=3))
    probe.insert_many(values)
    assert probe.query() == sketch.count(3)


def test_countmin_subtracts() -> None:
    window = sash.SubtractOnEvict(agg.countmin(width=64, depth=2))
    window.insert_many(["a", "b", "a"])
    window.evict()
    assert (window.query().count("a"), window.query().count("b")) == (1, 1)


@pytest.mark.parametrize("structure", [sash.TwoStacksLite, sash.DabaLite, sash.FlatFit])
def test_quantiles_are_within_their_rank_error(structure: type[sash.DabaLite]) -> None:
    source = np.random.default_rng(7)
    values = source.normal(size=5_000)
    window = structure(agg.quantiles([0.05, 0.5, 0.95]))
    window.insert_many(values)
    window.evict_many(1_000)
    kept = np.sort(values[1_000:])
    ranks = np.searchsorted(kept, window.query()) / len(kept)
    error = 2 * kll_doubles_sketch(200).normalized_rank_error(False)
    assert np.abs(ranks - [0.05, 0.5, 0.95]).max() < error


def test_one_quantile_in_a_list_is_a_list() -> None:
    table = pa.table({"x": [1.0, 2.0, 3.0]})
    out = sash.rolling(
        table, rows=3, aggs=[agg.quantiles([1], "x"), agg.quantiles(1, "x").alias("y")]
    )
    assert out["quantiles_x"].to_pylist() == [[1.0], [2.0], [3.0]]
    assert out["y"].to_pylist() == [1.0, 2.0, 3.0]


def test_quantiles_of_few_values_are_exact() -> None:
    window = sash.DabaLite(agg.quantiles(0.5))
    assert window.query() is None
    window.insert_many([5.0, None, 1.0, 3.0])
    assert window.query() == 3.0
