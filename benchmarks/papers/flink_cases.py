"""The rows and windows that Flink and Sash are asked for, what Sash takes, and the way to Flink.

Row ``i`` is defined by a formula, so that both sides make the same rows; `flink_job` has it too.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sash
from benchmarks.measure import cpu_seconds, pin_one_core, unpin
from sash import agg
from sash.cli._doctor import find_java

_ROOT = Path(__file__).parents[2]
_SUM = agg.sum(dtype=int)
_SUM_OF_X = agg.sum("x", dtype=int).alias("s")
FINGER, CLASSIC, TWO_STACKS = "FingerTree", "ClassicTree", "TwoStacksLite"
OPERATOR, SMALL = "WindowOperator", "WindowOperator, batches of 200"
_BATCH = {OPERATOR: 10_000, SMALL: 200}
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Case:
    """A query over rows ``step`` milliseconds apart, every second one ``late`` rows late."""

    query: str
    rows: int
    size: int = 1
    """Of a window: rows for "rows", milliseconds otherwise."""
    late: int = 0
    step: int = 1
    slide: int = 1

    @property
    def floor(self) -> Case:
        """The query that reads the same rows and adds them up."""
        query = "windows_floor" if self.query == "windows" else "floor"
        return Case(query, self.rows, step=self.step)

    def columns(self) -> tuple[Ints, Ints]:
        """Return times and values, as they arrive."""
        i = np.arange(self.rows)
        times = i * self.step - i % 2 * 2 * self.late * self.step
        return times, i * 2654435761 % 1009


def expected(case: Case) -> dict[str, int]:
    """Return the sums that a query must give, by NumPy."""
    times, values = case.columns()
    i = np.arange(case.rows)
    if case.query in ("floor", "windows_floor"):
        sums = {"sum": values.sum(), "weighted": (values * (i % 1009)).sum(), "count": case.rows}
    elif case.query in ("rows", "range"):
        order = np.argsort(times)
        running = np.cumsum(values[order])
        found = running - np.concatenate([np.zeros(case.size, np.int64), running])[: case.rows]
        weighted = (found * (i[order] % 1009)).sum()
        sums = {"sum": found.sum(), "weighted": weighted, "count": case.rows}
    else:  # a row is in so many windows
        total = values.sum() * (case.size // case.slide)
        count = (times.max() // case.slide) - (times.min() // case.slide) + case.size // case.slide
        sums = {"sum": total, "weighted": total, "count": count}
    return {name: int(value) for name, value in sums.items()}


def check(case: Case, found: dict[str, Any]) -> None:
    """Compare what a query gave with what it must give."""
    for name, value in expected(case).items():
        if name in found and found[name] != value:
            raise AssertionError(f"{case}: {name} is {found[name]}, not {value}")


# ---- Sash ----------------------------------------------------------------------------------------


def sash_run(name: str, case: Case) -> tuple[dict[str, int], float]:
    """Return the sums and the CPU seconds of Sash."""
    times, values = case.columns()
    if name in _BATCH:
        return _operator(case, _BATCH[name])
    work: dict[str, Callable[[], Any]] = {
        FINGER: lambda: sash.FingerTree(_SUM).slide(times, values, rows=case.size),
        CLASSIC: lambda: sash.ClassicTree(_SUM).slide(times, values, rows=case.size),
        TWO_STACKS: lambda: sash.TwoStacksLite(_SUM).slide(values, case.size),
    }
    found, cpu = cpu_seconds(work[name])
    weights = np.arange(case.rows) % 1009
    sums = {"sum": found.sum(), "weighted": (found * weights).sum(), "count": len(found)}
    return {key: int(value) for key, value in sums.items()}, cpu


def _operator(case: Case, batch: int) -> tuple[dict[str, int], float]:
    by_rows = case.query == "rows"
    window = (
        sash.windows.rolling(rows=case.size) if by_rows else sash.sliding(case.size, case.slide)
    )
    times, values = case.columns()
    table = pa.table({"t": times, "x": values})
    delay = 2 * case.late * case.step + 1
    op = sash.WindowOperator(on="t", windows=window, aggs=_SUM_OF_X, delay=delay)

    def work() -> list[pa.Table]:
        parts = [table.slice(i, batch) for i in range(0, case.rows, batch)]
        return [*(op.process(part) for part in parts), op.finish()]

    told, cpu = cpu_seconds(work)
    out = pa.concat_tables(told)
    sums = out["s"].to_numpy()
    ends = out["window_end"].to_numpy() // case.step
    rows = ends + ends % 2 * 2 * case.late  # the row of that time
    weights = rows % 1009 if by_rows else 1
    return {
        "sum": int(sums.sum()),
        "weighted": int((sums * weights).sum()),
        "count": len(sums),
    }, cpu


def sash_cost(name: str, case: Case) -> float:
    """Return CPU nanoseconds a row, of more such rows where they would be done too soon to tell."""
    rows = {OPERATOR: 300_000, SMALL: 50_000}.get(name, 2_000_000 if name != CLASSIC else 500_000)
    longer = replace(case, rows=rows)
    return sash_run(name, longer)[1] * 1e9 / rows


# ---- Flink ---------------------------------------------------------------------------------------


def find_flink() -> tuple[str | None, str]:
    """Return the Python that has PyFlink, and its version; or none, and why."""
    given = os.environ.get("SASH_FLINK_PYTHON")
    python = Path(given) if given else _ROOT / "build/flink-venv/bin/python"
    if not python.exists():
        return None, "no Python with PyFlink: SASH_FLINK_PYTHON can name one"
    if find_java() is None:
        return None, "no Java"
    version = "from pyflink.version import __version__; print(__version__)"
    tried = subprocess.run([python, "-c", version], capture_output=True, text=True, check=False)
    if tried.returncode:
        return None, "the Python that SASH_FLINK_PYTHON names, or build/flink-venv, has no PyFlink"
    return str(python), tried.stdout.strip()


class Flink:
    """The process that has the JVM with Flink."""

    def __init__(self, python: str) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115, closed with the process
        unpin()  # the process may use all cores, as Spark may
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.papers.flink_job"],
            cwd=_ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
        )  # fmt: skip
        pin_one_core()

    def ask(self, case: Case) -> dict[str, Any]:
        """Run a query: CPU and wall seconds, and its sums, which are right."""
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answers is not None
        asked.write(json.dumps(asdict(case)) + "\n")
        asked.flush()
        line = answers.readline()
        if not line:
            self._errors.seek(0)
            raise RuntimeError(f"Flink failed at {case}: {self._errors.read()[-2000:]}")
        found: dict[str, Any] = json.loads(line)
        check(case, found)
        return found

    def cpu(self, case: Case) -> float:
        """Return the CPU seconds of a query."""
        return float(self.ask(case)["cpu"])

    def close(self) -> None:
        """End it; the JVM ends with it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._errors.close()
