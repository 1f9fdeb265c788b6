"""The regression guard: combine and instruction counts, compared with those on record.

Counts do not depend on the load of the machine, so a small change shows. Combines must be equal to
those in ``guard.json``, up or down. Instructions may grow by 5%, or by 50% with another compiler
than the one on record. A change that is meant is put on record with ``--write``. Costs that must
not grow with the window, or only as its logarithm, have a largest exponent (``guard_growth.py``).
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import guard_combines, guard_growth, guard_native
from benchmarks.guard_combines import Combined
from benchmarks.guard_native import CannotMeasureError, Counted

RECORD = Path(__file__).with_suffix(".json")
SAME_COMPILER, OTHER_COMPILER = 0.05, 0.5
WRITE = "python -m benchmarks.guard --write"


@dataclass(frozen=True)
class Record:
    """What was counted, and by which compiler on which kind of machine."""

    compiler: str
    machine: str
    combines: dict[str, Combined]
    instructions: dict[str, Counted]

    def save(self, path: Path) -> None:
        """Write it."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> Record:
        """Read it again."""
        if not path.exists():
            raise CannotMeasureError(f"there is nothing on record in {path}: {WRITE}")
        kept = json.loads(path.read_text())
        combines = {name: Combined(**one) for name, one in kept.pop("combines").items()}
        counted = {name: Counted(**one) for name, one in kept.pop("instructions").items()}
        return cls(**kept, combines=combines, instructions=counted)

    def tolerance(self, other: Record) -> float:
        """Return by which part instructions may differ from those of another record."""
        same = (self.compiler, self.machine) == (other.compiler, other.machine)
        return SAME_COMPILER if same else OTHER_COMPILER

    @property
    def names(self) -> list[str]:
        """All workloads."""
        return list(dict.fromkeys([*self.combines, *self.instructions]))


def measure(include: Path = guard_native.INCLUDE) -> Record:
    """Count everything now. Only instructions depend on the headers that are given."""
    return Record(
        compiler=guard_native.compiler(),
        machine=platform.machine(),
        combines=guard_combines.measure(),
        instructions=guard_native.measure(include),
    )


@dataclass(frozen=True)
class Findings:
    """What is worse than on record, or just different; and what is better."""

    problems: list[str]
    better: list[str]


def compare(before: Record, now: Record) -> Findings:
    """Compare what was counted with what is on record."""
    problems = compare_combines(before.combines, now.combines)
    slower, better = compare_instructions(
        before.instructions, now.instructions, before.tolerance(now)
    )
    return Findings(problems + slower, better)


def compare_combines(before: Mapping[str, Combined], now: Mapping[str, Combined]) -> list[str]:
    """Return a sentence for each workload whose combines are not exactly those on record."""
    problems = unmatched("combines", before, now)
    for name, (old, new) in matched(before, now).items():
        for what in sorted(old.combines.keys() | new.combines.keys()):
            was, found = old.combines.get(what, 0), new.combines.get(what, 0)
            if was != found:
                problems.append(f"{name}: {what} combines {found:,} times, not {was:,}")
    return problems


def compare_instructions(
    before: Mapping[str, Counted], now: Mapping[str, Counted], tolerance: float
) -> tuple[list[str], list[str]]:
    """Return sentences about more instructions or other combines, and about fewer instructions."""
    problems, better = unmatched("instructions", before, now), []
    for name, (old, new) in matched(before, now).items():
        change = new.instructions / old.instructions - 1
        found = f"{name}: {change:+.1%} instructions"
        if change > tolerance:
            problems.append(f"{found}, of which {tolerance:.0%} are allowed")
        elif change < -tolerance:
            better.append(found)
        if new.combines != old.combines:
            problems.append(f"{name}: combines {new.combines:,} times, not {old.combines:,}")
    return problems, better


def unmatched(what: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each workload that only one side has, or that is another one there."""
    problems = []
    for name in dict.fromkeys([*before, *now]):
        if name not in now:
            problems.append(f"{name}: its {what} are on record, but not counted any more")
        elif name not in before:
            problems.append(f"{name}: its {what} are counted, but not on record")
        elif before[name].operations != now[name].operations:
            was, found = before[name].operations, now[name].operations
            problems.append(f"{name}: it has {found:,} operations, and {was:,} on record")
    return problems


def matched(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the workloads that both have, with as many operations."""
    return {
        name: (before[name], now[name])
        for name in before
        if name in now and before[name].operations == now[name].operations
    }


def table(before: Record, now: Record) -> str:
    """Return counts for each operation, on record and now, a line for each workload."""
    names = list(dict.fromkeys([*before.names, *now.names]))
    width = max(map(len, names))
    lines = [f"{'':{width}} {'combines for each':>18} {'instructions for each':>22}"]
    lines.append(f"{'workload':{width}} {'before':>9}{'now':>9} {'before':>11}{'now':>11}  change")
    for name in names:
        combines = [combines_each(record.combines.get(name)) for record in (before, now)]
        counts = [record.instructions.get(name) for record in (before, now)]
        cells = [f"{c.instructions / c.operations:.1f}" if c else "" for c in counts]
        old, new = counts
        change = f"{new.instructions / old.instructions - 1:+.1%}" if old and new else ""
        line = f"{name:{width}} {combines[0]:>9}{combines[1]:>9} {cells[0]:>11}{cells[1]:>11}"
        lines.append(f"{line} {change:>7}".rstrip())
    return "\n".join(lines)


def combines_each(counted: Combined | None) -> str:
    """Return the combines of one operation, all calls of it together."""
    if counted is None:
        return ""
    total = sum(n for what, n in counted.combines.items() if what != "fill")
    return f"{total / counted.operations:.3f}"


def main(arguments: list[str] | None = None) -> int:
    """Return 0, or 1 when something is worse than on record, or 2 when it cannot be told."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guard", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put what is counted on record")
    parser.add_argument(
        "--include",
        type=Path,
        default=guard_native.INCLUDE,
        help="headers to count the instructions of, in place of cpp/include",
    )
    args = parser.parse_args(arguments)
    try:
        before = Record.load(RECORD) if RECORD.exists() or not args.write else None
        now = measure(args.include)
        growth = guard_growth.measure(args.include)
    except CannotMeasureError as error:
        print(f"the guard cannot count: {error}", file=sys.stderr)
        return 2
    print(table(before or now, now))
    print(guard_growth.table(growth))
    grown = guard_growth.problems(growth)
    if before is not None and not args.write:
        found = compare(before, now)
        every = Findings(found.problems + grown, found.better)
        return report(every, f"{before.compiler}, {before.machine}")
    if grown:
        return report(Findings(grown, []), now.compiler)
    now.save(RECORD)
    print(f"on record now: {len(now.names)} workloads, {now.compiler}, {now.machine}")
    return 0


def report(findings: Findings, compiler: str) -> int:
    """Print what was found; return 1 when there are problems."""
    for line in findings.better:
        print(f"better: {line}")
    if findings.better:
        print(f"write the record anew, so that it is kept: {WRITE}")
    for line in findings.problems:
        print(f"worse or changed: {line}", file=sys.stderr)
    if findings.problems:
        print(f"if that is meant, put it on record: {WRITE}", file=sys.stderr)
        return 1
    print(f"combines are those on record, instructions are within what is allowed ({compiler})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
