"""What a window of n entries takes: memory, and the time to fill, save and load it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import sash
from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.measure import cpu_seconds
from benchmarks.results import Result
from benchmarks.scaling.sizes_work import touch_memory
from sash import agg

CHUNK = 100_000
"""Entries that are made at once, so that what is measured is the window and not its input."""
TREE = "FingerTree of sum"
STRUCTURES: dict[str, Callable[[], Any]] = {
    TREE: lambda: sash.FingerTree(agg.sum()),
    "FingerTree of sum and max": lambda: sash.FingerTree([agg.sum(), agg.max()]),
    "DabaLite of sum": lambda: sash.DabaLite(agg.sum()),
    "TwoStacksLite of sum": lambda: sash.TwoStacksLite(agg.sum()),
}
RESIDENT = f"{TREE}, resident"


def _chunks(entries: int) -> Iterator[tuple[Any, Any]]:
    for first in range(0, entries, CHUNK):
        times = np.arange(first, min(first + CHUNK, entries))
        yield times, times % 1000 / 4


def _total(entries: int) -> float:
    """Return the sum of all values, exactly: quarters add up without rounding."""
    whole, rest = divmod(entries, 1000)
    return (whole * 999 * 500 + rest * (rest - 1) // 2) / 4


def fill(name: str, entries: int) -> Any:
    """Return a window of so many entries."""
    window = STRUCTURES[name]()
    for times, values in _chunks(entries):
        if isinstance(window, sash.FingerTree):
            window.bulk_insert(times, values)
        else:
            window.insert_many(values)
    answer = window.query()
    total = answer[0] if isinstance(answer, tuple) else answer
    assert total == _total(entries), (name, entries, total)
    return window


# ---- memory ------------------------------------------------------------------------------------


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _alone(name: str, entries: int) -> None:
    """Print what a window takes: by its own account, and by the system's."""
    fill(name, 2 * CHUNK if entries > CHUNK else entries)  # the input's memory is there, and reused
    before = _resident()
    window = fill(name, entries)
    print(json.dumps([window.nbytes, _resident() - before]))


def run_memory(plan: Plan) -> Result:
    """Bytes of an entry, each window in a process of its own."""
    sizes = plan.pick([10**4, 10**5, 10**6], [10**4, 10**5, 10**6, 10**7, 10**8])
    result = Result("scaling_memory", "entries", "bytes per entry", y_log=False)
    result.parameters["entries"] = sizes
    for name in STRUCTURES:
        for entries in sizes:
            if entries == 10**8 and name != TREE:
                continue
            command = [sys.executable, "-m", "benchmarks.scaling.sizes_memory", name, str(entries)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            told, resident = json.loads(done.stdout)
            result.add(name, entries, [told / entries])
            if name == TREE and entries >= 10**6:
                result.add(RESIDENT, entries, [resident / entries])
    result.checks = ["the sum of each window is exact"]
    result.notes = [
        "`nbytes` of the window, and the growth of the process's resident memory for a tree of "
        "at least a million entries",
    ]
    return result


def judge_memory(result: Result) -> Verdict:
    """Bytes of an entry do not depend on how many there are."""
    tree = result.line(TREE)
    large = [p.cost for p in tree.points if float(p.x) >= 10**5]
    seen = [f"{line.name}: {line.points[-1].cost:.1f} bytes at {line.points[-1].x:.0e} entries"
            for line in result.lines]  # fmt: skip
    flat = max(large) < 1.15 * min(large)
    honest = result.line(RESIDENT).points[-1].cost < 1.25 * large[-1]
    return Verdict("yes" if flat and honest else "partly", "; ".join(seen) + ".")


# ---- filling, saving, loading ------------------------------------------------------------------


def _recover(entries: int, times: int = 1) -> dict[str, float]:
    """Return the ns of an entry of each step, and its bytes in a snapshot."""

    def repeated(work: Callable[[], Any]) -> tuple[Any, float]:
        def several() -> Any:
            for _ in range(times - 1):
                work()
            return work()

        found, seconds = cpu_seconds(several)
        return found, seconds * 1e9 / times / entries

    tree, filled = repeated(lambda: fill(TREE, entries))
    data, saved = repeated(tree.snapshot)
    again, loaded = repeated(lambda: sash.FingerTree.restore(data, agg.sum()))
    assert len(again) == entries and again.query() == tree.query()
    return {"fill": filled, "snapshot": saved, "restore": loaded, "bytes": len(data) / entries}


def run_recovery(plan: Plan) -> Result:
    """Nanoseconds of an entry: to fill a tree, to save it, to load it."""
    sizes = plan.pick([10**4, 10**5, 10**6], [10**4, 10**5, 10**6, 10**7])
    result = Result("scaling_recovery", "entries", "CPU ns per entry")
    result.parameters["entries"] = sizes
    touch_memory(1)
    _recover(1000)  # what is loaded on the way is loaded
    for entries in sizes:
        times = max(1, 500_000 // entries)
        runs = [_recover(entries, times) for _ in range(plan.repeat)]
        result.parameters["bytes of a snapshot, per entry"] = round(runs[0].pop("bytes"), 2)
        for name in runs[0]:
            result.add(name, entries, [run[name] for run in runs])
    result.checks = ["a restored tree has the same number of entries and the same sum"]
    result.notes = ["FingerTree of a sum; entries come in order, 100,000 at a time"]
    return result


def judge_recovery(result: Result) -> Verdict:
    """All three are linear."""
    growth = max(line.points[-1].cost / min(p.cost for p in line.points) for line in result.lines)
    last = result.lines[0].points[-1].x
    told = ", ".join(f"{line.name} {line.at(last):.0f} ns" for line in result.lines)
    seen = f"With {last:.0e} entries: {told} for each, of "
    seen += f"{result.parameters['bytes of a snapshot, per entry']} bytes in the snapshot."
    return Verdict("yes" if growth < 3 else "partly", seen)


EXPERIMENTS = [
    Experiment(
        "scaling_memory",
        "scaling",
        "Memory of a window",
        "An entry takes the same few bytes in a window of any size.",
        run_memory,
        judge_memory,
    ),
    Experiment(
        "scaling_recovery",
        "scaling",
        "Filling, saving and loading a window",
        "A window is filled, saved and loaded in time that grows in proportion to it.",
        run_recovery,
        judge_recovery,
    ),
]

if __name__ == "__main__":
    _alone(sys.argv[1], int(sys.argv[2]))
