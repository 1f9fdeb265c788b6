"""`sash.spark.rolling` gives what Spark's own frames give, and what `sash.rolling` gives."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from depth import sampled
from frames import differences, events, frame_of

import sash
from sash import agg
from sash import spark as sps

BOTH = {
    "count": (agg.count("x"), "count(x) {over}"),
    "rows": (agg.count(), "count(1) {over}"),
    "sum": (agg.sum("x"), "sum(x) {over}"),
    "sum_i": (agg.sum("i"), "sum(i) {over}"),
    "mean": (agg.mean("x"), "avg(x) {over}"),
    "min": (agg.min("x"), "min(x) {over}"),
    "max": (agg.max("x"), "max(x) {over}"),
    "min_s": (agg.min("s"), "min(s) {over}"),
    "max_i": (agg.max("i"), "max(i) {over}"),
    "stddev": (agg.stddev("i"), "stddev(i) {over}"),
    "variance": (agg.variance("i", ddof=0), "var_pop(i) {over}"),
    "median": (agg.median("i"), "percentile(i, 0.5) {over}"),
    "quantile": (agg.quantile(0.9, "i"), "percentile(i, 0.9) {over}"),
    "distinct": (agg.count_distinct("s"), "size(collect_set(s) {over})"),
    "some": (agg.any("b"), "bool_or(b) {over}"),
    "every": (agg.all("b"), "bool_and(b) {over}"),
    "when": (agg.max("ts"), "max(ts) {over}"),
}
FRAMES: dict[str, tuple[dict[str, Any], int, int]] = {
    "before": ({"window": "20s", "closed": "both"}, -20_000_000, 0),
    "half open": ({"window": "20s"}, -19_999_999, 0),
    "ahead": ({"window": ("5s", "20s"), "closed": "both"}, -5_000_000, 20_000_000),
    "longer than all": ({"window": "9000s"}, -8_999_999_999, 0),
}


@pytest.mark.parametrize("frame", FRAMES, ids=str)
@pytest.mark.parametrize("keys", [1, 40])
def test_equals_range_between(spark: Any, frame: str, keys: int) -> None:
    table = events(keys, 3000, keys)
    df = frame_of(spark, table).selectExpr("*", "i > 0 as b").repartition(4)
    arguments, low, high = FRAMES[frame]
    aggs = [one.alias(name) for name, (one, _) in BOTH.items()]
    ours = sps.rolling(df, on="ts", by="k", aggs=aggs, **arguments)
    over = f"over (partition by k order by unix_micros(ts) range between {low} preceding"
    over = over.replace("between -", "between ") + f" and {high} following)"
    theirs = df.selectExpr(
        "*", *(f"{call.format(over=over)} as `{name}`" for name, (_, call) in BOTH.items())
    )
    assert differences(ours.toArrow(), theirs.toArrow(), ["n"]) == []


LIKE_LOCAL: dict[str, dict[str, Any]] = {
    "one window": {"window": "20s"},
    "several": {"window": {"near": "5s", "far": ("30s", "10s")}, "min_rows": 2},
    "center": {"window": "21s", "center": True, "closed": "left"},
    "by count": {"rows": 7},
    "around": {"rows": (3, 2), "closed": "both"},
    "steps": {"window": "30s", "every": "10s", "offset": "3s"},
    "steps, closed": {"window": "30s", "every": "7s", "closed": "both"},
}
ONLY_OURS = [
    agg.argmax("x", "s"), agg.m4("x", "ts"), agg.collect("i"), agg.distinct("s"), agg.topk(2, "i"),
    agg.histogram([-50, 0, 50], "i"), agg.mode("s"), agg.first("s"), agg.nth_youngest(2, "i"),
    agg.concat("s", separator="-"), agg.range("i"), agg.hll("s"), agg.bloom("s", bits=64),
    agg.quantiles([0.5, 0.9], "x"), agg.product("x").alias("p"), agg.relative_variation("i"),
]  # fmt: skip


@pytest.mark.parametrize("how", LIKE_LOCAL)
@pytest.mark.parametrize("by", sampled(["k", None, ["k", "s"]], 3), ids=str)
def test_equals_local(spark: Any, how: str, by: Any) -> None:
    table = events(3, 1500, 3, unique=by is None)
    df = frame_of(spark, table).repartition(3)
    arguments = {"on": "ts", "by": by, "aggs": ONLY_OURS, **LIKE_LOCAL[how]}
    local = sash.rolling(table.sort_by("n"), **arguments)
    keys = [by] if isinstance(by, str) else by or []
    order = ["n"] if "n" in local.column_names else [*keys, "window_end"]
    split = [False] if "rows" in arguments else [False, True, "200s"]
    for ranges in split:
        ours = sps.rolling(df, ties="n", split=ranges, **arguments)
        assert differences(ours.toArrow(), local, order) == [], ranges


def _dates(n: int) -> pa.Table:
    days = np.random.default_rng(1).integers(-500, 900, n)
    stamps = days.astype("datetime64[D]")
    return pa.table({"t": pa.array(stamps), "n": pa.array(np.arange(n)), "i": pa.array(days % 17)})


TIMES: dict[str, Any] = {
    "zoned": pa.timestamp("us", "UTC"),
    "plain": pa.timestamp("us"),
    "int": pa.int64(),
    "small": pa.int16(),
    "date": pa.date32(),
}


@pytest.mark.parametrize("kind", TIMES)
@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("steps", [False, True], ids=["rows", "steps"])
def test_all_types_of_times(spark: Any, kind: str, split: bool, steps: bool) -> None:
    n = 600
    rng = np.random.default_rng(2)
    table = _dates(n)
    if kind != "date":
        t = rng.integers(-20_000, 20_000, n)
        if kind in ("zoned", "plain"):  # across changes to and from summer time, too
            t = t * 900_000_000 + rng.integers(0, 3, n) + 1_700_000_000_000_000
        column = pa.array(t).cast(pa.int16()) if kind == "small" else pa.array(t)
        if kind in ("zoned", "plain"):
            column = column.view(TIMES[kind])
        table = table.set_column(0, "t", column)
    window: Any = {"zoned": "5h", "plain": "5h", "date": "9d"}.get(kind, 40)
    arguments: dict[str, Any] = {"on": "t", "window": (window, window) if not steps else window}
    if steps:
        arguments["every"] = {"zoned": "1h", "plain": "1h", "date": "2d"}.get(kind, 7)
    arguments["aggs"] = [agg.count(), agg.sum("i"), agg.max("t").alias("latest")]
    ours = sps.rolling(frame_of(spark, table), split=split, **arguments)
    local = sash.rolling(table, **arguments)
    order = ["window_end"] if steps else ["n"]
    assert differences(ours.toArrow(), local, order) == []


def test_types_of_columns_and_results(spark: Any) -> None:
    n = 200
    rng = np.random.default_rng(5)
    days = [date(2026, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 99, n)]
    table = pa.table(
        {
            "n": pa.array(np.arange(n)),
            "money": pa.array([Decimal(int(v)) / 4 for v in rng.integers(-99, 99, n)],
                              pa.decimal128(12, 2)),
            "wide": pa.array([Decimal(int(v)) * 10**20 for v in rng.integers(-99, 99, n)],
                             pa.decimal128(38, 2)),
            "day": pa.array(days),
            "plain": pa.array(rng.integers(0, 10**15, n)).view(pa.timestamp("us")),
            "flag": pa.array(rng.random(n) < 0.5),
            "small": pa.array(rng.integers(-9, 9, n).astype(np.int8)),
            "single": pa.array(rng.random(n).astype(np.float32)),
            "raw": pa.array([bytes([v]) for v in rng.integers(0, 255, n)]),
            "span": pa.array(rng.integers(0, 10**9, n)).view(pa.duration("us")),
            "list": pa.array([[1, None], []] * (n // 2), pa.list_(pa.int64())),
            "map": pa.array([[("a", 1)], []] * (n // 2), pa.map_(pa.string(), pa.int64())),
            "struct": pa.array([{"a": 1, "b": "x"}, None] * (n // 2)),
            "text": pa.array([f"t{v}" for v in rng.integers(0, 9, n)]),
        }
    )  # fmt: skip
    aggs = [
        agg.sum("money"), agg.max("money"), agg.sum("wide"), agg.min("wide"), agg.range("money"),
        agg.max("day"), agg.range("plain"), agg.last("plain"), agg.sum("flag"), agg.max("small"),
        agg.sum("small"), agg.mean("single"), agg.max("single"), agg.min("raw"), agg.sum("span"),
        agg.last("list"), agg.first("struct"), agg.argmax("text", "struct").alias("at"),
        agg.collect("day"), agg.m4("small", "plain"), agg.countmin("text", width=8, depth=2),
        agg.hll("text", sketch=True).alias("sketch"), agg.topk(2, "money").alias("top"),
    ]  # fmt: skip
    df = frame_of(spark, table)
    ours = sps.rolling(df, on="n", rows=5, aggs=aggs)
    local = sash.rolling(table, on="n", rows=5, aggs=aggs)
    kinds = {f.name: f.dataType.simpleString() for f in ours.schema.fields}
    for name, kind in {
        "sum_money": "decimal(38,2)", "max_money": "decimal(12,2)", "max_day": "date",
        "range_plain": "interval day to second", "last_plain": "timestamp_ntz",
        "max_small": "tinyint", "sum_small": "bigint", "max_single": "float", "min_raw": "binary",
        "last_list": "array<bigint>", "first_struct": "struct<a:bigint,b:string>",
        "collect_day": "array<date>", "countmin_text": "binary", "sketch": "binary",
        "top": "array<decimal(12,2)>",
    }.items():  # fmt: skip
        assert kinds[name] == kind, name
    assert kinds["m4_small"].startswith("struct<first:struct<time:timestamp_ntz,value:bigint>")
    found = ours.toArrow()
    for name in local.column_names:
        assert [v.as_py() for v in found.sort_by("n")[name]] == local[name].to_pylist(), name


def test_a_sketch_is_one_of_sparks(spark: Any) -> None:
    df = spark.range(4000).selectExpr("id as t", "id % 700 as v", "concat('v', id % 900) as s")
    aggs = [
        agg.hll("v", sketch=True).alias("our_v"),
        agg.hll("s", sketch=True).alias("our_s"),
        agg.hll("v").alias("estimate"),
    ]
    ours = sps.rolling(df, on="t", rows=4000, aggs=aggs)
    theirs = df.selectExpr("hll_sketch_agg(v) as their_v", "hll_sketch_agg(s) as their_s")
    last = ours.filter("t = 3999").crossJoin(theirs)
    row = last.selectExpr(
        "hll_sketch_estimate(our_v)", "hll_sketch_estimate(their_v)", "estimate",
        "hll_sketch_estimate(hll_union(our_v, their_v))",
        "hll_sketch_estimate(our_s)", "hll_sketch_estimate(hll_union(our_s, their_s))",
    ).first()  # fmt: skip
    assert row[0] == row[1] == row[2] == row[3]
    assert row[4] == row[5] == pytest.approx(900, rel=0.05)


def test_keys_that_are_equal_are_one_key(spark: Any) -> None:
    df = spark.sql(
        "select * from values (1, double('NaN'), 1), (2, double('NaN'), 2), (3, 0.0D, 4), "
        "(4, -0.0D, 8), (5, null, 16), (6, null, 32) as t(t, k, x)"
    ).repartition(5)
    out = sps.rolling(df, on="t", by="k", window=100, aggs=agg.sum("x")).toArrow().sort_by("t")
    assert out["sum_x"].to_pylist() == [1, 3, 4, 12, 16, 48]


@pytest.mark.parametrize("split", [False, True])
def test_nothing_and_one_row(spark: Any, split: bool) -> None:
    df = frame_of(spark, events(1, 3, 2))
    arguments: dict[str, Any] = {"on": "ts", "window": "1m", "aggs": agg.count(), "split": split}
    assert sps.rolling(df.limit(0), **arguments).count() == 0
    assert sps.rolling(df.filter("n = 1"), **arguments).toArrow()["count"].to_pylist() == [1]


def test_odd_names(spark: Any) -> None:
    df = spark.sql("select id as `a.b`, id % 2 as `k ``ey`, id as `select` from range(10)")
    out = sps.rolling(df, on="a.b", by="k `ey", window=4, split=True, aggs=agg.sum("select"))
    local = sash.rolling(df.toArrow(), on="a.b", by="k `ey", window=4, aggs=agg.sum("select"))
    assert differences(out.toArrow(), local, ["a.b"]) == []


def test_python_monoids(spark: Any) -> None:
    table = events(4, 800, 4)
    spread = sash.monoid(
        lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
        lift=lambda v: (v, v),
        lower=lambda s: [s[0], s[1]],
        name="spread",
        column="i",
        returns=pa.list_(pa.int64()),
    )
    df = frame_of(spark, table)
    ours = sps.rolling(df, on="ts", by="k", window="50s", aggs=[spread, agg.max("x")])
    local = sash.rolling(table, on="ts", by="k", window="50s", aggs=[spread, agg.max("x")])
    assert differences(ours.toArrow(), local, ["n"]) == []
