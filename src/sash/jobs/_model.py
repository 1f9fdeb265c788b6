"""What a job file may say: its tables and keys, their types and defaults.

The JSON Schema that editors check against is made from these classes, and so are the errors. What
they cannot say (that columns exist, that a stream has a watermark, ...) is in ``_check.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from sash._durations import nanoseconds
from sash.jobs._secrets import without_secrets


def _duration(text: str) -> str:
    nanoseconds("", text)  # or says what is wrong with it
    return text


def _without_zero(text: str) -> str:
    if "\0" in text:
        raise ValueError("it has a character 0 in it, which no name has: remove it")
    return text


def _slide(value: str | int) -> str | int:
    if isinstance(value, str):
        return _duration(value)
    if value < 1:
        raise ValueError(f"a slide of rows is at least 1, not {value}")
    return value


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Duration = Annotated[str, AfterValidator(_duration), Field(examples=["90s", "1h30m", "2 days"])]
LENGTHS = ("watermark", "lateness", "max_ahead", "size", "slide", "gap", "offset", "every")
"""The keys that hold a `Duration`."""
Name = Annotated[str, Field(min_length=1), AfterValidator(_without_zero)]
Count = Annotated[int, Field(ge=1, le=2**31 - 1)]
MOST_WINDOWS, MOST_AGGREGATES, MOST_SINKS = 1_000, 2_000, 100
Value = str | int | float | bool
Options = Annotated[
    dict[str, Value], Field(description="Spark's own options of this format, by their names")
]


class Part(BaseModel):
    """A table of a job file: what it does not know, it refuses."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Show no secrets."""
        for name, value in super().__repr_args__():
            yield name, without_secrets(value, name or "")


# ---- where rows come from ----------------------------------------------------------------------

ColumnTypes = Annotated[
    dict[str, str],
    Field(
        min_length=1,
        description="The columns and their types: string, boolean, tinyint, smallint, int, bigint, "
        "float, double, decimal(p, s), date, timestamp, binary",
    ),
]


class Files(Part):
    """Files of a folder, or one file."""

    format: str
    path: Annotated[Name, Field(description="A file or folder; relative to the job file")]
    stream: Annotated[bool, Field(description="Go on taking files that appear in the folder")] = (
        False
    )
    columns: ColumnTypes | None = None
    files_per_batch: Annotated[
        Count | None, Field(description="Of a stream: files in each micro-batch")
    ] = None
    options: Options = {}


class CsvSource(Files):
    """CSV, with a line of names at the top unless ``header`` is false."""

    format: Literal["csv"]
    header: bool = True


Optional = Annotated[
    list[Name],
    BeforeValidator(_listed, json_schema_input_type=list[Name] | Name),
    Field(description="Of a stream: columns that files may lack, which are null then"),
]


class JsonSource(Files):
    """One JSON object in each line."""

    format: Literal["json"]
    optional: Optional = []


class ParquetSource(Files):
    """Parquet."""

    format: Literal["parquet"]
    optional: Optional = []


class RateSource(Part):
    """Rows that Spark makes up: columns ``timestamp`` and ``value``. A stream."""

    format: Literal["rate"]
    rows_per_second: Count = 1


class KafkaSource(Part):
    """A topic of Kafka whose values are JSON objects. A stream.

    Spark's connector has to be there: set ``spark.jars.packages`` under ``[spark]``.
    """

    format: Literal["kafka"]
    servers: Annotated[Name, Field(examples=["localhost:9092"])]
    topic: Name
    columns: ColumnTypes
    starting: Literal["earliest", "latest"] = "earliest"
    rows_per_batch: Count | None = None
    options: Options = {}


Source = Annotated[
    CsvSource | JsonSource | ParquetSource | RateSource | KafkaSource,
    Field(discriminator="format"),
]


class Time(Part):
    """The column with the time of each row."""

    column: Name
    format: Annotated[
        Name | None,
        Field(description="Of text: Spark's pattern, such as yyyy-MM-dd HH:mm:ss"),
    ] = None
    unit: Annotated[
        Literal["s", "ms", "us"] | None, Field(description="Of numbers: since 1970, in this unit")
    ] = None
    zone: Annotated[
        Name, Field(description="Of times that say none: a name such as Europe/Berlin")
    ] = "UTC"
    ties: Annotated[
        list[Name],
        BeforeValidator(_listed, json_schema_input_type=list[Name] | Name),
        Field(description="Columns that put rows of equal time in order; not of streams"),
    ] = []
    watermark: Annotated[
        Duration | None,
        Field(description="Of a stream: how much later than others rows usually come"),
    ] = None
    lateness: Annotated[
        Duration | None,
        Field(description="Rows that come later than that by up to this correct what was told"),
    ] = None
    max_ahead: Annotated[
        Duration | None,
        Field(description="Of a stream: rows more than this ahead of the clock are dropped"),
    ] = None


