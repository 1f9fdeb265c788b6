"""Statements that can be dropped, and small questions about where a token stands."""

from __future__ import annotations

from . import regions
from .tokens import Source

_CONTROL = {"if", "for", "while", "switch", "constexpr"}
_KEYWORDS = frozenset(
    {"return", "if", "else", "for", "while", "do", "switch", "case", "default", "break", "continue"}
    | {"using", "const", "constexpr", "static", "auto", "template", "typename", "struct", "class"}
    | {"enum", "throw", "try", "catch", "static_assert", "assert", "requires", "operator"}
    | {"delete", "unsigned", "int", "char", "bool", "long", "double", "void"}
)
_ASSIGNS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}


def arguments(source: Source, opening: int) -> list[tuple[int, int]]:
    """The first and last token of each argument between a pair of brackets."""
    parts: list[tuple[int, int]] = []
    first = i = opening + 1
    end = source.partner[opening]
    while i < end:
        if source[i] == ",":
            parts.append((first, i - 1))
            first = i + 1
        i = source.partner[i] + 1 if _opens(source, i) else i + 1
    return [*parts, (first, end - 1)] if end > opening + 1 else []


def in_for_head(source: Source, i: int) -> bool:
    """Is this directly in the head of a for loop? What steps it there is no use to mutate."""
    opening = source.around[i]
    return source[opening] == "(" and source[opening - 1] == "for"


def declares_constant(source: Source, i: int) -> bool:
    """Is number ``i`` all that a constant is set to? A compiler would use it before it runs."""
    return source[i - 1] in {"=", "{"} and source[i + 1] in {";", "}"} and _is_const(source, i)


def _is_const(source: Source, i: int) -> bool:
    while i > 0 and source[i] not in {";", "(", ")"}:
        if source[i] in {"const", "constexpr"}:
            return True
        i -= 1
    return False


def end_of(source: Source, i: int) -> int | None:
    """The semicolon of the expression statement that begins at ``i``, if one does."""
    if not _begins(source, i):
        return None
    at, assigned = i, False
    last_name = False
    while source[at] != ";":
        token = source.tokens[at]
        if source[at] == "}" or at + 1 >= len(source):
            return None
        if not assigned:
            if token.text in _KEYWORDS:
                return None
            if (token.kind == "name" and last_name) or token.text == "<":
                return None
            if token.text in {"*", "&", "&&"} and at > i:
                return None  # a pointer or reference is declared
        assigned = assigned or token.text in _ASSIGNS or token.text == "("
        last_name = token.kind == "name"
        at = source.partner[at] + 1 if _opens(source, at) else at + 1
    return at if at > i + 1 else None


def _begins(source: Source, i: int) -> bool:
    token, ahead = source.tokens[i], source[i - 1]
    if token.kind != "name" and token.text not in {"*", "++", "--", "("}:
        return False
    if source[source.around[i]] != "{":
        return False
    if ahead == "}":
        return not regions.is_type(source, source.partner[i - 1])
    if ahead in {";", "{", "else"}:
        return True
    if ahead == ")":
        return source[source.partner.get(i - 1, 0) - 1] in _CONTROL
    return ahead == "]" and source[i - 2] == "]"


def _opens(source: Source, i: int) -> bool:
    return source[i] in {"(", "[", "{", "<"} and i in source.partner
