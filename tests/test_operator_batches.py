"""The same results whatever the batches, the store and the order within a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import agg

ROWS = sash.monoid(lambda a, b: a + b, lift=lambda v: (v,), lower=list, name="rows")
WINDOWS = {
    "fixed": [sash.tumbling(50), sash.sliding(70, 30), sash.tumbling(13, offset=4)],
    "sessions": [sash.session(3), sash.session(40), sash.session(11)],
    "mixed": [sash.tumbling(100), sash.session(5), sash.sliding(60, 20)],
    "each row": [sash.windows.rolling(40), sash.tumbling(64)],
    "by rows": [sash.tumbling(rows=7), sash.windows.rolling(rows=5), sash.windows.delta("x", 400)],
    "sparse": [sash.sliding(9, 2), sash.session(1)],
}
AGGREGATES: dict[str, list[sash.Aggregate]] = {
    "native": [agg.sum("x")],
    "record": [agg.count(), agg.max("x"), agg.argmax("x", "t"), agg.last("x")],
    "python": [ROWS.on("x")],
}


def stream(n: int, seed: int, spread: int, span: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    times = np.sort(rng.integers(-span, span, n))
    late = rng.integers(0, spread, n)
    order = np.argsort(times + late, kind="stable")
    return pa.table({"t": times[order], "x": rng.integers(0, 1000, n), "k": rng.integers(0, 5, n)})


def final(out: list[pa.Table]) -> dict[Any, Any]:
    """What a reader has in the end: what was told last of each window."""
    standing: dict[Any, Any] = {}
    for row in (r for table in out for r in table.to_pylist()):
        place = (row["k"], row["window"], row["window_start"], row["window_end"])
        value = {k: v for k, v in row.items() if k not in ("revision", "change")}
        if row["change"] == "withdrawn":
            standing[place].remove(value)
        elif row["change"] == "correction" and len(standing[place]) == 1:
            standing[place] = [value]
        else:
            standing.setdefault(place, []).append(value)
    return {place: values for place, values in standing.items() if values}


@pytest.mark.parametrize("aggs", AGGREGATES)
@pytest.mark.parametrize("windows", WINDOWS)
def test_batches_and_stores_do_not_matter(windows: str, aggs: str) -> None:
    n = 2_000 if aggs == "python" else 10_000
    table = stream(n, 7, 30, 3000)

    def run(size: int, store: str) -> dict[Any, Any]:
        op = sash.WindowOperator(
            on="t", by="k", windows=WINDOWS[windows], aggs=AGGREGATES[aggs],
            delay=25, lateness=1_000_000, store=store,
        )  # fmt: skip
        out = [op.process(table.slice(i, size)) for i in range(0, n, size)]
        return final([*out, op.finish()])

    whole = run(n, "auto")
    assert len(whole) > 100
    for size, store in ((1000, "lazy"), (1000, "eager"), (83, "auto")):
        assert run(size, store) == whole
    if aggs == "native" and windows in ("mixed", "by rows"):
        assert run(1, "auto") == whole


def test_the_order_of_a_batch_does_not_matter() -> None:
    table = stream(5_000, 3, 1, 2000)
    rng = np.random.default_rng(1)
    shuffled = table.take(rng.permutation(table.num_rows))
    found = []
    for rows in (table, shuffled):
        op = sash.WindowOperator(
            on="t", by="k", windows=WINDOWS["mixed"], aggs=[agg.sum("x"), agg.max("x")]
        )
        found.append(final([op.process(rows), op.finish()]))
    assert found[0] == found[1]


def test_a_grid_of_edges_and_sorted_rows_agree() -> None:
    """Few rows over a long time are sorted; many are scattered over the edges."""
    dense, sparse = stream(5_000, 5, 20, 500), stream(50, 6, 20, 10**9)
    for table in (dense, sparse):
        op = sash.WindowOperator(on="t", by="k", windows=WINDOWS["sparse"], aggs=agg.sum("x"))
        got = final([op.process(table), op.finish()])
        one = sash.WindowOperator(on="t", by="k", windows=WINDOWS["sparse"], aggs=agg.sum("x"))
        rows = [one.process(table.slice(i, 1)) for i in range(table.num_rows)]
        assert final([*rows, one.finish()]) == got
