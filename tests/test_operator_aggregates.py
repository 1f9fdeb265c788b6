"""Every aggregate gives in an operator's windows what `sash.rolling` gives in the same ones."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import agg

N = 300
LONGEST = sash.monoid(lambda a, b: b if len(b) > len(a) else a, name="longest")


def table() -> pa.Table:
    rng = np.random.default_rng(8)
    ints = rng.integers(-50, 50, N).tolist()
    nulls = rng.random(N) < 0.2

    def column(make: Any, kind: pa.DataType) -> pa.Array:
        values = [None if null else make(i) for i, null in zip(ints, nulls, strict=True)]
        return pa.array(values, kind)

    return pa.table(
        {
            "t": rng.integers(-40, 200, N),
            "k": rng.integers(0, 3, N),
            "int": column(lambda i: i, pa.int32()),
            "float": column(lambda i: i / 3, pa.float64()),
            "bool": column(lambda i: i > 0, pa.bool_()),
            "text": column(lambda i: f"v{i % 17}", pa.string()),
            "date": column(lambda i: date(2026, 1, 1) + timedelta(days=i), pa.date32()),
            "money": column(lambda i: Decimal(i) / 4, pa.decimal128(12, 2)),
            "wide": column(lambda i: Decimal(i) / 4, pa.decimal128(30, 2)),
            "time": column(lambda i: i * 1000, pa.timestamp("ns", "UTC")),
        }
    )


NUMBERS = ("int", "float")
CASES = [
    agg.count(), agg.count("text"), agg.concat("text", separator=","), LONGEST.on("text"),
    agg.argmax("float", "int"), agg.argmin("int", "text"), agg.argmax("text", "date"),
    agg.m4("float", "t"), agg.weighted_mean("float", "int"), agg.topk(3, "text"),
    agg.histogram([-20, 0, 20], "int"),
    agg.quantiles([0.1, 0.5], "float"), agg.any("bool"), agg.all("int"),
    *(f(c) for f in (agg.mean, agg.stddev, agg.product, agg.geomean) for c in NUMBERS),
    *(f(c) for f in (agg.sum, agg.range) for c in (*NUMBERS, "money", "wide")),
    *(f(c) for f in (agg.min, agg.max, agg.first, agg.last, agg.collect, agg.distinct)
      for c in ("int", "float", "text", "date", "money", "wide", "time", "bool")),
    *(f(c) for f in (agg.mincount, agg.maxcount) for c in ("int", "text")),
    *(agg.topk(3, c) for c in ("int", "date")),
    *(agg.nth_youngest(2, c) for c in ("float", "text")),
    *(f(c) for f in (agg.bloom, agg.hll) for c in ("int", "text")),
    agg.countmin("text"), agg.relative_variation("int"),
]  # fmt: skip


def close(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == pytest.approx(b, rel=1e-9, nan_ok=True)
    return bool(a == b)


@pytest.mark.parametrize("one", CASES, ids=lambda a: a.output)
def test_windows_are_those_of_rolling(one: sash.Aggregate) -> None:
    rows = table()
    expected = sash.rolling(rows, on="t", by="k", window=20, every=10, aggs=one)
    op = sash.WindowOperator(
        on="t", by="k", windows=[sash.sliding(20, 10), sash.session(7)], aggs=one, lateness=10**6
    )
    found = [op.process(rows.slice(i, 41)) for i in range(0, N, 41)]
    saved = op.snapshot()
    again = sash.WindowOperator(
        on="t", by="k", windows=[sash.sliding(20, 10), sash.session(7)], aggs=one, lateness=10**6
    )
    again.restore(saved)
    # Before its first result, the type of one's own monoid is unknown.
    out = pa.concat_tables([*found, again.finish()], promote_options="default")
    assert again.late_rows == 0
    ours = {
        (r["k"], r["window_start"]): r[one.output]
        for r in out.to_pylist()
        if r["window"] == "sliding_20_10"
    }
    theirs = {(r["k"], r["window_start"]): r[one.output] for r in expected.to_pylist()}
    assert ours.keys() == theirs.keys()
    wrong = [(p, ours[p], theirs[p]) for p in ours if not close(ours[p], theirs[p])]
    assert not wrong, wrong[:3]
    assert out.schema.field(one.output).type == expected.schema.field(one.output).type