# ---- what is computed --------------------------------------------------------------------------


class Tumbling(Part):
    """Windows one after the other."""

    kind: Literal["tumbling"]
    size: Duration | None = None
    rows: Count | None = None
    offset: Duration | None = None
    name: Name | None = None


class Sliding(Part):
    """Windows of one length, a new one at every slide."""

    kind: Literal["sliding"]
    size: Duration | None = None
    rows: Count | None = None
    slide: Annotated[str | int, AfterValidator(_slide), Field(examples=["1m", 10])]
    offset: Duration | None = None
    name: Name | None = None


class Session(Part):
    """Stretches of rows without a gap of this length."""

    kind: Literal["session"]
    gap: Duration
    name: Name | None = None


class RollingWindow(Part):
    """Windows that end at each time that has rows, or with each row and so many before it."""

    kind: Literal["rolling"]
    size: Duration | None = None
    rows: Count | None = None
    name: Name | None = None


class Delta(Part):
    """Stretches of rows whose column stays near that of their first row."""

    kind: Literal["delta"]
    column: Name
    size: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    name: Name | None = None


class Punctuation(Part):
    """Stretches of rows, each ended by a row whose column is true."""

    kind: Literal["punctuation"]
    column: Name
    name: Name | None = None


WindowTable = Annotated[
    Tumbling | Sliding | Session | RollingWindow | Delta | Punctuation, Field(discriminator="kind")
]


class Rolling(Part):
    """Instead of windows: every row comes out, with aggregates of the rows before it."""

    size: Duration | None = None
    rows: Annotated[Count | None, Field(description="Not of streams")] = None
    closed: Literal["right", "left", "both", "neither"] | None = None
    min_rows: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0


# ---- where results go --------------------------------------------------------------------------


class FileSink(Part):
    """Files in a folder."""

    format: Literal["parquet", "csv", "json"]
    path: Annotated[Name, Field(description="A folder; relative to the job file")]
    overwrite: Annotated[
        bool, Field(description="Not of streams: replace what the folder holds")
    ] = False
    options: Options = {}


class JdbcSink(Part):
    """A table of a database, by JDBC. Its rows have a column ``sash_batch`` more."""

    format: Literal["jdbc"]
    url: Annotated[Name, Field(examples=["jdbc:postgresql://localhost/metrics"])]
    table: Name
    user: Name | None = None
    password_env: Annotated[
        Name | None, Field(description="The environment variable that has the password")
    ] = None
    driver: Annotated[Name | None, Field(description="The class of the driver")] = None
    overwrite: bool = False
    options: Options = {}


class ConsoleSink(Part):
    """The terminal."""

    format: Literal["console"]
    rows: Annotated[
        int, Field(ge=1, le=100_000, description="The most that are shown, of each micro-batch")
    ] = 20


Sink = Annotated[FileSink | JdbcSink | ConsoleSink, Field(discriminator="format")]


class Run(Part):
    """How a stream runs."""

    checkpoint: Annotated[
        Name | None, Field(description="A folder; by default NAME.checkpoint beside the job file")
    ] = None
    every: Annotated[Duration | None, Field(description="A micro-batch begins this often")] = None
    until_caught_up: Annotated[
        bool, Field(description="End when what is there has been processed")
    ] = False
    shards: Annotated[
        int | None, Field(ge=1, le=2**16, description="Fixed for the life of a checkpoint")
    ] = None


class Live(Part):
    """Keep what `sash live` shows."""

    path: Annotated[
        Name | None, Field(description="A file; by default NAME.live.sqlite beside the job file")
    ] = None
    rows: Annotated[Count, Field(description="The most windows that are kept")] = 1_000_000


class JobFile(Part):
    """A pipeline: rows from a source, windows over them, results to sinks."""

    name: Name | None = None
    by: Annotated[
        list[Name],
        BeforeValidator(_listed, json_schema_input_type=list[Name] | Name),
        Field(description="The key columns"),
    ] = []
    source: Source
    time: Time
    windows: Annotated[list[WindowTable], Field(max_length=MOST_WINDOWS)] = []
    rolling: Rolling | None = None
    aggregates: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=MOST_AGGREGATES)]
    emit: Literal["complete", "updates", "changelog"] = "complete"
    sinks: Annotated[list[Sink], Field(min_length=1, max_length=MOST_SINKS)]
    late_rows: Annotated[
        Sink | None, Field(description="Where rows go that were too late, or have no time")
    ] = None
    run: Run = Run()
    live: Live | None = None
    spark: Annotated[
        dict[str, Value], Field(description="Settings, such as spark.driver.memory")
    ] = {}

    @property
    def streams(self) -> bool:
        """Whether the source is a stream."""
        return getattr(self.source, "stream", True)
