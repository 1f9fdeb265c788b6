"""Run the stages of ``make test`` or ``make test-full``: ``python tools/stages.py test``.

They are in two lanes that run side by side, each one stage after the other. The output of the first
lane is shown as it is written, that of the second when a stage has ended: all of it if the stage
failed, else its last line. All stages run, also after one has failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTHON = sys.executable


@dataclass(frozen=True)
class Stage:
    """A command, and what it is called."""

    name: str
    command: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """How a stage went."""

    stage: Stage
    code: int
    seconds: float

    def __str__(self) -> str:
        end = "passed" if self.code == 0 else f"FAILED with exit code {self.code}"
        return f"{self.stage.name}: {end}, {self.seconds:.0f} s"


def tests(depth: str, *arguments: str) -> Stage:
    """Return the Python tests at a depth, which tests/depth.py explains."""
    command = [PYTHON, "-m", "pytest", "--durations=25", "--durations-min=1", *arguments]
    return Stage(f"Python tests ({depth})", command, {"SASH_TESTS": depth})


def tool(name: str, *command: str, **environment: str) -> Stage:
    """Return a stage that is a program of the project."""
    return Stage(name, [PYTHON, *command], environment)


LANES = {
    "test": (
        [tool("browser", "tools/browser.py"), tests("quick")],
        [
            Stage("lint", ["make", "--no-print-directory", "lint"]),
            tool("native tests", "tools/native_tests.py"),
            tool("guard", "-m", "benchmarks.guard"),
        ],
    ),
    "test-full": (
        [tests("rest"), tool("oldest PySpark", "tools/oldest_spark.py")],
        [
            tool("native tests, sanitized", "tools/native_tests.py", "--sanitize"),
            tool("Python tests, sanitized", "tools/asan.py", SASH_TESTS="quick"),
            tool("mutants of a sample", "-m", "tools.mutants", "--sample"),
        ],
    ),
}


def run(stage: Stage, shown: bool) -> Outcome:
    """Run a stage; show its output meanwhile, or what matters of it at the end."""
    began = time.monotonic()
    if shown:
        show([f"{stage.name} ..."])
    done = subprocess.run(
        stage.command, cwd=ROOT, env={**os.environ, **stage.environment}, check=False, text=True,
        stdout=None if shown else subprocess.PIPE, stderr=None if shown else subprocess.STDOUT,
    )  # fmt: skip
    outcome = Outcome(stage, done.returncode, time.monotonic() - began)
    lines = (done.stdout or "").splitlines()
    show([*(lines if outcome.code else lines[-1:]), str(outcome)])
    return outcome


def show(lines: list[str]) -> None:
    """Print lines at once, so that no other lane's come between."""
    sys.stdout.write("\n".join([*lines, ""]))
    sys.stdout.flush()


def run_all(lanes: Sequence[Sequence[Stage]]) -> list[Outcome]:
    """Run the lanes side by side; return how each stage went."""

    def one(number: int) -> list[Outcome]:
        return [run(stage, number == 0) for stage in lanes[number]]

    with ThreadPoolExecutor(len(lanes)) as pool:
        return [outcome for lane in pool.map(one, range(len(lanes))) for outcome in lane]


def main(name: str) -> int:
    """Run what has this name; return 0 when all of it passed."""
    began = time.monotonic()
    outcomes = run_all(LANES[name])
    print(f"\n{name}, {time.monotonic() - began:.0f} s in all:", *outcomes, sep="\n  ")
    return int(any(outcome.code for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
