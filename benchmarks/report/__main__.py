"""Make the report of raw results: plots, one HTML page, markdown pages."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from benchmarks.report import blocks, content, markdown, modelled, plots
from benchmarks.report.page import page
from benchmarks.results import load_all

DOCS = Path(__file__).parents[2] / "docs" / "benchmarks"


def main() -> None:
    """Make the report of all experiments that have a result."""
    from benchmarks.registry import EXPERIMENTS  # imports all peers, which readers may not have

    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument("--results", type=Path, default=DOCS / "results", help="raw results")
    parser.add_argument("--output", type=Path, default=DOCS, help="where the report goes")
    args = parser.parse_args()
    results = load_all(args.results)
    there = content.entries(EXPERIMENTS, results)
    if not there:
        parser.error(
            f"no result of any experiment in {args.results}: run python -m benchmarks first, or "
            "say with --results where they are"
        )
    missing = [e.name for e in EXPERIMENTS if e.name not in results]
    if not missing:
        there += modelled.write(results, args.results, args.output)
    write(there, args.results, args.output)
    if not missing and args.output.resolve() == DOCS:
        blocks.fill_all(DOCS.parents[1], there)
    if missing:
        print(f"no results of: {', '.join(missing)}")
    print(f"report: {args.output / 'report.html'}")


def write(there: list[content.Entry], results: Path, output: Path) -> None:
    """Write plots and pages."""
    for entry in there:
        plots.save(entry.result, output / "plots")
    raw = relative(results, output)
    (output / "report.html").write_text(page(there, raw), encoding="utf-8")
    for name, text in markdown.pages(there, raw, {path.name for path in output.iterdir()}).items():
        (output / name).write_text(text, encoding="utf-8")


def relative(results: Path, output: Path) -> str:
    """Return where the raw results are, as seen from the report."""
    return Path(os.path.relpath(results, output)).as_posix()


if __name__ == "__main__":
    main()
