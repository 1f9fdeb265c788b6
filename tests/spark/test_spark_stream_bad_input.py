"""What streams refuse, and say; and what their state says of itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from streams import BEGIN, SCHEMA, Sink, listed, read, rows_of, run, write

import sash
from sash import agg
from sash import spark as sps

ASKED: dict[str, Any] = {
    "on": "t", "by": "k", "windows": sash.tumbling("1s"), "aggs": agg.sum("x"),
    "watermark": "1 second",
}  # fmt: skip


@pytest.fixture(scope="module")
def stream(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("nothing")
    return read(spark, folder)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"watermark": None}, ValueError, "needs a watermark on 't'.*watermark='10 minutes'"),
        ({"watermark": "soon"}, ValueError, "watermark"),
        ({"watermark": "1us"}, ValueError, "whole milliseconds"),
        ({"on": "x"}, TypeError, "'x' holds bigint: Spark's watermarks are of timestamps"),
        ({"on": "tt"}, KeyError, "did you mean 't'"),
        ({"emit": "append"}, ValueError, "emit must be one of complete, updates, changelog"),
        ({"lateness": -1}, ValueError, "lateness must be at least 0"),
        ({"shards": 0}, ValueError, "shards must be at least 1"),
        ({"ties": "n"}, ValueError, "ties: not for streams"),
        ({"partitions": 3}, ValueError, "partitions: not for streams"),
        ({"metrics": sps.Metrics()}, TypeError, "observedMetrics"),
        ({"aggs": sash.monoid(max, column="x")}, TypeError, "returns="),
        ({"aggs": agg.sum("x").alias("late_row"), "late_rows": True}, ValueError, "late_row"),
        ({"by": None, "shards": 2}, ValueError, "without keys there is one"),
    ],
)
def test_windows_refused(stream: Any, arguments: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        sps.windows(stream, **{**ASKED, **arguments})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"rows": 3}, "rows: not for streams"),
        ({"window": ["1s", "2s"]}, "one window that reaches back"),
        ({"window": ("1s", "1s")}, "one window that reaches back"),
        ({"closed": "left"}, "hold their own row"),
        ({"every": "1s"}, "every: not for streams"),
        ({"aggs": agg.sum("x").alias("n")}, "the stream has a column 'n'.*alias"),
        ({"split": True}, "split: not for streams"),
    ],
)
def test_rolling_refused(stream: Any, arguments: Any, said: str) -> None:
    asked = {n: v for n, v in ASKED.items() if n != "windows"} | {"window": "1s"}
    with pytest.raises(ValueError, match=said):
        sps.rolling(stream, **{**asked, **arguments})


def test_batch_frames_have_no_watermark(spark: Any) -> None:
    frame = spark.createDataFrame(rows_of(1, 1, 5, 2)[0])
    for name, value in (("watermark", "1s"), ("lateness", "1s"), ("emit", "updates")):
        asked = {n: v for n, v in ASKED.items() if n != "watermark"}
        with pytest.raises(ValueError, match=f"{name}: this DataFrame is not a stream"):
            sps.windows(frame, **asked, **{name: value})


def test_streams_are_explained(stream: Any) -> None:
    windows = str(sash.explain(stream, **ASKED, shards=4))
    assert "the keys of k are in 4 shards" in windows
    assert "tumbling_1s" in windows
    asked = {n: v for n, v in ASKED.items() if n not in ("windows", "by")}
    rolled = str(sash.explain(stream, **asked, window="1m"))
    assert "everything is in 1 shard" in rolled
    assert "Spark's state store" in rolled


def test_a_second_watermark_is_refused(stream: Any) -> None:
    marked = stream.withWatermark("t", "5 seconds")
    with pytest.raises(ValueError, match=r"has a watermark on 't' already, of 5000 ms"):
        sps.windows(marked, **ASKED)
    other = stream.withColumn("u", stream.t).withWatermark("u", "5 seconds")
    with pytest.raises(ValueError, match=r"watermark on 't' \(there is one, on 'u'\)"):
        sps.windows(other, **{**ASKED, "watermark": None})


def test_another_state_store_is_refused(spark: Any, stream: Any) -> None:
    name = "spark.sql.streaming.stateStore.providerClass"
    usual = spark.conf.get(name)
    spark.conf.set(name, usual.replace("RocksDB", "HDFSBacked"))
    try:
        with pytest.raises(ValueError, match=r"need Spark's RocksDB store: set spark\.sql"):
            sps.windows(stream, **ASKED)
    finally:
        spark.conf.set(name, usual)


def test_spark_explains_output_modes(stream: Any, tmp_path: Path) -> None:
    writer = sps.windows(stream, **ASKED).writeStream.format("noop").outputMode("complete")
    with pytest.raises(Exception, match=r"(?i)output mode"):
        writer.option("checkpointLocation", str(tmp_path)).start()


def test_spark_explains_continuous_triggers(stream: Any, tmp_path: Path) -> None:
    writer = sps.windows(stream, **ASKED).writeStream.format("noop")
    writer = writer.option("checkpointLocation", str(tmp_path))
    with pytest.raises(Exception, match=r"(?i)continuous"):
        writer.trigger(continuous="1 second").start()


def test_a_checkpoint_and_its_state(spark: Any, tmp_path: Path) -> None:
    """Refused by another query, other shards, a function that raises; then it goes on."""
    tables = rows_of(21, 3, 100, 4)
    write(tmp_path / "in", tables[:2])
    checkpoint = tmp_path / "checkpoint"
    sink = Sink()

    def careful(fives: bool) -> Any:
        def lift(x: int) -> int:
            if fives and x == 5:
                raise ZeroDivisionError("no fives")
            return x

        return sash.monoid(lambda a, b: a + b, lift=lift, name="own", column="x", returns=int)

    def query(**changed: Any) -> Any:
        asked = {**ASKED, "aggs": [careful(False), agg.count()], "shards": 2, "lateness": "3s"}
        return sps.windows(read(spark, tmp_path / "in"), **{**asked, **changed})

    run(query(), checkpoint, sink)
    state_equals(spark, checkpoint, tables[:2], [careful(False), agg.count()])
    write(tmp_path / "in", tables[2:], 2)
    for changed, said in (
        ({"aggs": [careful(False), agg.max("x")]}, "the checkpoint is of another query"),
        ({"shards": 3}, "has its keys in 2 shards.*give shards=2"),
        ({"aggs": [careful(True), agg.count()]}, "no fives in the row with k=.*t=2020"),
    ):
        with pytest.raises(Exception, match=said):
            run(query(**changed), checkpoint, sink)
    run(query(), checkpoint, sink)
    undisturbed = Sink()
    run(query(), tmp_path / "another", undisturbed)
    last = [
        {(r["k"], r["window_start"]): (r["own_x"], r["count"]) for r in sorted(rows, key=revision)}
        for rows in (sink.rows(), undisturbed.rows())
    ]
    assert last[0] == last[1]
    assert len(last[0]) > 10


def revision(row: dict[str, Any]) -> int:
    return int(row["revision"])


def state_equals(spark: Any, checkpoint: Path, tables: list[pa.Table], aggs: Any) -> None:
    """The state of a stopped query says what one operator with the same rows says."""
    with pytest.raises(ValueError, match="aggs: some have functions of yours"):
        sps.state(str(checkpoint))
    state = sps.state(str(checkpoint), aggs=aggs, spark=spark)
    assert "tumbling_1s after micro-batch 2: 2 shards" in repr(state)
    rows = pa.concat_tables(tables)
    rows = rows.filter(pa.compute.is_valid(rows["t"]))
    named = rows.set_column(0, "k", rows["k"].fill_null("nobody"))
    op = sash.WindowOperator(on="t", by="k", windows=sash.tumbling("1s"), aggs=aggs, lateness="1h")
    op.process(named)
    latest = pa.compute.max(rows["t"].cast(pa.int64())).as_py() // 1000 * 1000
    op.advance(datetime.fromtimestamp((latest - 1_000_000) / 1e6, UTC))
    found = state.windows().toArrow()
    may_change = datetime.fromtimestamp((latest - 4_000_000) / 1e6, UTC)
    columns = ["k", "window_start", "own_x", "count", "complete"]
    wanted = [
        row | {"k": key}
        for key in ("nobody", "key 0", "key 1", "key 2", "key 3")
        for row in op.windows(key).to_pylist()
        if row["window_end"] > may_change
    ]
    shown = [r | {"k": r["k"] or "nobody"} for r in found.to_pylist()]
    assert listed(shown, columns) == listed(wanted, columns)
    since = datetime.fromtimestamp(BEGIN / 1e6, UTC) + timedelta(seconds=1)
    for key in ("key 1", None):
        assert state.query(key, since) == op.query(key or "nobody", since)
    assert state.query("nobody")["count"] == 0
    with pytest.raises(TypeError, match="the key 7 is not of the types of k"):
        state.query(7)


def test_nothing_to_read(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=str(tmp_path)):
        sps.state(str(tmp_path / "checkpoint"), spark=spark)


def test_the_state_says_its_query(spark: Any, tmp_path: Path) -> None:
    """Without functions of the user's a checkpoint is enough; of rolling windows too."""
    tables = rows_of(22, 1, 50, 2)
    write(tmp_path / "in", tables)
    stream = read(spark, tmp_path / "in")
    windows = [sash.sliding("2s", "1s", offset="100ms"), sash.tumbling(rows=5), sash.session("1s")]
    aggs = [agg.count(), agg.quantiles([0.5], "x").alias("q"), agg.argmax("x", "n", dtype=int)]
    out = sps.windows(stream, **{**ASKED, "windows": windows, "aggs": aggs, "by": ["k", "x"]})
    run(out, tmp_path / "windows", Sink())
    state = sps.state(str(tmp_path / "windows"))
    found = state.windows().toArrow()
    assert set(found["window"].to_pylist()) <= {w.name for w in windows}
    assert found.column_names[5:8] == ["count", "q", "argmax_x"]
    assert state.query(("key 0", 3))["count"] >= 0
    with pytest.raises(ValueError, match="a key has 2 parts"):
        state.query("key 0")

    rolled = sps.rolling(stream, on="t", window="1s", aggs=agg.count(), watermark="1 second")
    run(rolled, tmp_path / "rolling", Sink())
    kept = sps.state(str(tmp_path / "rolling"))
    assert kept.query()["count"] > 0
    assert kept.windows().count() > 0


def test_times_of_any_age(spark: Any, tmp_path: Path) -> None:
    """Rows before 1970, where Spark's watermark begins, are not late before there is one."""
    old = pa.table(
        [["a", "a", "b"], [-(10**15), BEGIN, BEGIN + 5_000_000], [1, 2, 3], [0, 1, 2]],
        schema=pa.schema([*list(SCHEMA)[:1], ("t", pa.int64()), *list(SCHEMA)[2:]]),
    ).cast(SCHEMA)
    write(tmp_path / "in", [old])
    sink = Sink()
    run(sps.windows(read(spark, tmp_path / "in"), **ASKED), tmp_path / "checkpoint", sink)
    assert sorted((r["window_start"].year, r["sum_x"]) for r in sink.rows()) == [
        (1938, 1),
        (2020, 2),
    ]
