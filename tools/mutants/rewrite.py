"""A header with mutants in it as switches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from .places import Mutant
from .tokens import Source

INCLUDE = '#include "sash/mutants/switch.hpp"\n'

_Piece = tuple[int, bool, int, str]


def rewrite(text: str, mutants: Iterable[tuple[int, Mutant]]) -> str:
    """The text of a header with each of its numbered mutants put in."""
    source = Source(text)
    opening: dict[int, list[_Piece]] = defaultdict(list)
    closing: dict[int, list[_Piece]] = defaultdict(list)
    replaced: dict[int, str] = {}
    for number, mutant in mutants:
        for wrap in mutant.wraps:
            # Of two around the same tokens, the one that belongs to an operator in them is inside.
            size, inside = wrap.last - wrap.first, bool(mutant.replaced)
            opening[wrap.first].append((-size, inside, number, _numbered(wrap.opening, number)))
            closing[wrap.last].append((size, not inside, -number, _numbered(wrap.closing, number)))
        for i, new in mutant.replaced:
            replaced[i] = _numbered(new, number)
    out, done = [], 0
    for i, token in enumerate(source.tokens):
        out.append(text[done : token.start])
        out += [piece for *_, piece in sorted(opening[i])]
        out.append(replaced.get(i, token.text))
        out += [piece for *_, piece in sorted(closing[i])]
        done = token.end
    out.append(text[done:])
    return "".join(out).replace("#pragma once\n", "#pragma once\n" + INCLUDE, 1)


def _numbered(text: str, number: int) -> str:
    return text.replace("SASH_ID", str(number))
