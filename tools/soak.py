"""Try Sash for hours: random operations, fuzzers, faults, load. Write what came of it to the docs.

Each trial is a program of its own. It prints, as a line of JSON, what was tried, how much of it,
how long it took and what was found; of tests it is the number that passed. The table in
docs/hardening.md is made of the trials' last results, which are kept in docs/hardening.json.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE, KEPT = ROOT / "docs" / "hardening.md", ROOT / "docs" / "hardening.json"
MARKS = re.compile(r"(<!-- soak -->\n).*?(<!-- /soak -->)", re.DOTALL)


@dataclass(frozen=True)
class Outcome:
    """What was tried, and what came of it."""

    what: str
    amount: str
    seconds: float
    findings: int
    """Crashes, wrong answers, leaks: anything that should not be."""


Read = Callable[[str, float, int], list[Outcome]]


@dataclass(frozen=True)
class Trial:
    """Something to be tried."""

    name: str
    command: Sequence[str]
    read: Read
    """Makes outcomes of what it printed, the seconds it took and its exit code."""
    environment: dict[str, str] = field(default_factory=dict)

    def run(self) -> list[Outcome]:
        """Run it, and show what it printed if it failed."""
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, *self.command],
            cwd=ROOT,
            env={**os.environ, "SASH_TESTS": "all", **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            print(done.stdout[-5000:], file=sys.stderr)
        return self.read(done.stdout, time.monotonic() - began, done.returncode)


def told(output: str, seconds: float, code: int) -> list[Outcome]:
    """Return the outcomes that a program printed."""
    lines = [json.loads(line) for line in output.splitlines() if line.startswith('{"what"')]
    if not lines:
        return [Outcome("a trial that did not end by itself", "", seconds, 1)]
    return [Outcome(**line) for line in lines]


def fuzzed(kind: str) -> Read:
    """Return what adds up the records of tools/fuzz.py; found is what the last run found."""

    def add_up(output: str, seconds: float, code: int) -> list[Outcome]:
        found: dict[str, Outcome] = {}
        totals: Counter[str] = Counter()
        for path in sorted((ROOT / "build" / "fuzz").glob(f"{kind}*.json")):  # oldest first
            one = Outcome(**json.loads(path.read_text()))
            number, unit = one.amount.replace(",", "").split(" ")[:2]
            totals[one.what] += int(number)
            took = one.seconds + (found[one.what].seconds if one.what in found else 0)
            amount = f"{totals[one.what]:,} {unit}"
            found[one.what] = Outcome(one.what, amount, took, one.findings)
        return list(found.values()) or [Outcome(f"{kind}: no record", "", seconds, 1)]

    return add_up


def tests(what: str) -> Read:
    """Return what counts the tests that passed."""

    def count(output: str, seconds: float, code: int) -> list[Outcome]:
        passed = re.search(r"(\d+) passed", output)
        failed = sum(int(n) for n in re.findall(r"(\d+) (?:failed|error)", output))
        amount = f"{int(passed[1]) if passed else 0:,} cases"
        return [Outcome(what, amount, seconds, failed or int(code != 0))]

    return count


def starved(output: str, seconds: float, code: int) -> list[Outcome]:
    """Return how many allocations the native tests had fail."""
    failures = sum(int(n) for n in re.findall(r"after (\d+) failures", output))
    what = "allocations that fail in the middle of an operation; contents compared"
    return [Outcome(what, f"{failures:,} failures", seconds, int(code != 0 or not failures))]


def killed(kills: int) -> Read:
    """Return what tells how many processes were killed."""

    def tell(output: str, seconds: float, code: int) -> list[Outcome]:
        what = "workers, the JVM or everything killed in the middle of a stream; all rows compared"
        return [Outcome(what, f"{kills} kills", seconds, int(code != 0))]

    return tell


def pytest(name: str, what: str, *files: str) -> Trial:
    """Return a trial of test files."""
    return Trial(name, ["-m", "pytest", *(f"tests/{file}" for file in files)], tests(what))


def trials(seconds: int, operations: int, rows: int, kills: int) -> list[Trial]:
    """Return all trials."""
    kill = ["-m", "pytest", "tests/spark/test_spark_kills.py"]
    return [
        Trial("random", ["tools/fuzz.py", "--random", str(operations)], fuzzed("random")),
        Trial("fuzz", ["tools/fuzz.py", str(seconds)], fuzzed("fuzzing")),
        Trial("load", ["tools/soak_load.py", "--rows", str(rows)], told),
        Trial("kills", kill, killed(kills), {"SASH_KILLS": str(kills)}),
        Trial("simulator", ["tools/simulate.py", "--minutes", f"{seconds / 60:g}"], told),
        Trial("memory", ["tools/native_tests.py"], starved),
        pytest(
            "steady",
            "processes that run out of memory, and windows that run for long or after bursts",
            *("test_out_of_memory.py", "test_steady_memory.py", "test_tree_memory.py"),
        ),
        pytest(
            "threads",
            "threads that meet in one object, share inputs or write to them",
            *("test_threads.py", "test_thread_inputs.py"),
        ),
        pytest(
            "damage",
            "snapshots, states, checkpoints and histories that are cut, flipped, mixed or forged",
            *("test_damaged_snapshots.py", "test_hostile_bytes.py", "test_hostile_operators.py"),
            *("test_hostile_snapshots.py", "spark/test_spark_damaged.py"),
            *("live/test_live_damaged.py", "live/test_live_hostile.py"),
        ),
        pytest(
            "bad inputs",
            "bad arguments, columns, job files and command lines, each with its error",
            *("test_bad_input_table.py", "test_bad_input.py", "test_tree_bad_input.py"),
            *("test_rolling_bad_input.py", "test_operator_bad_input.py", "test_limits.py", "jobs"),
        ),
        pytest(
            "names",
            "hostile names, and 1,000 columns, in tables, operators and on Spark",
            *("test_names.py", "spark/test_spark_names.py"),
        ),
        Trial(
            "sanitizers",
            ["tools/asan.py"],
            tests("the core's Python tests under AddressSanitizer and UBSan"),
        ),
    ]


def table(found: Sequence[Outcome]) -> str:
    """Return the outcomes as a table."""
    lines = ["| tried | how much | minutes | found |", "| --- | --- | --: | --: |"]
    for one in found:
        minutes = f"{one.seconds / 60:.1f}"
        lines.append(f"| {one.what} | {one.amount} | {minutes} | {one.findings or 'nothing'} |")
    return "\n".join(lines) + "\n"


def load() -> dict[str, list[Outcome]]:
    """Return what earlier runs found, by trial."""
    if not KEPT.exists():
        return {}
    kept = json.loads(KEPT.read_text())
    return {name: [Outcome(**one) for one in found] for name, found in kept.items()}


def write(found: dict[str, list[Outcome]], order: Sequence[str]) -> None:
    """Keep the outcomes, and write the table of them anew."""
    known = {name: found[name] for name in order if name in found}
    raw = {name: [asdict(one) for one in rows] for name, rows in known.items()}
    KEPT.write_text(json.dumps(raw, indent=1) + "\n")
    rows = table([one for several in known.values() for one in several])
    PAGE.write_text(MARKS.sub(lambda m: m[1] + rows + m[2], PAGE.read_text()))


def main() -> int:
    """Run the trials that were asked for, all by default; 1 when anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="trials; all by default")
    parser.add_argument("--seconds", type=int, default=3600, help="of fuzzing")
    parser.add_argument("--operations", type=int, default=100_000_000, help="random ones")
    parser.add_argument("--rows", type=int, default=100_000_000, help="through one operator")
    parser.add_argument("--kills", type=int, default=20)
    args = parser.parse_args()
    all_trials = trials(args.seconds, args.operations, args.rows, args.kills)
    order = [trial.name for trial in all_trials]
    unknown = set(args.names) - set(order)
    if unknown:
        parser.error(f"no trial {unknown.pop()!r}; there are {', '.join(order)}")
    found, problems = load(), 0
    for trial in all_trials:
        if args.names and trial.name not in args.names:
            continue
        print(f"{trial.name} ...", flush=True)
        found[trial.name] = trial.run()
        problems += sum(one.findings for one in found[trial.name])
        for one in found[trial.name]:
            print(f"  {one.what}: {one.amount}; found {one.findings}", flush=True)
        write(found, order)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
