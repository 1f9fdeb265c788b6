"""Hostile names on Spark: in plans, in workers, in the state of streams. Many in one query each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from frames import frame_of
from names import CASES, HOSTILE, INTERNAL
from streams import BEGIN, Sink, read, run, write

import sash
from sash import agg
from sash import spark as sps

NAMES = [*HOSTILE.values(), *INTERNAL.values()]
STAMPS = pa.array([BEGIN, BEGIN + 1_000_000, BEGIN + 2_000_000]).view(pa.timestamp("us", "UTC"))
TIME = HOSTILE["sql in brackets"]
"""What the column of times is called: Spark reads such names as expressions where it can."""


def table_with(columns: dict[str, list[Any]]) -> pa.Table:
    return pa.table({TIME + "`.t": STAMPS, "who": ["a", "b", "a"], **columns})


ON = TIME + "`.t"
READ = table_with({name: [1.0, 2.0, 4.0] for name in NAMES})


def test_rolling(spark: Any) -> None:
    totals = [agg.sum(name) for name in NAMES]
    out = sps.rolling(frame_of(spark, READ), on=ON, by="who", window="1m", aggs=totals)
    found = out.toArrow()
    assert found.column_names == [*READ.column_names, *(f"sum_{name}" for name in NAMES)]
    rows = sorted(found.to_pylist(), key=lambda row: row[ON])
    for name in NAMES:
        assert [row[name] for row in rows] == [1.0, 2.0, 4.0]
        assert [row[f"sum_{name}"] for row in rows] == [1.0, 2.0, 5.0]


def test_keys_ranges_and_steps(spark: Any) -> None:
    """All names are keys at once, one key is spread over ranges of time."""
    keyed = table_with({name: ["x", "y", "x"] for name in NAMES} | {"amount": [1.0, 2.0, 4.0]})
    out = sps.rolling(
        frame_of(spark, keyed), on=ON, by=NAMES, window="1m", split=True,
        aggs=agg.sum("amount").alias("a`b.total"),
    )  # fmt: skip
    rows = sorted(out.toArrow().to_pylist(), key=lambda row: row[ON])
    assert [row["a`b.total"] for row in rows] == [1.0, 2.0, 5.0]
    assert [{row[name] for name in NAMES} for row in rows] == [{"x"}, {"y"}, {"x"}]


def test_windows(spark: Any) -> None:
    keyed = table_with({name: ["x", "y", "x"] for name in NAMES} | {"amount": [1.0, 2.0, 4.0]})
    windows = [sash.tumbling("1h", name=name) for name in NAMES]
    totals = [agg.sum("amount").alias(f"of {name}") for name in NAMES]
    out = sps.windows(frame_of(spark, keyed), on=ON, by=NAMES, windows=windows, aggs=totals)
    rows = out.toArrow().to_pylist()
    assert sorted(row["window"] for row in rows) == sorted(NAMES * 2)
    for row in rows:
        wanted = {"x": 5.0, "y": 2.0}[row["key"]]
        assert {row[name] for name in NAMES} == {row["key"]}
        assert {row[f"of {name}"] for name in NAMES} == {wanted}


def test_a_stream_its_late_rows_and_its_state(spark: Any, tmp_path: Path) -> None:
    late = READ.set_column(0, ON, pa.array([1, 1, 1]).view(pa.timestamp("us", "UTC")))
    write(tmp_path / "in", [pa.concat_tables([READ, READ]), late])
    stream = read(spark, tmp_path / "in", READ.schema)
    windows = [sash.tumbling("1h", name=name) for name in NAMES]
    out = sps.windows(
        stream, on=ON, by="who", windows=windows, aggs=[agg.sum(name) for name in NAMES],
        watermark="0s", lateness="1m", emit="updates", late_rows=True,
    )  # fmt: skip
    sink = Sink()
    run(out, tmp_path / "checkpoint", sink)
    rows = sink.rows()
    told = {(row["who"], row["window"]): row for row in rows if row["change"] != "late"}
    assert told.keys() == {(who, name) for who in "ab" for name in NAMES}
    for (who, _), row in told.items():
        assert {row[f"sum_{name}"] for name in NAMES} == {10.0 if who == "a" else 4.0}
    left_out = [row["late_row"] for row in rows if row["change"] == "late"]
    assert left_out == late.to_pylist()
    state = sps.state(str(tmp_path / "checkpoint"), spark=spark)
    kept = state.windows().toArrow().to_pylist()
    assert {row["window"] for row in kept} == set(NAMES)
    assert state.query("a")[f"sum_{NAMES[0]}"] == 10.0


def test_names_that_differ_in_case_are_refused(spark: Any) -> None:
    """Spark would take one for the other, and say only that a reference is ambiguous."""
    alike = frame_of(spark, pa.table({"t": [1], CASES[0]: [1.0], CASES[1]: [2.0]}))
    one = frame_of(spark, pa.table({"t": [1], CASES[0]: [1.0]}))
    total, tumbling = agg.sum(CASES[0]), sash.tumbling(1)
    calls = [
        lambda: sps.rolling(alike, on="t", window=1, aggs=total),
        lambda: sps.windows(alike, on="t", windows=tumbling, aggs=total),
        lambda: sps.rolling(one, on="t", window=1, aggs=total.alias(CASES[1])),
        lambda: sps.windows(one, on="t", windows=tumbling, aggs=total.alias("Window_Start")),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="differ in case alone"):
            call()
    ours = frame_of(spark, pa.table({"t": [1], "__SASH_range": [1.0]}))
    with pytest.raises(ValueError, match="is for our own"):
        sps.rolling(ours, on="t", window=1, aggs=agg.count())


def test_numbers_of_partitions_and_shards_have_bounds(spark: Any, tmp_path: Path) -> None:
    many = agg.count().alias("how many")
    frame = frame_of(spark, READ)
    with pytest.raises(ValueError, match="partitions must be at most 1048576"):
        sps.rolling(frame, on=ON, by="who", window="1m", aggs=many, partitions=10**9)
    (tmp_path / "in").mkdir()
    stream = read(spark, tmp_path / "in", READ.schema)
    asked: dict[str, Any] = {"on": ON, "by": "who", "window": "1m", "aggs": many}
    with pytest.raises(ValueError, match="shards must be at most 65536"):
        sps.rolling(stream, watermark="1s", shards=10**9, **asked)
    with pytest.raises(ValueError, match="longer than all times"):
        sps.rolling(stream, watermark=f"{10**25}s", **asked)


@pytest.mark.full
def test_a_thousand_columns(spark: Any) -> None:
    """As columns that pass, fifty of them as keys, a thousand results."""
    wide = {f"c{i}": [1.0, 1.0, 1.0] for i in range(50)}
    wide |= {f"c{i}": [1.0, 2.0, float(i)] for i in range(50, 1000)}
    frame = frame_of(spark, pa.table({"t": [1, 2, 3], **wide}))
    totals = [agg.sum(f"c{i}") for i in range(1000)]
    by = [f"c{i}" for i in range(50)]
    out = sps.rolling(frame, on="t", by=by, window=2, aggs=totals).toArrow()
    last = max(out.to_pylist(), key=lambda row: row["t"])
    assert out.num_columns == 2001
    assert [last[f"sum_c{i}"] for i in range(50, 1000)] == [2.0 + i for i in range(50, 1000)]
    told = sps.windows(frame, on="t", by=by, windows=sash.tumbling(9), aggs=totals).toArrow()
    (row,) = told.to_pylist()
    assert [row[f"sum_c{i}"] for i in range(50, 1000)] == [3.0 + i for i in range(50, 1000)]
