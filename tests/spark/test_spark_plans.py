"""What happens before anything runs: plans, explanations, counts, laziness."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from frames import events, frame_of

import sash
from sash import agg
from sash import spark as sps


@pytest.fixture(scope="module")
def df(spark: Any) -> Any:
    return frame_of(spark, events(1, 2000, 5)).repartition(3).cache()


def plan_of(df: Any) -> str:
    return str(df._jdf.queryExecution().toString())


def test_nothing_runs_before_an_action(spark: Any) -> None:
    lazy = spark.range(5).selectExpr("raise_error('it ran') as x", "id as t", "id % 2 as k")
    lazy = lazy.selectExpr("cast(x as double) as x", "t", "k")
    out = sps.rolling(lazy, on="t", by="k", window=2, aggs=agg.max("x"))
    assert out.columns == ["x", "t", "k", "max_x"]
    sps.windows(lazy, on="t", by="k", windows=sash.tumbling(2), aggs=agg.max("x"))
    with pytest.raises(Exception, match="it ran"):
        out.collect()


def test_plans_can_be_read(df: Any) -> None:
    rolling = sps.rolling(df, on="ts", by="k", window="1m", aggs=agg.max("x"))
    assert "MapInArrow sash_rolling[max_x over 1m](" in plan_of(rolling)
    windows = sps.windows(df, on="ts", by="k", windows=sash.sliding("1h", "1s"), aggs=agg.max("x"))
    plan = plan_of(windows)
    assert "sash_windows[max_x over sliding_1h_1s](" in plan
    assert "sash_fold[max_x into slices of sliding_1h_1s](" in plan


def test_only_what_is_read_goes_to_the_workers(df: Any) -> None:
    fold = plan_of(sps.windows(df, on="ts", windows=sash.tumbling("1m"), aggs=agg.max("x")))
    line = next(line for line in fold.splitlines() if "sash_fold[" in line and "#" in line)
    columns = line.partition("](")[2].partition(")")[0]
    assert [c.partition("#")[0].strip() for c in columns.split(",")] == ["ts", "x"]


def test_transform(df: Any) -> None:
    out = df.transform(sps.rolling, on="ts", by="k", window="1m", aggs=agg.max("x"))
    assert out.count() == df.count()
    out = df.transform(sps.windows, on="ts", windows=[sash.tumbling("1m")], aggs=[agg.count()])
    assert sum(r["count"] for r in out.collect()) == df.count()


def test_what_explain_says(df: Any) -> None:
    text = str(sash.explain(df, on="ts", by="k", window="1m", aggs=agg.max("x")))
    assert text.splitlines() == [
        "rows of a Spark DataFrame by 'ts' and keys of k",
        "shuffled by k, sorted by k, ts",
        "window 1m: (t - 60000000, t]",
        "  max_x: TwoStacksLite (associative, frames move one way)",
        "a worker keeps one window of rows at a time",
    ]
    text = str(sash.explain(df, on="ts", window="1m", aggs=agg.max("x")))
    assert "ranges of 480,000,008 us, 8 times what windows reach" in text
    text = str(sash.explain(df, on="ts", window="1m", split=False, aggs=agg.max("x")))
    assert "into one partition" in text
    both: dict[str, Any] = {"on": "ts", "by": "k", "windows": sash.tumbling("1m")}
    text = str(sash.explain(df, aggs=agg.max("x"), partitions=7, **both))
    assert "rows are folded into slices where they are" in text
    assert "slices are shuffled by k into 7 partitions and windows read off them" in text
    text = str(sash.explain(df, aggs=agg.last("x"), ties="n", **both))
    assert "sorted by k, ts, n\n  (last_x: the order of rows matters)" in text
    with pytest.raises(TypeError, match=r"sash\.spark\.rolling has no argument 'windo'.*'window'"):
        sash.explain(df, on="ts", windo="1m", aggs=agg.max("x"))


def test_metrics(df: Any) -> None:
    metrics = sps.Metrics()
    assert metrics.rows == 0
    sps.rolling(df, on="ts", by="k", window="1m", aggs=agg.max("x"), metrics=metrics).collect()
    assert (metrics.rows, metrics.keys, metrics.copies) == (2000, 6, 0)  # null is a key
    metrics = sps.Metrics()
    sps.rolling(df, on="ts", window="1m", aggs=agg.max("x"), metrics=metrics).collect()
    assert metrics.rows == 2000
    assert 0 < metrics.copies < 600
    metrics = sps.Metrics()
    steps: dict[str, Any] = {"window": "1m", "every": "10s"}
    sps.rolling(df, on="ts", by="k", aggs=agg.max("x"), metrics=metrics, **steps).collect()
    assert (metrics.rows, metrics.keys) == (2000, 6)
    metrics = sps.Metrics()
    windows = sash.tumbling("10m")
    out = sps.windows(df, on="ts", by="k", windows=windows, aggs=agg.max("x"), metrics=metrics)
    told = len(out.collect())
    assert (metrics.rows, metrics.keys, metrics.windows) == (2000, 6, told)
    assert told <= metrics.slices <= 3 * told
    assert "slices=" in repr(metrics)


def test_partitions(df: Any) -> None:
    out = sps.rolling(df, on="ts", by="k", window="1m", aggs=agg.max("x"), partitions=5)
    assert out.rdd.getNumPartitions() == 5


def test_pyspark_is_imported_when_it_is_used() -> None:
    code = "import sys, sash; from sash import spark; print('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ImportError, match=r"pip install 'sash\[spark\]'"):
        sps.rolling(None, on="t", window=1, aggs=agg.count())


def test_an_old_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    import pyspark

    monkeypatch.setattr(pyspark, "__version__", "3.5.9")
    with pytest.raises(ImportError, match=r"PySpark 4\.0 or newer, this is 3\.5\.9"):
        sps.local_session()


def test_another_python_in_the_workers(df: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(df.sparkSession.sparkContext, "pythonExec", "/usr/bin/env")
    with pytest.warns(UserWarning, match=r"workers run /usr/bin/env, not this Python"):
        sps.rolling(df, on="ts", window="1m", aggs=agg.count())
