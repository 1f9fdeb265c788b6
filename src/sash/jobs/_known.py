"""The columns of a source, as far as they can be known without Spark."""

from __future__ import annotations

import csv
import re
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sash.jobs._model import CsvSource, Files, JsonSource, KafkaSource, ParquetSource, RateSource

_TYPES = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "binary": pa.binary(),
}
_MOST_ENTRIES = 100_000  # of a folder, to look at
_MOST_HEADER = 1 << 20  # characters of a line of names
TYPE_NAMES = [*_TYPES, "decimal(10, 2)"]
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_RATE = {"timestamp": pa.timestamp("us", "UTC"), "value": pa.int64()}

Columns = dict[str, pa.DataType | None]
"""Names, and types where these are known too."""


def type_of(name: str) -> pa.DataType | None:
    """Return the type of a name in a job file; ``None`` where there is none."""
    found = _DECIMAL.fullmatch(name)
    if found is None:
        return _TYPES.get(name)
    precision, scale = int(found[1]), int(found[2])
    if not 1 <= precision <= 38 or scale > precision:
        return None
    return pa.decimal128(precision, scale)


def is_local(path: str) -> bool:
    """Whether a path is of this machine's files, and not of a store such as ``s3://...``."""
    return "://" not in path


def files_of(path: Path) -> list[Path]:
    """Return the data files of a folder (or the file itself), as Spark sees them."""
    if path.is_file():
        return [path]
    found = (p for p in islice(path.glob("**/*"), _MOST_ENTRIES) if p.is_file())
    hidden = (".", "_")
    return sorted(
        p for p in found if not any(q.startswith(hidden) for q in p.relative_to(path).parts)
    )


def columns_of(source: object, folder: Path) -> Columns | None:
    """Return the columns that a source will have; ``None`` where that cannot be known yet."""
    if isinstance(source, RateSource):
        return dict(_RATE)
    if isinstance(source, (Files, KafkaSource)) and source.columns is not None:
        return {name: type_of(kind) for name, kind in source.columns.items()}
    if not isinstance(source, Files) or not is_local(source.path):
        return None
    files = files_of(folder / source.path)
    if not files or isinstance(source, JsonSource):
        return None
    known = None
    if isinstance(source, ParquetSource):
        known = _columns_of_parquet(files[0])
    elif isinstance(source, CsvSource):
        known = _columns_of_csv(source, files[0])
    folders = files[0].relative_to(folder / source.path).parts[:-1]
    parts = [name.split("=", 1)[0] for name in folders if "=" in name]
    return None if known is None else {**known, **dict.fromkeys(parts)}


def _columns_of_parquet(path: Path) -> Columns | None:
    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError):
        return None  # Spark will say what is wrong with it
    return {field.name: field.type for field in schema}


def _columns_of_csv(source: CsvSource, path: Path) -> Columns | None:
    separator = source.options.get("sep", source.options.get("delimiter", ","))
    others = set(source.options) - {"sep", "delimiter"}  # which may say how to find the names
    if others or not source.header or not isinstance(separator, str) or len(separator) != 1:
        return None
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader([file.readline(_MOST_HEADER)], delimiter=separator), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
    return dict.fromkeys(names)
