"""PySpark, imported when it is needed and not before."""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

OLDEST = (4, 0)


def pyspark_module(name: str) -> Any:
    """Return a module of PySpark, or raise saying what to install."""
    try:
        import pyspark
    except ImportError as error:
        raise ImportError("sash.spark needs PySpark: pip install 'sash[spark]'") from error
    version = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
    if version < OLDEST:
        raise ImportError(
            f"sash.spark needs PySpark {OLDEST[0]}.{OLDEST[1]} or newer, this is "
            f"{pyspark.__version__}: pip install 'sash[spark]'"
        )
    return importlib.import_module(name)


def functions() -> Any:
    """Return ``pyspark.sql.functions``."""
    return pyspark_module("pyspark.sql.functions")


def pyspark_types() -> Any:
    """Return ``pyspark.sql.types``."""
    return pyspark_module("pyspark.sql.types")


@contextmanager
def arrow_only() -> Iterator[None]:
    """Keep PySpark from warning of pandas 3: what Sash uses of it passes Arrow data only."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        yield


@dataclass
class _Renamed:
    """A task over columns that go by other names on their way."""

    task: Any
    names: list[str]
    __name__: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from self.task(batch.rename_columns(self.names) for batch in batches)


def map_in_arrow(df: Any, task: Any, schema: Any) -> Any:
    """Return what a task makes of a DataFrame's partitions."""
    names = df.columns
    if not all(re.fullmatch(r"\w+", name) for name in names):  # which mapInArrow does not take
        df = df.toDF(*(f"c{i}" for i in range(len(names))))
        task = _Renamed(task, names, task.__name__)
    with arrow_only():
        return df.mapInArrow(task, schema)
