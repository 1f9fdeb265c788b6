"""A small simulation of a cluster: keys of uneven weight over partitions, tasks over cores.

Nothing here is measured. The seed is fixed, so that the same constants give the same figures.
"""

from __future__ import annotations

import heapq
import statistics
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SEED = 31
KEYS = 100_000
PARTITIONS = 4
"""Of a batch query, for each core."""
TASK = 0.1
"""Seconds that a task takes besides its rows: it is scheduled, and finds its Python worker."""
SPREAD = 0.2
"""How unevenly tasks of the same rows take: the deviation of the logarithm of their times."""
DRAWS = 25
RANGES = 1000
"""Of a key that is cut: those of windows of an hour over a year."""
CUT = 1000
"""Keys whose ranges are looked at one by one; all others are small already."""
Weights = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Job:
    """Rows of keys whose weights fall by a power of their rank; 0 is even."""

    rows: float
    row_cost: float
    """Seconds of CPU."""
    skew: float
    ranges: int = 1
    """Into so many ranges of time each key is cut."""


def weights(skew: float) -> Weights:
    """Return the part of all rows that each key has."""
    raw = np.arange(1, KEYS + 1, dtype=np.float64) ** -skew
    return np.asarray(raw / raw.sum(), np.float64)


def tasks_of(job: Job, partitions: int) -> Weights:
    """Return the part of all rows that each task has; keys and ranges are spread by their hash."""
    rng = np.random.default_rng(SEED)
    parts = weights(job.skew)
    place = rng.integers(0, partitions, KEYS)
    cut = np.arange(KEYS) < (CUT if job.ranges > 1 else 0)
    tasks = np.zeros(partitions)
    np.add.at(tasks, place[~cut], parts[~cut])
    for weight in parts[cut]:
        tasks += (
            weight * rng.multinomial(job.ranges, np.full(partitions, 1 / partitions)) / job.ranges
        )
    return tasks


def makespan(seconds: Weights, cores: int) -> float:
    """Return when the last core has done: each takes the longest task that is left."""
    free = [0.0] * cores
    for length in np.sort(seconds)[::-1].tolist():
        heapq.heapreplace(free, free[0] + length)
    return max(free)


def batch_rate(job: Job, cores: int) -> float:
    """Return rows a second of a batch query, the middle of several draws of the random factor."""
    shares = tasks_of(job, PARTITIONS * cores)
    rng = np.random.default_rng(SEED + 1)
    times = []
    for _ in range(DRAWS):
        noise = rng.lognormal(0, SPREAD, len(shares))
        times.append(makespan(TASK + shares * job.rows * job.row_cost * noise, cores))
    return job.rows / statistics.median(times)


def stream_rate(job: Job, cores: int, fixed: float, interval: float) -> float:
    """Return the rows a second that a stream bears: each micro-batch done when the next begins.

    A core has one shard, and the largest shard decides. Streams do not split keys.
    """
    largest = float(tasks_of(job, cores).max())
    left = max(interval - fixed, 0.0)
    return left / interval / (largest * job.row_cost)
