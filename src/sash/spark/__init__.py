"""Sash on Spark: DataFrames in, DataFrames out.

It is an extra: ``pip install 'sash[spark]'``. PySpark is imported when a function here is called.

>>> from sash import spark as sps
>>> sps.rolling.__name__
'rolling'
"""

from __future__ import annotations

from sash.spark._metrics import Metrics
from sash.spark._rolling import rolling
from sash.spark._session import local_session
from sash.spark._shard_log import CheckpointError
from sash.spark._state import State, state
from sash.spark._windows import windows

__all__ = [
    "CheckpointError",
    "Metrics",
    "State",
    "local_session",
    "rolling",
    "state",
    "windows",
]
