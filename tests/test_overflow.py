"""Integers are exact or an error, and only a true total that does not fit is one."""

from __future__ import annotations

import pytest
from cases import STRUCTURES, named
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash import agg
from sash.structures import Window

TOP, BOTTOM = 2**63 - 1, -(2**63)
EXTREMES = st.lists(st.sampled_from([TOP, BOTTOM, 1, -1, 0, TOP // 2]), min_size=1, max_size=12)


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
@given(values=EXTREMES, evicted=st.integers(0, 12))
@settings(max_examples=examples(60))
def test_only_the_true_total_overflows(
    structure: type[Window], values: list[int], evicted: int
) -> None:
    window = structure(agg.sum(dtype=int))
    for value in values:
        window.insert(value)
    for _ in range(min(evicted, len(values) - 1)):
        window.evict()
        window.check_invariants()
    total = sum(values[min(evicted, len(values) - 1) :])
    if BOTTOM <= total <= TOP:
        assert window.query() == total
    else:
        with pytest.raises(OverflowError, match="dtype=float"):
            window.query()


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_the_window_survives_an_overflow(structure: type[Window]) -> None:
    window = structure([agg.sum(dtype=int), agg.count()])
    window.insert_many([TOP, 1, -5])
    assert window.query() == (TOP - 4, 3)
    window.insert(5)
    with pytest.raises(OverflowError):
        window.query()
    assert "entries" in repr(window)
    window.check_invariants()
    window.evict()
    assert window.query() == (1, 3)


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_a_slide_that_overflows_leaves_a_whole_window(structure: type[Window]) -> None:
    window = structure(agg.sum(dtype=int))
    window.insert_many([1, 2])
    with pytest.raises(OverflowError):
        window.slide([3, TOP, TOP, 4], 3)
    window.check_invariants()
    assert len(window) == 2
    assert window.query() == 3


def test_other_integer_aggregates() -> None:
    spread = sash.DabaLite(agg.range(dtype=int))
    spread.insert_many([BOTTOM, TOP])
    with pytest.raises(OverflowError):
        spread.query()
    spread.evict()
    assert spread.query() == 0
    mean = sash.DabaLite(agg.mean(dtype=int))
    mean.insert_many([TOP, TOP, TOP])
    assert mean.query() == float(TOP)


@pytest.mark.parametrize("value", [TOP + 1, BOTTOM - 1, 10**30])
def test_values_that_do_not_fit(value: int) -> None:
    window = sash.DabaLite(agg.max(dtype=int))
    with pytest.raises(OverflowError, match="64-bit"):
        window.insert(value)
    with pytest.raises(OverflowError, match="64-bit"):
        window.insert_many([1, value])
    assert len(window) == 0


def test_python_integers_never_overflow() -> None:
    window = sash.DabaLite(agg.sum(dtype=object))
    window.insert_many([TOP, TOP, 10**30])
    assert window.query() == 2 * TOP + 10**30
