"""Finding measured figures in pages of markdown: "14 ns", "four times as fast", rows of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_WORDS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "twice": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "twenty": 20, "fifty": 50,
    "hundred": 100, "thousand": 1000, "half": 0.5, "third": 1 / 3, "quarter": 0.25,
}  # fmt: skip
_DIGITS = r"\d[\d,]*(?:\.\d+)?"
_NUMBER = rf"(?:{_DIGITS}|\b(?:{'|'.join(_WORDS)})\b)"
_SEVERAL = rf"{_NUMBER}(?:\s+(?:to|and|or|against|beside|of\s+an?)\s+{_NUMBER}|\s+of\s+an?)?"
_TIME = r"(?:ns|nanoseconds?|µs|us|microseconds?|ms|milliseconds?)"
_UNIT = rf"(?:{_TIME}|[KMG]B|M\s+rows|million\s+rows|(?:million\s+)?rows/s|rows\s+a\s+second)\b"
_FACTOR = r"times\s+(?:as|faster|slower|more|less|the|that|quicker|cheaper)\b"
_OTHER = (
    r"(?:bytes\s+(?:for|an?|per|each)\b|of\s+the\s+time\b|%\s+(?:faster|slower|of\s+the\s+time))"
)
_TOOK = r"\b(?:took|takes?)\s+"
FIGURE = re.compile(
    rf"{_SEVERAL}[\s-]?(?:{_UNIT}|\s*{_FACTOR}|\s*{_OTHER})"
    rf"|{_TOOK}{_SEVERAL}\s+(?:s|seconds?|minutes?)\b"
    rf"|\btwice\s+as\s+(?:fast|slow|much|many)\b"
)
_CELL = re.compile(rf"\**(?:{_DIGITS}(?: to {_DIGITS})?|-)\**")
_HIDDEN = re.compile(
    r"^(?P<fence>```|~~~).*?^(?P=fence)[ ]*$|<!--.*?-->|`[^`\n]+`", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Figure:
    """A place in a page that states what was measured."""

    start: int
    end: int
    numbers: tuple[float, ...]
    """What is stated there; nothing for a row of a table, which states many."""
    header: tuple[int, int] | None = None
    """Where the header of its table is."""


def figures(text: str) -> list[Figure]:
    """Return the measured figures of a page: in prose, and the rows of tables of numbers."""
    shown = _HIDDEN.sub(lambda part: re.sub(r"[^\n]", " ", part[0]), text)
    rows = list(_rows(shown))
    prose = [
        Figure(*found.span(), numbers(found[0]))
        for found in FIGURE.finditer(shown)
        if not any(row.start <= found.start() < row.end for row in rows)
    ]
    return sorted([*prose, *rows], key=lambda figure: figure.start)


def numbers(text: str) -> tuple[float, ...]:
    """Return the numbers of a text, those in words too."""
    found = re.findall(_NUMBER, text)
    return tuple(
        float(_WORDS[word]) if word in _WORDS else float(word.replace(",", "")) for word in found
    )


def _rows(text: str) -> Iterator[Figure]:
    """Find the rows of tables of figures: half of their cells, or more, are numbers."""
    for table in re.finditer(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        lines = table[0].splitlines(keepends=True)
        cells = [cell.strip() for line in lines[2:] for cell in line.strip("| \n").split("|")[1:]]
        if 2 * sum(bool(_CELL.fullmatch(cell)) for cell in cells) < max(len(cells), 1):
            continue
        start, header = table.start(), (table.start(), table.start() + len(lines[0]))
        for i, line in enumerate(lines):
            if i > 1:
                yield Figure(start, start + len(line.rstrip()), (), header)
            start += len(line)
