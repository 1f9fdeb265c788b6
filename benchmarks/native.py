"""The native benchmark program (cpp/bench): building what changed, and running it."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "cpp" / "bench"
OUT = ROOT / "build" / "bench"
FLAGS = ["-std=c++20", "-O3", "-DNDEBUG", "-fno-tree-slp-vectorize", "-Wall", "-Wextra"]
"""As in CMakeLists.txt: the package's own code is measured."""
ONCE = "finger_tree_once"
COMMON = ("main", "args", "report", "rows", "shape")
"""What both programs are made of; the second has one structure alone, compiled differently."""


@cache
def build() -> Path:
    """Compile what changed, two files at a time; return the folder of the programs."""
    OUT.mkdir(parents=True, exist_ok=True)
    with (OUT / "lock").open("w") as lock:  # one builds, the others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        headers = _newest([*(ROOT / "cpp" / "include").rglob("*.hpp"), *SOURCES.glob("*.hpp")])
        with ThreadPoolExecutor(2) as pool:
            sources = sorted(SOURCES.glob("*.cpp"), key=_cost)
            objects = list(pool.map(lambda source: _compile(source, headers), sources))
        _link("sash-bench", [o for o in objects if o.stem != ONCE])
        _link("sash-bench-once", [o for o in objects if o.stem in (*COMMON, ONCE)])
    return OUT


def run(mode: str, **arguments: object) -> dict[str, Any]:
    """Run the program once and return what it printed.

    ``free="once"`` runs the program whose tree frees dropped nodes at once.
    """
    program = build() / ("sash-bench-once" if arguments.get("free") == "once" else "sash-bench")
    command = [str(program), mode, *(f"{key}={value}" for key, value in arguments.items())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _newest(paths: Iterable[Path]) -> float:
    return max(p.stat().st_mtime for p in paths)


def _cost(source: Path) -> int:
    """Order the files that take longest to compile first, so that no core waits at the end."""
    slow = ("tree", "amta", "reactive", "coarse", "lite")
    return next((i for i, word in enumerate(slow) if word in source.stem), len(slow))


def _compile(source: Path, headers: float) -> Path:
    to = OUT / f"{source.stem}.o"
    if not to.exists() or to.stat().st_mtime < max(source.stat().st_mtime, headers):
        include = ["-I", str(ROOT / "cpp" / "include")]
        _compiler(*FLAGS, *include, "-c", str(source), "-o", str(to))
    return to


def _link(name: str, objects: list[Path]) -> None:
    to = OUT / name
    if not to.exists() or to.stat().st_mtime < _newest(objects):
        _compiler(*map(str, objects), "-o", str(to))


def _compiler(*arguments: str) -> None:
    """Run the compiler; what it made replaces the old file only when it is whole."""
    *rest, to = arguments
    part = f"{to}.part"
    command = [os.environ.get("CXX", "g++"), *rest, part]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    Path(part).replace(to)


if __name__ == "__main__":
    print(build())
