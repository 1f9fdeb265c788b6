"""Every place of a header where a mutant fits, and the edits that make it a switch.

``SASH_ID`` in an edit stands for the number of the mutant, which is given when the sample is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from . import regions, statements
from .operands import after, before, chain_before, operand_after
from .tokens import Source

_COMPARISONS = {
    "<": ("less", "<="),
    "<=": ("at_most", "<"),
    ">": ("more", ">="),
    ">=": ("at_least", ">"),
    "==": ("same", "!="),
    "!=": ("differ", "=="),
}
_ARITHMETIC = {
    "+": ("plus", "-"),
    "-": ("minus", "+"),
    "*": ("times", "+"),
    "/": ("divided", "*"),
    "%": ("modulo", "/"),
}
_BITS = {
    "&": ("both_bits", "|"),
    "|": ("any_bits", "&"),
    "^": ("odd_bits", "|"),
    "<<": ("shift_left", ">>"),
    ">>": ("shift_right", "<<"),
}
_ASSIGNMENTS = {
    "+=": ("add_to", "-="),
    "-=": ("take_from", "+="),
    "|=": ("add_bits", "&="),
    "&=": ("keep_bits", "|="),
    "^=": ("flip_bits", "|="),
}
_STEPS = {"++": ("up", "--"), "--": ("down", "++")}
_EXTREMES = {"min": ("least", "max"), "max": ("most", "min")}


@dataclass(frozen=True)
class Edit:
    """Text put before token ``first``, and text put behind token ``last`` (or before, alone)."""

    first: int
    last: int
    opening: str
    closing: str


@dataclass(frozen=True)
class Mutant:
    """One fault: what kind, where, what becomes of what, and how it is switched on."""

    kind: str
    change: str
    file: str
    line: int
    text: str  # of the line
    nth: int = 0  # of the same in lines of the same text
    wraps: tuple[Edit, ...] = field(default=(), compare=False)
    replaced: tuple[tuple[int, str], ...] = field(default=(), compare=False)

    @property
    def key(self) -> str:
        """A name that stays when lines above it come and go."""
        again = f" #{self.nth + 1}" if self.nth else ""
        return f"{self.file}: {self.text}: {self.change}{again}"


def find(file: str, text: str) -> list[Mutant]:
    """All mutants of a header, in order."""
    source = Source(text)
    allowed = regions.code(source)
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for i in sorted(allowed):
        for kind, change, wraps, replaced in _at(source, i, allowed):
            line = source.line_of(i)
            nth = seen[line, change]
            seen[line, change] += 1
            number = source.tokens[i].line
            found.append(Mutant(kind, change, file, number, line, nth, wraps, replaced))
    return found


_Found = tuple[str, str, tuple[Edit, ...], tuple[tuple[int, str], ...]]


def _at(source: Source, i: int, allowed: set[int]) -> Iterator[_Found]:
    word = source[i]
    if source.binary(i):
        yield from _between(source, i)
    if word in _STEPS and not statements.in_for_head(source, i):
        yield from _step(source, i)
    if word == "!":
        last = operand_after(source, i + 1)
        yield "negation", "! dropped", (_call("flip", i, last),), ()
    yield from _constant(source, i)
    if word in _EXTREMES and source[i - 1] == "::" and source[i - 2] == "std":
        yield from _extreme(source, i)
    if word == "combine" and source[i - 1] in {".", "->"}:
        yield from _sides(source, i)
    end = statements.end_of(source, i)
    if end is not None and end in allowed:
        wrap = Edit(i, end, "{ if (!sash_mutant::on(SASH_ID)) ", " }")
        yield "statement", "dropped: " + _first_words(source, i, end), (wrap,), ()


def _call(name: str, first: int, last: int) -> Edit:
    return Edit(first, last, f"sash_mutant::{name}(SASH_ID, ", ")")


def _first_words(source: Source, i: int, end: int) -> str:
    text = source.text[source.tokens[i].start : source.tokens[end].start]
    return " ".join(text.split())


def _between(source: Source, i: int) -> Iterator[_Found]:
    word = source[i]
    for kind, table in (
        ("comparison", _COMPARISONS),
        ("arithmetic", _ARITHMETIC),
        ("bits", _BITS),
        ("assignment", _ASSIGNMENTS),
    ):
        if word in table:
            name, other = table[word]
            first, last = before(source, i), after(source, i)
            if any(source.tokens[n].kind == "text" for n in range(first, last + 1)):
                return
            yield kind, f"{word} to {other}", (_call(name, first, last),), ((i, ","),)
    if word in {"&&", "||"}:
        first, last = before(source, i), after(source, i)
        wraps = [_call("flip", *part) for part in ((first, last), (first, i - 1), (i + 1, last))]
        yield "connective", f"{word} to {'||' if word == '&&' else '&&'}", tuple(wraps), ()


def _step(source: Source, i: int) -> Iterator[_Found]:
    if source.tokens[i + 1].kind != "name" and source[i + 1] not in {"*", "("}:
        return
    name, other = _STEPS[source[i]]
    last = operand_after(source, i + 1)
    yield "step", f"{source[i]} to {other}", (_call(name, i, last),), ((i, ""),)


def _constant(source: Source, i: int) -> Iterator[_Found]:
    word = source[i]
    if word in {"true", "false"}:
        change = f"{word} to {'false' if word == 'true' else 'true'}"
        yield "constant", change, (_call("flip", i, i),), ()
    digits = word.rstrip("uUlLzZ")
    if source.tokens[i].kind == "number" and digits.isdecimal():
        if statements.declares_constant(source, i):
            return
        yield "off by one", f"{word} to {int(digits) + 1}", (_call("one_more", i, i),), ()


def _extreme(source: Source, i: int) -> Iterator[_Found]:
    name, other = _EXTREMES[source[i]]
    opening = source.partner[i + 1] + 1 if source[i + 1] == "<" else i + 1
    if source[opening] != "(" or len(statements.arguments(source, opening)) != 2:
        return
    replaced = ((i - 2, "sash_mutant"), (i, name), (opening, "(SASH_ID, "))
    yield "extreme", f"{source[i]} to {other}", (), replaced


def _sides(source: Source, i: int) -> Iterator[_Found]:
    opening = i + 1
    if source[opening] != "(":
        return
    parts = statements.arguments(source, opening)
    if len(parts) not in {2, 3}:
        return
    head = (
        "sash_mutant::sides(SASH_ID, [&](const auto& sash_a, const auto& sash_b) "
        "-> decltype(auto) { return "
    )
    given = "sash_a, sash_b); }, "
    cut = (opening, "(" + given) if len(parts) == 2 else (parts[1][0] - 1, ", " + given)
    wrap = Edit(chain_before(source, i), source.partner[opening], head, "")
    yield "sides", "sides of combine", (wrap,), (cut,)
