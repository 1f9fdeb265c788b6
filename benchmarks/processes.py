"""Trees of processes: this one, the JVM below it, and the workers below that.

Only the standard library is used, so that programs of other interpreters can import it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def cpu_of_tree() -> float:
    """Return the CPU seconds of this process and all below it, those that ended included."""
    parents, used = _processes()
    return sum(used.get(pid, 0.0) for pid in _tree(parents))


def stay_on(cores: int) -> None:
    """Let this process and all below it use so many cores, all of their threads."""
    allowed = set(range(cores))
    parents, _ = _processes()
    for pid in _tree(parents):
        for thread in _names(Path("/proc", str(pid), "task")):
            try:
                os.sched_setaffinity(int(thread), allowed)
            except OSError:  # it has just ended
                continue


def memory_of_workers() -> int:
    """Return the bytes of all Python workers below this process, shared pages left out."""
    total = 0
    parents, _ = _processes()
    for pid in _tree(parents):
        try:
            command = Path("/proc", str(pid), "cmdline").read_bytes()
            fields = Path("/proc", str(pid), "statm").read_text().split()
        except OSError:
            continue
        if b"pyspark.daemon" in command:
            total += (int(fields[1]) - int(fields[2])) * _PAGE
    return total


def _processes() -> tuple[dict[int, int], dict[int, float]]:
    """Return the parent of each process, and its CPU seconds."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for name in _names(Path("/proc")):
        try:
            fields = Path("/proc", name, "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(name)] = int(fields[1])
        used[int(name)] = sum(map(int, fields[11:15])) / _TICK
    return parents, used


def _names(folder: Path) -> Iterator[str]:
    try:
        found = [path.name for path in folder.iterdir()]
    except OSError:
        return
    yield from filter(str.isdigit, found)


def _tree(parents: dict[int, int]) -> Iterator[int]:
    """Yield this process and all below it."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    todo = [os.getpid()]
    while todo:
        pid = todo.pop()
        yield pid
        todo += children.get(pid, [])
