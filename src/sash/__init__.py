"""Sash: sliding-window aggregation for Python and Spark.

Exact, incremental, for any associative aggregation. Start with a structure and an aggregate:

>>> import sash
>>> from sash import agg
>>> window = sash.DabaLite(agg.max())
>>> window.insert(3.0); window.insert(5.0); window.insert(4.0)
>>> window.query()
5.0
"""

from __future__ import annotations

from sash import _safe_path as _safe_path  # before anything that is not Python's own

try:
    from sash import _core as _core
except ImportError as error:  # pragma: no cover
    raise ImportError(
        "the compiled core of sash is missing: install the package (pip install .) rather than "
        "importing it from its source tree, with a C++20 compiler at hand"
    ) from error

from sash import agg, windows
from sash._aggregate import Aggregate, Laws, monoid
from sash._explain import explain
from sash._operator import WindowOperator
from sash._rolling import rolling
from sash._snapshot import SnapshotError
from sash.flat_fat import FlatFat
from sash.structures import (
    Amta,
    Daba,
    DabaLite,
    FlatFit,
    ReactiveAggregator,
    Recalc,
    SubtractOnEvict,
    TimedWindow,
    TwoStacks,
    TwoStacksLite,
)
from sash.trees import ClassicTree, FingerTree
from sash.windows import session, sliding, tumbling

__version__ = "0.1.0"

__all__ = [
    "Aggregate",
    "Amta",
    "ClassicTree",
    "Daba",
    "DabaLite",
    "FingerTree",
    "FlatFat",
    "FlatFit",
    "Laws",
    "ReactiveAggregator",
    "Recalc",
    "SnapshotError",
    "SubtractOnEvict",
    "TimedWindow",
    "TwoStacks",
    "TwoStacksLite",
    "WindowOperator",
    "agg",
    "explain",
    "monoid",
    "rolling",
    "session",
    "sliding",
    "tumbling",
    "windows",
]
