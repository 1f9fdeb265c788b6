"""Data and comparisons for tests on Spark."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from sash.spark._frames import schema_of


def events(
    seed: int, n: int, keys: int, *, unit: int = 1_000_000, unique: bool = False
) -> pa.Table:
    """Rows with nulls, duplicates and times before the epoch; ``n`` numbers them."""
    rng = np.random.default_rng(seed)
    times = rng.integers(-n // 2, n, n)
    if unique:
        times = rng.permutation(np.arange(-n // 2, n // 2 + n % 2))
    nothing = rng.random(n) < 0.1
    floats = np.where(rng.random(n) < 0.05, np.nan, np.round(rng.normal(size=n), 2))
    return pa.table(
        {
            "k": pa.array(rng.integers(0, keys, n), mask=rng.random(n) < 0.02),
            "ts": pa.array(times * unit).view(pa.timestamp("us", "UTC")),
            "x": pa.array(floats, mask=nothing),
            "i": pa.array(rng.integers(-100, 100, n).astype(np.int32), mask=rng.random(n) < 0.1),
            "s": pa.array([f"v{v}" for v in rng.integers(0, 30, n)], mask=rng.random(n) < 0.1),
            "n": pa.array(np.arange(n)),
        }
    )


def frame_of(spark: Any, table: pa.Table) -> Any:
    """A table as a DataFrame of the very same types."""
    return spark.createDataFrame(table, schema=schema_of(table.schema))


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal, but for the rounding of floats."""
    if isinstance(a, float) and isinstance(b, float):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return bool(a == b)


def differences(found: pa.Table, wanted: pa.Table, order: list[str]) -> list[Any]:
    """The first rows that differ, both sorted by these columns."""

    def key(row: dict[str, Any]) -> list[Any]:
        return [(row[c] is not None, row[c]) for c in order]

    left, right = (sorted(t.to_pylist(), key=key) for t in (found, wanted))
    assert found.column_names == wanted.column_names
    assert len(left) == len(right)
    return [
        (name, a[name], b[name])
        for a, b in zip(left, right, strict=True)
        for name in wanted.column_names
        if not same(a[name], b[name])
    ][:5]
