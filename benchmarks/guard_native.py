"""Instruction counts of native workloads, by Callgrind: the same on each run, whatever the load.

The programs are ``cpp/bench_guard/*.cpp``, one for each part of the library, compiled as the core
is. Callgrind counts inside ``guard_measured`` alone and writes one part for each workload, in the
order in which the program prints their names.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tools.debian import install

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "cpp" / "bench_guard"
INCLUDE = ROOT / "cpp" / "include"
BUILD = ROOT / "build" / "guard"
PROGRAMS = ("window_operator", "trees", "in_order")  # the longest to compile come first
HARDENED = ("-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3")
FLAGS = ("-std=c++20", "-O3", "-DNDEBUG", "-fno-tree-slp-vectorize", *HARDENED)
"""As in CMakeLists.txt."""
MEASURED = "guard_measured"


class CannotMeasureError(Exception):
    """What is needed to count is not here; the message says what and how to get it."""


@dataclass(frozen=True)
class Counted:
    """The instructions of all operations of one workload, and the combines where those count."""

    operations: int
    instructions: int
    combines: int = 0


def compiler() -> str:
    """Return the kind and version of the compiler, such as ``gcc 12.2.0``."""
    command = os.environ.get("CXX", "g++")
    if not shutil.which(command):
        raise CannotMeasureError(
            f"the guard compiles native programs, and there is no compiler {command!r}: "
            "install g++, or set CXX"
        )
    told = [_run([command, *flags]) for flags in (["--version"], ["-dumpfullversion"])]
    if "clang" in told[0]:
        told[1] = _run([command, "-dumpversion"])
    return f"{'clang' if 'clang' in told[0] else 'gcc'} {told[1].strip()}"


def valgrind() -> str:
    """Return the path of Valgrind, which is installed where that is possible."""
    found = shutil.which("valgrind")
    if not found and install("valgrind", "counting instructions"):
        found = shutil.which("valgrind")
    if not found:
        raise CannotMeasureError(
            "instructions are counted by Valgrind, which is not here and could not be installed. "
            "On Debian, as root: apt-get install valgrind"
        )
    return found


def measure(
    include: Path = INCLUDE, folder: Path = BUILD, programs: Iterable[str] = PROGRAMS
) -> dict[str, Counted]:
    """Build programs with the headers of a folder, and return the counts of all their workloads."""
    counter = valgrind()

    def one(program: str) -> dict[str, Counted]:
        return count(counter, build(program, include, folder))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = list(pool.map(one, programs))
    return {name: counted for part in parts for name, counted in part.items()}


def build(program: str, include: Path, folder: Path) -> Path:
    """Compile a program, unless what it is made of is what it was made of last time."""
    sources = [SOURCES / "main.cpp", SOURCES / f"{program}.cpp"]
    read = [SOURCES / "workload.hpp", *sources, *sorted(include.rglob("*.hpp"))]
    made_of = hashlib.sha256(repr((compiler(), FLAGS)).encode())
    for path in read:
        made_of.update(path.name.encode() + path.read_bytes())
    binary, stamp = folder / program, folder / f"{program}.made_of"
    if binary.exists() and stamp.exists() and stamp.read_text() == made_of.hexdigest():
        return binary
    folder.mkdir(parents=True, exist_ok=True)
    command = [os.environ.get("CXX", "g++"), *FLAGS, "-I", str(include), *map(str, sources)]
    _run([*command, "-o", str(binary)])
    stamp.write_text(made_of.hexdigest())
    return binary


def count(counter: str, binary: Path) -> dict[str, Counted]:
    """Run a program under Callgrind, and return the instructions of each of its workloads."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "part"
        options = ["--tool=callgrind", f"--callgrind-out-file={out}"]
        options += [f"--toggle-collect={MEASURED}", f"--dump-after={MEASURED}"]
        told = _run([counter, *options, str(binary)])
        lines = [line.split("\t") for line in told.splitlines()]
        parts = [Path(f"{out}.{k}") for k in range(1, len(lines) + 1)]
        missing = [part.name for part in parts if not part.exists()]
        if not lines or missing:
            raise CannotMeasureError(
                f"Callgrind told {len(lines) - len(missing)} of {len(lines)} workloads of "
                f"{binary.name}: does it see the function {MEASURED}?"
            )
        return {
            name: Counted(int(operations), instructions_in(part.read_text()), int(combines))
            for (name, operations, combines), part in zip(lines, parts, strict=True)
        }


def instructions_in(part: str) -> int:
    """Return the total of one part of Callgrind's output."""
    found = re.search(r"^totals: (\d+)$", part, re.MULTILINE)
    if not found:
        raise CannotMeasureError("a part of Callgrind's output has no line of totals")
    return int(found[1])


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotMeasureError(
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.strip()}"
        )
    return done.stdout
