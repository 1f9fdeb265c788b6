"""What the benchmarks share: CPU time, the machine's facts, tables."""

from __future__ import annotations

import gc
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sash

Row = dict[str, Any]


def cpu_ns(work: Callable[[], Any], rows: int, repeat: int = 3) -> float:
    """Least CPU nanoseconds per row of several runs: other load only ever adds to it."""
    best = float("inf")
    gc.disable()
    try:
        for _ in range(repeat):
            before = time.process_time_ns()
            work()
            best = min(best, (time.process_time_ns() - before) / rows)
    finally:
        gc.enable()
    return round(best, 2)


def machine() -> Row:
    """Return the facts that a figure means nothing without."""
    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        model = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), model)
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "sash": sash.__version__,
    }


def pin_one_core() -> None:
    """Stay on the last core this process may use."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def table(rows: list[Row]) -> str:
    """Return rows as a markdown table; all have the keys of the first."""
    heads = list(rows[0])
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join('--:' for _ in heads)}|"]
    lines += [f"| {' | '.join(_cell(r.get(h)) for h in heads)} |" for r in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
