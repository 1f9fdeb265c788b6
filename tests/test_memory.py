"""Memory goes back when a window shrinks, and is what the structures promise."""

from __future__ import annotations

import numpy as np
import pytest
from cases import STRUCTURES, named

import sash
from sash import TimedWindow, agg
from sash.structures import Window

SUM = agg.sum(dtype=int)
MILLION = 1_000_000


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_a_window_that_shrank_gives_memory_back(structure: type[Window]) -> None:
    window = structure(SUM)
    small = window.nbytes
    window.insert_many(np.ones(MILLION, np.int64))
    assert window.query() == MILLION
    large = window.nbytes
    assert large >= 8 * MILLION
    window.evict_many(MILLION - 10)
    assert window.query() == 10
    assert window.nbytes < large / 100
    window.clear()
    assert window.nbytes <= max(small, 1 << 17)


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_a_window_that_is_cleared_gives_memory_back(structure: type[Window]) -> None:
    window = structure(SUM)
    window.insert_many(np.ones(100_000, np.int64))
    window.clear()
    assert window.nbytes < 100_000
    window.insert(1)
    assert window.query() == 1


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_a_window_that_slides_does_not_grow(structure: type[Window]) -> None:
    window = structure(SUM)
    window.slide(np.ones(10_000, np.int64), 1_000)
    before = window.nbytes
    window.slide(np.ones(100_000, np.int64), 1_000)
    assert window.nbytes <= 2 * before


def test_times_are_given_back_too() -> None:
    window = TimedWindow(SUM)
    window.insert_many(np.arange(MILLION), np.ones(MILLION, np.int64))
    large = window.nbytes
    assert window.bulk_evict(MILLION - 11) == MILLION - 10
    assert window.nbytes < large / 100


def test_small_windows_are_small() -> None:
    for structure in STRUCTURES:
        window = structure(SUM)
        window.insert_many([1, 2, 3])
        assert window.nbytes < 2048


def test_lite_variants_take_half() -> None:
    sizes = {}
    for structure in (sash.TwoStacks, sash.TwoStacksLite, sash.Daba, sash.DabaLite):
        window = structure(SUM)
        window.insert_many(np.ones(100_000, np.int64))
        sizes[structure] = window.nbytes
    assert sizes[sash.TwoStacksLite] == pytest.approx(sizes[sash.TwoStacks] / 2, rel=0.1)
    assert sizes[sash.DabaLite] == pytest.approx(sizes[sash.Daba] / 2, rel=0.1)


@pytest.mark.parametrize("structure", [sash.Recalc, sash.SubtractOnEvict], ids=named)
def test_rows_of_a_big_state_are_kept_as_rows(structure: type[Window]) -> None:
    window = structure(agg.countmin(width=1 << 10, depth=4))  # a state of 32 KB
    window.insert_many(np.arange(1000))
    assert window.nbytes < 200 * 1000
