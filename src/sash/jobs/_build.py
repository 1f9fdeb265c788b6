"""A job as a DataFrame of Spark's: its source, its times, its windows."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from sash import _safe_path
from sash import spark as sps
from sash.jobs._known import Columns, columns_of, is_local
from sash.jobs._load import Job
from sash.jobs._model import CsvSource, Files, KafkaSource, RateSource
from sash.spark._frames import col
from sash.spark._pyspark import arrow_only, functions, pyspark_module
from sash.spark._streams import STATE_SETTINGS

_UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}


def session_of(job: Job) -> Any:
    """Return the session to run in: a local one, or that which ``spark-submit`` has set up.

    Unless the job may load code, its Python workers do not import from the current folder.
    """
    with nullcontext() if job.allow_python else _safe_path.inherited():
        return _session_of(job)


def _session_of(job: Job) -> Any:
    safe = {} if job.allow_python else {f"spark.executorEnv.{_safe_path.VARIABLE}": "1"}
    settings = {
        **safe,
        "spark.sql.session.timeZone": job.said.time.zone,
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # others read these with UTC
        **{name: as_text(value) for name, value in job.said.spark.items()},
    }
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return sps.local_session(config=settings)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = pyspark_module("pyspark.sql").SparkSession.builder.appName(job.name)
    for name, value in {**STATE_SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    with arrow_only():
        return builder.getOrCreate()


def as_text(value: Any) -> str:
    """Return an option or setting as Spark takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def rows_of(job: Job, session: Any) -> Any:
    """Return the source's rows, with times in their column."""
    return _timed(_source(job, session), job)


def results_of(job: Job, rows: Any) -> Any:
    """Return the results: of a stream, rows that were too late are among them if asked for."""
    asked = asked_of(job)
    return (sps.rolling if job.said.rolling else sps.windows)(rows, **asked)


def asked_of(job: Job) -> dict[str, Any]:
    """Return the arguments of `sash.spark.windows` or `rolling`."""
    said, time = job.said, job.said.time
    asked: dict[str, Any] = {"on": time.column, "by": said.by, "aggs": job.aggregates}
    if not said.streams:
        asked |= {"ties": time.ties}
    else:
        asked |= {"watermark": time.watermark, "lateness": time.lateness or 0}
        asked |= {"max_ahead": time.max_ahead}
        asked |= {"late_rows": keeps_late_rows(job), "shards": said.run.shards}
    if said.rolling is None:
        emit = {"emit": said.emit} if said.streams else {}
        return {"windows": job.windows, **asked, **emit}
    rolling = said.rolling
    asked |= {"window": rolling.size, "closed": rolling.closed}
    if not said.streams:
        asked |= {"rows": rolling.rows, "min_rows": rolling.min_rows}
    return asked


def keeps_late_rows(job: Job) -> bool:
    """Whether somebody wants to see the rows that were too late."""
    return job.said.late_rows is not None or job.said.live is not None


def _source(job: Job, session: Any) -> Any:
    source = job.said.source
    reader = session.readStream if job.said.streams else session.read
    if isinstance(source, RateSource):
        return reader.format("rate").option("rowsPerSecond", source.rows_per_second).load()
    options = {name: as_text(value) for name, value in source.options.items()}
    if isinstance(source, KafkaSource):
        return _from_kafka(_kafka(reader, source).options(**options).load(), source)
    path = job.place(source.path)
    if isinstance(source, CsvSource):
        # With enforceSchema Spark would take columns by their place, whatever the header says.
        options = {"header": as_text(source.header), "enforceSchema": "false", **options}
    if source.files_per_batch is not None:
        options["maxFilesPerTrigger"] = str(source.files_per_batch)
    reader = reader.format(source.format).options(**options)
    if source.columns is not None:
        reader = reader.schema(_ddl(source.columns))
    elif job.said.streams:
        reader = reader.schema(_schema_of_files(job, session, source, path))
    elif isinstance(source, CsvSource):
        reader = reader.option("inferSchema", "true")
    return reader.load(path)


def _ddl(columns: Mapping[str, str]) -> str:
    return ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in columns.items())


def _schema_of_files(job: Job, session: Any, source: Files, path: str) -> Any:
    known: Columns | None = columns_of(source, job.path.parent)
    if known is None and is_local(source.path) and not any(sign in path for sign in "*?[{"):
        raise ValueError(
            f"{path} has no files yet, so its columns are unknown: add a table [source.columns] "
            'with lines such as ts = "timestamp"'
        )
    return session.read.format(source.format).load(path).schema


def _kafka(reader: Any, source: KafkaSource) -> Any:
    reader = (
        reader.format("kafka")
        .option("kafka.bootstrap.servers", source.servers)
        .option("subscribe", source.topic)
        .option("startingOffsets", source.starting)
    )
    if source.rows_per_batch is not None:
        reader = reader.option("maxOffsetsPerTrigger", source.rows_per_batch)
    return reader


def _from_kafka(messages: Any, source: KafkaSource) -> Any:
    """Return the objects in the messages; what is no JSON gives nulls, and so has no time."""
    f = functions()
    value = f.from_json(f.col("value").cast("string"), _ddl(source.columns))
    return messages.select(value.alias("value")).select("value.*")


def _timed(rows: Any, job: Job) -> Any:
    f, time = functions(), job.said.time
    column = col(time.column)
    if time.unit is not None:
        column = f.timestamp_micros(
            f.try_multiply(column.cast("bigint"), f.lit(_UNITS[time.unit]).cast("bigint"))
        )
    elif time.format is not None:
        column = f.try_to_timestamp(column, f.lit(time.format))
    else:
        return rows
    return rows.withColumn(time.column, column)
