"""A Spark session in this process, for scripts, notebooks and tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from sash.spark._pyspark import arrow_only, pyspark_module
from sash.spark._streams import STATE_SETTINGS
from sash.structures import whole_number


def local_session(cores: int | None = None, config: Mapping[str, Any] | None = None) -> Any:
    """Return a Spark session of this machine alone, or the one that there is already.

    It uses this Python for its workers (unless ``PYSPARK_PYTHON`` is set), listens on the loopback
    interface only, has no web interface, keeps the state of streams in RocksDB, and has as many
    shuffle partitions as ``cores``: by default, all that this process may use. ``config`` sets
    anything else, as in ``{"spark.driver.memory": "8g"}``.
    """
    sql = pyspark_module("pyspark.sql")
    if cores is None:
        cores = len(os.sched_getaffinity(0))
    cores = whole_number("cores", cores, 1)
    settings: dict[str, Any] = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": cores,
        **STATE_SETTINGS,
        **(config or {}),
    }
    builder = sql.SparkSession.builder.master(f"local[{cores}]").appName("sash")
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with arrow_only():
        return builder.getOrCreate()
