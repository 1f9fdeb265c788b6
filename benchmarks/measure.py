"""Taking times: competitors in turns, so that other load on the machine meets all of them.

Other load only ever adds to a time. Where work is done in small parts, or can be done again, a run
is what its parts, or all of it, take at best in several tries. Runs have a median and a spread.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

CALLS = 3
"""How many calls of a function there are at least to take the fastest of."""


def in_turns(
    work: Mapping[str, Callable[[], float]], repeat: int, tries: int = 1
) -> dict[str, list[float]]:
    """Run each competitor ``repeat`` times, in turns; the first of a turn is another each time.

    Each returns its cost; a run is the least of its tries. What a turn meets, all of its
    competitors meet.
    """
    names = list(work)
    costs: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(repeat * tries):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            costs[name].append(work[name]())
    return {name: least_of(found, tries) for name, found in costs.items()}


def least_of(costs: Sequence[float], tries: int) -> list[float]:
    """Return the least of each group of so many."""
    return [min(costs[i : i + tries]) for i in range(0, len(costs), tries)]


def least_cpu(work: Callable[[], Any], times: int) -> float:
    """Return the CPU seconds of the fastest of so many calls, one right after the other."""
    with _without_collections():
        return min(_timed(work)[1] for _ in range(times))


def cpu_seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what the work gave, and its CPU seconds in this process, all threads together."""
    with _without_collections():
        return _timed(work)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    before = time.process_time()
    found = work()
    return found, time.process_time() - before


@contextmanager
def _without_collections() -> Iterator[None]:
    """Collect garbage first, which empties the processor's caches too, and not in between."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def pin_one_core() -> None:
    """Stay on the last core this process may use."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def unpin() -> None:
    """Use all cores again."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(range(os.cpu_count() or 1)))
