"""What workers are sent: aggregates and functions, checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from sash._aggregate import Aggregate
from sash.spark._pyspark import pyspark_module


def check_shippable(parts: Iterable[tuple[str, Any]]) -> None:
    """Raise unless each named part can be sent to a worker."""
    pickle = pyspark_module("pyspark.cloudpickle")
    for name, part in parts:
        try:
            pickle.dumps(part)
        except Exception as error:  # whatever an object's own pickling raises
            raise TypeError(
                f"{name}: its functions cannot be sent to Spark's workers ({error}). They must not "
                "hold on to things of this process, such as open files, locks, connections or the "
                "Spark session: make those inside the function"
            ) from error


def check_results(results: Iterable[tuple[str, Aggregate]], schema: pa.Schema) -> None:
    """Raise unless the type of every result, by its name, is known before anything runs."""
    for name, one in results:
        if one.python is not None and pa.types.is_null(schema.field(name).type):
            raise TypeError(
                f"{name}: Spark must know the type of its results before it runs: give the "
                "monoid returns=, for example returns=float"
            )
