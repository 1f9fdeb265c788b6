"""`slide` of the trees, row by row against brute force: any order, any size, and real lateness."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from cases import Case, named
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import KINDS
from test_tree_machine import FIRST, LAST, SHAPES, TREES, Model, Shape, rows_of_results, same

from sash import agg
from sash.trees import Tree

KIND = {kind.name: kind for kind in KINDS}
CHOSEN = [KIND[name] for name in ("sum-int", "max-float", "record", "concat", "ordered-record")]
EDGES = [FIRST, FIRST + 1, FIRST + 2, -1, 0, 1, LAST - 1, LAST]
TIMES = st.integers(-60, 60) | st.sampled_from(EDGES)
SIZES = st.integers(1, 70) | st.sampled_from([2**62, LAST - 1, LAST])
FEW = settings(max_examples=examples(25))


def slides(
    tree: Tree, model: Model, kind: Case, rows: list[tuple[int, Any]], window: dict[str, Any]
) -> None:
    """One slide of the tree, compared with the model row by row."""
    got = tree.slide([t for t, _ in rows], [v for _, v in rows], **window)
    for result, (time, value) in zip(rows_of_results(got), rows, strict=True):
        model.insert(time, value)
        model.keep(window.get("size"), window.get("rows"))
        kind.check(result, model.values())
    same(tree, model, kind)


@pytest.mark.parametrize("kind", CHOSEN, ids=named)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_random_arrival(structure: type[Tree], shape: Shape, kind: Case) -> None:
    batches = st.lists(st.tuples(TIMES, kind.values), max_size=60)
    windows = SIZES.map(lambda n: {"size": n}) | SIZES.map(lambda n: {"rows": n})

    @FEW
    @given(st.lists(st.tuples(batches, windows), min_size=1, max_size=3))
    def check(runs: list[tuple[list[tuple[int, Any]], dict[str, Any]]]) -> None:
        tree, model = structure(kind.aggregate, leaf=shape[0], fanout=shape[1]), Model()
        for rows, window in runs:
            slides(tree, model, kind, rows, window)

    check()


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_rows_outside_the_window_change_nothing(structure: type[Tree]) -> None:
    """A row that is too late on arrival is in no window; the result is that of the row before."""
    tree = structure(agg.concat(), leaf=4, fanout=4)
    got = tree.slide([10, 20, 11, 10, 15, 9, 21], list("abcdefg"), 10)
    assert list(got) == ["a", "b", "cb", "cb", "ceb", "ceb", "ebg"]
    assert [t for t, _ in tree] == [15, 20, 21]


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_the_ends_of_time(structure: type[Tree]) -> None:
    tree = structure(agg.count())
    counts = tree.slide([LAST, FIRST, 0, 1, -1, LAST - 1], [0] * 6, LAST)
    # (LAST - LAST, LAST]: 1 is inside, 0 and what is before it are not.
    assert counts.tolist() == [1, 1, 1, 2, 2, 3]
    tree.clear()
    counts = tree.slide([FIRST, -1, -2, LAST, 0], [0] * 5, LAST)
    # (-1 - LAST, -1]: FIRST has just left.
    assert counts.tolist() == [1, 1, 2, 1, 1]
    tree.clear()
    assert tree.slide([FIRST, LAST, FIRST], [0] * 3, 1).tolist() == [1, 1, 1]
    assert tree.bulk_evict(LAST) == 1
    tree.clear()
    assert tree.slide(EDGES, [0] * 8, rows=3).tolist() == [1, 2, 3, 3, 3, 3, 3, 3]
    assert (tree.oldest, tree.youngest) == (1, LAST)


@pytest.mark.parametrize("structure", TREES, ids=named)
def test_nulls_are_entries_without_a_value(structure: type[Tree]) -> None:
    tree = structure(agg.sum(dtype=int))
    got = tree.slide([3, 1, 2, 3, 4], [None, None, 5, 6, None], rows=2)
    assert got.tolist() == [None, None, 5, 11, 6]
    tree.insert(5, None)
    assert (tree.query(), list(tree)) == (6, [(3, 6), (4, None), (5, None)])
    tree.evict()
    assert (tree.query(), tree.query(3, 3)) == (None, None)
    tree.insert(4, 8)  # merges with the null there
    assert (tree.query(), len(tree)) == (8, 2)


# ---- lateness as it comes: files of real data where they are, and one made here -----------------

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
ROWS = 30_000
DAY = 86_400_000_000
Column = npt.NDArray[np.int64]


def made_here() -> tuple[Column, Column]:
    """Steady arrivals whose lateness has a heavy tail, many of them of equal times."""
    source = np.random.default_rng(20)
    lateness = (source.pareto(0.7, ROWS) * DAY / 50).astype(np.int64) % (40 * DAY)
    arrival = np.arange(ROWS, dtype=np.int64) * (DAY // 400)
    minute = DAY // 1440
    return (arrival - lateness) // minute * minute, source.integers(-1000, 1000, ROWS)


def first_rows(path: Path) -> tuple[Column, Column]:
    group = next(pq.ParquetFile(path).iter_batches(ROWS, columns=["event_time", "value"]))
    times = pc.cast(group["event_time"], "int64").to_numpy()
    values = pc.fill_null(pc.cast(group["value"], "int64", safe=False), 0).to_numpy()
    return times, values


SOURCES: list[Path | None] = [None, *sorted(DATA.glob("*.parquet"))]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem if p else "made-here")
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_replay(structure: type[Tree], path: Path | None) -> None:
    """Rows in order of arrival, a window of a day; rows sampled and all around late ones."""
    times, values = first_rows(path) if path else made_here()
    assert np.any(times[1:] < times[:-1])
    whole = [agg.sum(dtype=int), agg.max(dtype=int), agg.first(dtype=int), agg.last(dtype=int)]
    record = structure(whole).slide(times, values, DAY)
    single = structure(whole[0]).slide(times, values, DAY)
    assert np.array_equal(np.ma.filled(single), np.ma.filled(record["sum"]))

    youngest = np.maximum.accumulate(times)
    picked = np.random.default_rng(1).choice(len(times), 300, replace=False)
    furthest = np.argsort(times - youngest)[:100]
    for row in [0, len(times) - 1, *picked.tolist(), *furthest.tolist()]:
        inside = np.flatnonzero(times[: row + 1] > youngest[row] - DAY)
        # An entry leaves for good: the youngest time never goes back, so no earlier window matters.
        inside = inside[np.argsort(times[inside], kind="stable")]
        window = values[inside]
        got = tuple(record[name][row].item() for name in ("sum", "max", "first", "last"))
        assert got == (window.sum(), window.max(), window[0], window[-1])
