"""The figures that the documentation states, each with how it follows from the raw results."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.report import tracing
from benchmarks.report.__main__ import DOCS, relative
from benchmarks.report.tracing import Claim, Traced, Unclaimed
from benchmarks.results import Result, load_all
from benchmarks.scaling.combines import IN_ORDER

ROOT = Path(__file__).parents[2]
Results = dict[str, Result]


def _combines(structure: str) -> Callable[[Results], float]:
    """Return a round's combines, in order, in the widest window."""
    return lambda results: results["combines"].line(structure, IN_ORDER).points[-1].cost


def _python_sum(results: Results) -> float:
    """Return the microseconds of a row in a sum by a Python function."""
    return results["operator_aggregates"].line("WindowOperator").at("a sum by Python") / 1000


CLAIMS: list[Claim] = [
    Claim("README.md", "3 combines on average, n now and then",
          _combines("TwoStacksLite"), 2.95, 3.05, "combines"),
    Claim("README.md", "4 combines on average, 6 at most",
          _combines("DabaLite"), 3.95, 4.05, "combines"),
    Claim("README.md", "in order 4 combines on average; late by d entries, O(log d)",
          _combines("FingerTree"), 3.5, 4.5, "combines"),
    Claim("docs/spark.md", "about 0.3 microseconds a row for a sum, in the worker",
          _python_sum, 0.2, 0.5, "us"),
]  # fmt: skip
"""What is stated outside of the lists that the report writes (`blocks`)."""

NOT_MEASURED: list[tuple[str, str]] = [
    ("README.md", "8 bytes a row for each column it reads"),
    ("README.md", "so 8 bytes for each entry of a `max`"),
    ("README.md", "as big as a HyperLogLog's 4 KB"),
    ("docs/choosing.md", "HyperLogLog with its default setting is 4 KB for each state"),
    ("docs/finger-tree.md", "a Bloom filter has 2 KB"),
    ("docs/memory-and-threads.md", "give back a chunk of 32 KB"),
    ("docs/memory-and-threads.md", "Blocks of 128 KB and more"),
    ("docs/rolling.md", "12 bytes a row more (44 while sorting), and in arrival order another 8"),
    ("docs/spark.md", "A range is eight times as long"),
    ("docs/spark.md", "a stretch of rows (65,536, or 64 MB)"),
    (
        "docs/structures.md",
        "takes a nanosecond and for a merge of sketches that takes a millisecond",
    ),
]
"""Pages and fragments of them that have a number and a unit, but are no measurement."""


_DOCS = ROOT / "docs"
_OTHERS = {DOCS, _DOCS / "parts", _DOCS / "hardening.md", _DOCS / "mutants.md"}
"""The report itself, and pages with tables that `make soak` and `make mutants` write."""


def pages() -> list[str]:
    """Return the pages that people read: README and docs, without those made of results."""
    written = sorted(p for p in _DOCS.rglob("*.md") if not _OTHERS & {p, *p.parents})
    return ["README.md", *(path.relative_to(ROOT).as_posix() for path in written)]


def traced(results: dict[str, Result]) -> list[Traced]:
    """Compute all claims."""
    return [tracing.trace(claim, results, ROOT) for claim in CLAIMS]


def unclaimed() -> list[Unclaimed]:
    """Return the lines that state a figure of which there is no claim."""
    return tracing.unclaimed(ROOT, pages(), CLAIMS, NOT_MEASURED)


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell and write all claims; returns 1 if one does not hold or is missing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report.claims", description=__doc__)
    parser.add_argument("--results", type=Path, default=DOCS / "results", help="raw results")
    parser.add_argument("--output", type=Path, default=DOCS, help="where claims.md goes")
    args = parser.parse_args(arguments)
    found, missing = traced(load_all(args.results)), unclaimed()
    for one in found:
        value = "-" if one.value is None else f"{one.value:.4g} {one.claim.unit}"
        print(f"{one.claim.page}: {one.claim.text!r}: {value} {one.problem}".rstrip())
    for line in missing:
        print(f"{line.page}:{line.line}: no claim for: {line.text}")
    text = tracing.page(found, ROOT, args.output, relative(args.results, args.output))
    (args.output / "claims.md").write_text(text, encoding="utf-8")
    return 1 if missing or any(one.problem for one in found) else 0


if __name__ == "__main__":
    raise SystemExit(main())
