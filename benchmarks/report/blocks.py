"""What the report saw, in the pages of the documentation: a list between two marks.

``<!-- measured: columns tables -->`` and ``<!-- /measured -->`` stand around a line for each of
these experiments, which is written anew with the report. So no page states what was not measured.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.report.content import Entry

_BLOCK = re.compile(r"(<!-- measured: ([a-z0-9_ ]+) -->\n).*?(<!-- /measured -->)", re.DOTALL)
PAGES = {
    "README.md": "docs/benchmarks",
    "docs/choosing.md": "benchmarks",
    "docs/finger-tree.md": "benchmarks",
    "docs/operator.md": "benchmarks",
    "docs/parts/rolling_speed.md": "benchmarks",  # a part of docs/rolling.md
    "docs/spark.md": "benchmarks",
    "docs/streaming.md": "benchmarks",
}
"""Pages with such lists, and where the report is as seen from them."""


def fill(text: str, there: Mapping[str, Entry], report: str) -> str:
    """Return a page with its lists written anew. The report is in folder ``report``."""

    def block(found: re.Match[str]) -> str:
        lines = [_line(there[name], report) for name in found[2].split()]
        return f"{found[1]}{''.join(lines)}{found[3]}"

    return _BLOCK.sub(block, text)


def _line(entry: Entry, report: str) -> str:
    link = f"[{entry.experiment.title}]({report}/{entry.experiment.group}.md#{entry.name})"
    return f"- {link}: {entry.verdict.seen}\n"


def fill_all(root: Path, there: Sequence[Entry]) -> None:
    """Write all lists of the documentation anew."""
    named = {entry.name: entry for entry in there}
    for page, report in PAGES.items():
        path = root / page
        path.write_text(fill(path.read_text(encoding="utf-8"), named, report), encoding="utf-8")


def without(text: str) -> str:
    """Return a page with blanks in place of its lists, so that all else stays where it is."""
    return _BLOCK.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
