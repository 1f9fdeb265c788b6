"""Bulk 2023, figures 7 to 16 and section 7.3: operations on many entries at once."""

from __future__ import annotations

from benchmarks.experiment import Experiment
from benchmarks.papers import bulk_latency, bulk_throughput, bulk_windows

EXPERIMENTS: list[Experiment] = [
    *bulk_latency.EXPERIMENTS,
    *bulk_throughput.EXPERIMENTS,
    *bulk_windows.EXPERIMENTS,
]
