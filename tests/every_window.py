"""Everything that aggregates a window of the last so many values, behind one interface.

Each function takes the aggregates, which read column ``v`` (and ``w``, of values that are pairs),
the values and the size of windows, and yields for some windows their first row, the row after their
last, and the result of each aggregate.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from cases import STRUCTURES

import sash
from sash import Aggregate
from sash.structures import Window

Aggregates = Sequence[Aggregate]
Answer = tuple[int, int, tuple[Any, ...]]
System = Callable[[Aggregates, Sequence[Any], int], Iterator[Answer]]


def live(aggregates: Aggregates) -> Any:
    """The aggregates for a structure; one by itself is compiled into it."""
    plain = [replace(a, columns=(None,) * len(a.columns), named=a.output) for a in aggregates]
    return plain[0] if len(plain) == 1 else plain


def _results(aggregates: Aggregates, found: Any) -> list[tuple[Any, ...]]:
    """The results of a slide, row by row."""
    columns = list(found.values()) if isinstance(found, dict) else [found]
    assert len(columns) == len(aggregates)
    return list(zip(*(c.tolist() for c in columns), strict=True))


def _told(answer: Any) -> tuple[Any, ...]:
    return answer if isinstance(answer, tuple) else (answer,)


def in_slides(structure: type[Window]) -> System:
    def system(aggregates: Aggregates, values: Sequence[Any], size: int) -> Iterator[Answer]:
        found = structure(live(aggregates)).slide(list(values), size)
        for i, row in enumerate(_results(aggregates, found)):
            yield max(0, i + 1 - size), i + 1, row

    return system


def in_steps(structure: type[Window]) -> System:
    """One by one, with sizes that swing between 1 and twice the size."""

    def system(aggregates: Aggregates, values: Sequence[Any], size: int) -> Iterator[Answer]:
        window, begin = structure(live(aggregates)), 0
        most = random.Random(size)
        for i, value in enumerate(values):
            window.insert(value)
            while len(window) > most.randint(1, 2 * size):
                window.evict()
                begin += 1
            yield begin, i + 1, _told(window.query())

    return system


def tree_any_order(aggregates: Aggregates, values: Sequence[Any], size: int) -> Iterator[Answer]:
    """Values come shuffled within a window's length; ranges are asked for, then evicted."""
    tree = sash.FingerTree(live(aggregates))
    order = list(range(len(values)))
    mix = random.Random(len(values))
    for start in range(0, len(values), size):
        part = order[start : start + size]
        mix.shuffle(part)
        for at in part:
            tree.insert(at, values[at])
        for at in sorted(part):
            lo = max(0, at + 1 - size)
            yield lo, at + 1, _told(tree.query(lo, at))
        if start >= size:
            tree.bulk_evict(start - size)
            yield start - size + 1, start + len(part), _told(tree.query())


def tree_slide(aggregates: Aggregates, values: Sequence[Any], size: int) -> Iterator[Answer]:
    found = sash.ClassicTree(live(aggregates)).slide(range(len(values)), list(values), size)
    for i, row in enumerate(_results(aggregates, found)):
        yield max(0, i + 1 - size), i + 1, row


def timed(aggregates: Aggregates, values: Sequence[Any], size: int) -> Iterator[Answer]:
    found = sash.TimedWindow(live(aggregates)).slide(range(len(values)), list(values), size)
    for i, row in enumerate(_results(aggregates, found)):
        yield max(0, i + 1 - size), i + 1, row


def flat(aggregates: Aggregates, values: Sequence[Any], size: int) -> Iterator[Answer]:
    """A ring of places: once it is full, each value takes the place of the oldest."""
    if len(values) < size:
        return
    places = sash.FlatFat(live(aggregates), list(values[:size]))
    yield 0, size, _told(places.aggregate())
    for i in range(size, len(values)):
        places.update({i % size: values[i]})
        yield i + 1 - size, i + 1, _told(places.aggregate())


def _table(values: Sequence[Any]) -> pa.Table:
    times = np.arange(len(values))
    if len(values) and isinstance(values[0], tuple):
        first, second = zip(*values, strict=True)
        return pa.table({"t": times, "v": first, "w": second})
    return pa.table({"t": times, "v": values})


def _columns(aggregates: Aggregates, table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(table[a.output].to_pylist() for a in aggregates), strict=True))


def rolling(**how: Any) -> System:
    def system(aggregates: Aggregates, values: Sequence[Any], size: int) -> Iterator[Answer]:
        how_long = {"rows": size} if how.get("by_rows") else {"window": size}
        more = {k: v for k, v in how.items() if k != "by_rows"}
        out = sash.rolling(_table(values), on="t", aggs=list(aggregates), **how_long, **more)
        for i, row in enumerate(_columns(aggregates, out)):
            yield max(0, i + 1 - size), i + 1, row

    return system


def operator(window: Callable[[int], sash.windows.Window], store: str) -> System:
    """Batches that are shuffled; windows may begin before the first row and end after the last."""

    def system(aggregates: Aggregates, values: Sequence[Any], size: int) -> Iterator[Answer]:
        op = sash.WindowOperator(
            on="t", windows=window(size), aggs=list(aggregates), lateness=0, store=store
        )
        table, order = _table(values), np.random.default_rng(size).permutation(len(values))
        told = [op.process(table.take(pa.array(part))) for part in np.array_split(order, 3)]
        out = pa.concat_tables([*told, op.finish()])
        begins = 1 if window is sash.windows.rolling else 0  # (t - size, t], not [t, t + size)
        for start, end, row in zip(
            out["window_start"].to_pylist(),
            out["window_end"].to_pylist(),
            _columns(aggregates, out),
            strict=True,
        ):
            yield max(0, start + begins), min(len(values), end + begins), row

    return system


UNORDERED = {"FlatFat"}
"""Those whose values have places and no order of age."""
EXACT_ONLY = sash.SubtractOnEvict  # takes floats on request only: they leave traces
SYSTEMS: dict[str, System] = {
    **{f"{s.__name__}-slide": in_slides(s) for s in STRUCTURES if s is not EXACT_ONLY},
    **{f"{s.__name__}-steps": in_steps(s) for s in STRUCTURES if s is not EXACT_ONLY},
    "FingerTree": tree_any_order,
    "ClassicTree": tree_slide,
    "TimedWindow": timed,
    "FlatFat": flat,
    "rolling-rows": rolling(by_rows=True),
    "rolling-window": rolling(),
    "rolling-arrival": rolling(order="arrival"),
    "operator-sliding-lazy": operator(lambda size: sash.sliding(size, max(1, size // 3)), "lazy"),
    "operator-sliding-eager": operator(lambda size: sash.sliding(size, max(1, size // 3)), "eager"),
    "operator-rolling": operator(sash.windows.rolling, "auto"),
    "operator-tumbling": operator(sash.tumbling, "auto"),
}
