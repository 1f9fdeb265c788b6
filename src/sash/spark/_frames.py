"""A Spark DataFrame as Sash reads it: its columns, their types, expressions over them."""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from sash._aggregate import repeated
from sash._partials import OWN
from sash._rolling_windows import DAY
from sash._tables import require_columns
from sash.spark._pyspark import functions, pyspark_module, pyspark_types
from sash.spark._types import to_arrow, to_spark
from sash.structures import whole_number

MOST_PARTITIONS = 1 << 20
"""Spark keeps track of each, and would be busy with nothing else."""
CELL = f"{OWN}range"
"""The column that says which range of time a row was sent to."""


class Frame:
    """A DataFrame that has been looked at."""

    def __init__(self, df: Any, what: str) -> None:
        base = pyspark_module("pyspark.sql").DataFrame
        if not isinstance(df, base):
            raise TypeError(
                f"sash.spark.{what} takes a Spark DataFrame, not {type(df).__name__}; for other "
                f"tables there is sash.{'rolling' if what == 'rolling' else 'WindowOperator'}"
            )
        self.df = df
        self.names: list[str] = list(df.columns)
        if (twice := repeated(self.names)) is not None:
            raise ValueError(f"there are two columns called {twice!r}: rename one")
        self.refuse_alike(self.names)
        ours = [n for n in self.names if n.casefold().startswith(OWN)]
        if ours:
            raise ValueError(f"a column is called {ours[0]!r}: rename it, {OWN} is for our own")
        if self.classic:
            _warn_of_other_python(df.sparkSession.sparkContext)

    @property
    def classic(self) -> bool:
        """Whether the session is a classic one, with a driver in this process."""
        return not type(self.df).__module__.startswith("pyspark.sql.connect")

    def refuse_alike(self, names: list[str]) -> None:
        """Raise where names of columns differ in case alone, and the session ignores case."""
        if self.df.sparkSession.conf.get("spark.sql.caseSensitive") == "true":
            return
        known: dict[str, str] = {}
        for name in names:
            other = known.setdefault(name.lower(), name)
            if other != name:
                raise ValueError(
                    f"columns {other!r} and {name!r} differ in case alone, and this session takes "
                    "them for one: rename one or use alias(), or set spark.sql.caseSensitive"
                )

    def check(self, wanted: list[tuple[str, str]]) -> None:
        """Raise unless these columns, each with who asks for it, are there."""
        require_columns(wanted, self.names)

    def types(self, names: list[str]) -> dict[str, pa.DataType]:
        """Return the Arrow types of columns."""
        found = {}
        for name in names:
            try:
                found[name] = to_arrow(self.df.schema[name].dataType)
            except TypeError as error:
                raise TypeError(
                    f"column {name!r}: {error}, so it cannot pass through Python; cast or drop it"
                ) from None
        return found

    def check_keys(self, keys: list[str]) -> None:
        """Raise unless values of these columns can be told apart as keys."""
        types = pyspark_types()
        for key in keys:
            kind = self.df.schema[key].dataType
            if isinstance(kind, (types.ArrayType, types.MapType, types.StructType, types.NullType)):
                hint = ": name its fields instead, as columns of their own"
                raise TypeError(
                    f"by: column {key!r} holds {kind.simpleString()}, which cannot be a key"
                    f"{hint if isinstance(kind, types.StructType) else ''}"
                )
            if getattr(kind, "collation", "UTF8_BINARY") != "UTF8_BINARY":
                raise TypeError(
                    f"by: column {key!r} has the collation {kind.collation}, under which different "
                    f"strings are equal: use collate({key}, 'UTF8_BINARY'), or lower({key})"
                )

    def key_expressions(self, keys: list[str]) -> list[Any]:
        """Return keys as expressions under which equal ones are equal: one zero, one NaN."""
        f, types = functions(), pyspark_types()
        found = []
        for key in keys:
            column = col(key)
            if isinstance(self.df.schema[key].dataType, (types.DoubleType, types.FloatType)):
                nan = f.lit(float("nan"))
                column = f.when(f.isnan(column), nan).otherwise(column + f.lit(0.0))
            found.append(column)
        return found


def _warn_of_other_python(context: Any) -> None:
    """Warn where workers of this machine would run another Python, which may not have Sash."""
    theirs = Path(shutil.which(context.pythonExec) or context.pythonExec)
    ours = Path(sys.executable)
    if context.master.startswith("local") and theirs.parent.resolve() != ours.parent.resolve():
        warnings.warn(
            f"Spark's workers run {theirs}, not this Python ({ours}): Sash has to be "
            "installed there too. To use this one, set PYSPARK_PYTHON to it before the session is "
            "made, or make it with sash.spark.local_session()",
            stacklevel=4,
        )


def col(name: str) -> Any:
    """Return a column by its very name, whatever is in it."""
    return functions().col("`" + name.replace("`", "``") + "`")


def schema_of(arrow: pa.Schema) -> Any:
    """Return the Spark schema of a result."""
    types = pyspark_types()
    return types.StructType([types.StructField(f.name, to_spark(f.type)) for f in arrow])


def extended_schema(frame: Frame, added: pa.Schema) -> Any:
    """Return a DataFrame's schema with the fields of results."""
    types = pyspark_types()
    return types.StructType([*frame.df.schema.fields, *schema_of(added).fields])


def refuse_parts_of_days(what: str, on: str, lengths: Iterable[int]) -> None:
    """Raise where windows over dates would not begin and end at dates; lengths in milliseconds."""
    if any(length % DAY for length in lengths):
        raise ValueError(
            f"{what}: column {on!r} holds dates, and windows of parts of a day would not begin and "
            "end at dates; cast the column to a timestamp"
        )


def refuse_others(why: str, given: dict[str, tuple[Any, Any]]) -> None:
    """Raise where an argument has another value than its usual one, which comes second."""
    for name, (value, usual) in given.items():
        if value is not usual and not (type(value) is type(usual) and value == usual):
            raise ValueError(f"{name}: {why}; leave it out")


def partitions_of(partitions: Any, places: bool) -> int | None:
    """Return a number of partitions that was asked for."""
    if partitions is None:
        return None
    if not places:
        raise ValueError(
            "partitions: without keys everything comes together in one partition; leave it out"
        )
    return whole_number("partitions", partitions, 1, MOST_PARTITIONS)


def gathered(df: Any, places: list[Any], partitions: int | None, order: list[Any]) -> Any:
    """Return rows, those of each place in one partition, and sorted there."""
    if places:
        df = df.repartition(*([] if partitions is None else [partitions]), *places)
    else:
        df = df.repartition(1)
    return df.sortWithinPartitions(*order)
