"""The Python worker that a task runs in."""

from __future__ import annotations

import gc
from typing import Any

from sash.spark._pyspark import pyspark_module

_calm: set[str] = set()


def task_context() -> Any:
    """Return Spark's context of the task, ``None`` outside of a worker."""
    return pyspark_module("pyspark").TaskContext.get()


def calm(task: str) -> None:
    """Spare the worker to look at all modules again after each task.

    Spark's workers collect garbage when a task ends, which takes about 50 ms with pandas and
    PyArrow loaded. What the first task of a kind has brought along is exempt from then on.
    """
    if task not in _calm and task_context() is not None:
        _calm.add(task)
        gc.collect()
        gc.freeze()
