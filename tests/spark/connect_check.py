"""Rolling and windows through Spark Connect; run as a script, since a process is either kind."""

from __future__ import annotations

import os
import sys

import pyarrow as pa
from frames import differences, events, frame_of

import sash
from sash import agg
from sash import spark as sps


def main() -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote("local[2]").getOrCreate()
    try:
        table = events(1, 1000, 5)
        df = frame_of(spark, table)
        assert type(df).__module__.startswith("pyspark.sql.connect")
        spread = sash.monoid(max, name="most", column="i", returns=int)
        for split in (False, True):
            arguments = {"on": "ts", "by": "k", "window": "1m", "aggs": [agg.median("x"), spread]}
            ours = df.transform(sps.rolling, split=split, **arguments).toArrow()
            assert differences(ours, sash.rolling(table, **arguments), ["n"]) == []
        known = table.set_column(0, "k", table["k"].fill_null(9))
        arguments = {"on": "ts", "by": "k", "windows": [sash.sliding("1m", "7s")],
                     "aggs": [agg.count(), agg.max("x")]}  # fmt: skip
        op = sash.WindowOperator(**arguments)
        op.process(known)
        told = op.finish().drop_columns(["revision", "change"])
        ours = sps.windows(frame_of(spark, known), **arguments).toArrow()
        assert differences(ours, told, ["k", "window_start"]) == []
        assert "shuffled by k" in str(
            sash.explain(df, on="ts", by="k", window="1m", aggs=agg.count())
        )
        try:
            sps.rolling(df, on="ts", window="1m", aggs=agg.count(), metrics=sps.Metrics())
        except ValueError as error:
            assert "Spark Connect does not have" in str(error)
        else:
            raise AssertionError("metrics were taken")
    finally:
        spark.stop()
    print("Connect agrees,", pa.__version__)


if __name__ == "__main__":
    main()
