"""From a figure in the documentation to the raw result it was computed from."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import blocks
from benchmarks.report.figures import Figure, figures, numbers
from benchmarks.report.numbers import cost
from benchmarks.results import Result

Span = tuple[int, int]


@dataclass(frozen=True)
class Claim:
    """A figure that a page states, and how it follows from the raw results."""

    page: str
    """From the root of the repository: "docs/rolling.md"."""
    text: str
    """As it stands there; ends of lines do not matter."""
    value: Callable[[dict[str, Result]], float]
    """Computes it, in the unit of the text."""
    low: float
    high: float
    """The text says that it is between these: what it states, or as near as "about" is."""
    unit: str = ""


@dataclass(frozen=True)
class Traced:
    """A claim with what was measured, or what is wrong with it."""

    claim: Claim
    value: float | None
    experiments: list[str]
    problem: str = ""


class Unclaimed(NamedTuple):
    """A line that states a measured figure without a claim."""

    page: str
    line: int
    text: str


class _Noted(dict[str, Result]):
    """Results that note which of them were looked at."""

    def __init__(self, results: dict[str, Result]) -> None:
        super().__init__(results)
        self.used: list[str] = []

    def __getitem__(self, name: str) -> Result:
        if name not in self.used:
            self.used.append(name)
        return super().__getitem__(name)


def trace(claim: Claim, results: dict[str, Result], root: Path) -> Traced:
    """Compute a claim's value and say what is wrong with it."""
    noted = _Noted(results)
    try:
        value = claim.value(noted)
    except (KeyError, StopIteration) as error:
        lacks = error.args[0] if error.args else "one of the places it looks at"
        what = f"its value cannot be computed: the results lack {lacks}"
        return Traced(claim, None, noted.used, what)
    return Traced(claim, value, noted.used, _problem(claim, value, root))


def _problem(claim: Claim, value: float, root: Path) -> str:
    page = root / claim.page
    if not page.exists() or not any(_spans(claim.text, page.read_text(encoding="utf-8"))):
        return "the page does not have this text: write the claim as it stands there"
    if not any(claim.low <= number <= claim.high for number in numbers(claim.text)):
        return f"the text has no number between {claim.low:g} and {claim.high:g}"
    if not claim.low <= value <= claim.high:
        return (
            f"measured {cost(value)} {claim.unit}, which is not between {claim.low:g} and "
            f"{claim.high:g}: change the text, or measure again"
        )
    return ""


def _spans(text: str, page: str) -> Iterator[Span]:
    """Find a text in a page, whatever its lines end with."""
    pattern = r"\s+".join(re.escape(word) for word in text.split())
    return (found.span() for found in re.finditer(pattern, page))


# ---- figures without a claim -------------------------------------------------------------------


def unclaimed(
    root: Path, pages: Iterable[str], claims: Sequence[Claim], allowed: Sequence[tuple[str, str]]
) -> list[Unclaimed]:
    """Find the lines of pages that state a measured figure, but no claim has it.

    Lists that the report writes need none. ``allowed`` are fragments of pages that are no
    measurements, such as the length of a window. One that is in the header of a table is for all
    its rows.
    """
    found = []
    for page in pages:
        text = blocks.without((root / page).read_text(encoding="utf-8"))
        fragments = [
            span for where, part in allowed if where == page for span in _spans(part, text)
        ]
        claimed = [
            (span, claim)
            for claim in claims
            if claim.page == page
            for span in _spans(claim.text, text)
        ]
        for figure in figures(text):
            if not _is_allowed(figure, fragments) and not _is_claimed(figure, claimed):
                line = text.count("\n", 0, figure.start) + 1
                found.append(Unclaimed(page, line, text.splitlines()[line - 1].strip()))
    return list(dict.fromkeys(found))


def _is_allowed(figure: Figure, fragments: list[Span]) -> bool:
    places = [(figure.start, figure.end)] + ([figure.header] if figure.header else [])
    return any(_meet(place, span) for place in places for span in fragments)


def _is_claimed(figure: Figure, claimed: list[tuple[Span, Claim]]) -> bool:
    """Return whether a claim is of this figure: it has its text, and a number of it."""
    return any(
        _meet((figure.start, figure.end), span)
        and (figure.header or any(claim.low <= number <= claim.high for number in figure.numbers))
        for span, claim in claimed
    )


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


# ---- the page ----------------------------------------------------------------------------------


def page(traced: Sequence[Traced], root: Path, output: Path, raw: str) -> str:
    """Return all claims as a page of markdown in folder ``output``."""
    lines = [
        "# Figures in the documentation",
        "",
        "Each measured figure that the documentation states, what it was computed from, and what "
        "was measured. Made by `python -m benchmarks.report.claims`.",
        "",
        "| the text says | where | measured | raw results |",
        "| --- | --- | --: | --- |",
    ]
    for found in traced:
        claim = found.claim
        where = Path(os.path.relpath(root / claim.page, output)).as_posix()
        value = "-" if found.value is None else f"{cost(found.value)} {claim.unit}".rstrip()
        sources = ", ".join(f"[{name}]({raw}/{name}.json)" for name in found.experiments)
        words = claim.text.replace("|", "\\|")
        lines.append(f"| {words} | [{claim.page}]({where}) | {value} | {sources} |")
    return "\n".join(lines) + "\n"
