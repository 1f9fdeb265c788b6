"""Where the operands of an operator begin and end."""

from __future__ import annotations

from .tokens import Source

_LEVELS = [
    {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "?", ":"},
    {"||"},
    {"&&"},
    {"|"},
    {"^"},
    {"&"},
    {"==", "!="},
    {"<", "<=", ">", ">="},
    {"<=>"},
    {"<<", ">>"},
    {"+", "-"},
    {"*", "/", "%"},
]
_STRENGTH = {symbol: n for n, level in enumerate(_LEVELS) for symbol in level}
_BREAKS = {",", ";", "{", "(", "[", "return", "else", "do", "throw", "case", "?", ":"}


def before(source: Source, i: int) -> int:
    """The first token of the left operand of the operator at ``i``."""
    own = _STRENGTH[source[i]]
    at = i - 1
    while at > 0:
        if source[at] in {")", "]", "}", ">"} and at in source.partner:
            at = source.partner[at]
        ahead = at - 1
        weaker = source.binary(ahead) and _STRENGTH.get(source[ahead], own) < own
        block = source[ahead] == "}" and source[at] not in _STRENGTH
        if weaker or block or source[ahead] in _BREAKS or _controls(source, ahead):
            return at
        at = ahead
    return at


def after(source: Source, i: int) -> int:
    """The last token of the right operand of the operator at ``i``."""
    own = _STRENGTH[source[i]]
    right_to_left = own == 0
    at = i + 1
    while True:
        if source[at] in {"(", "[", "{", "<"} and at in source.partner:
            at = source.partner[at]
        follows = at + 1
        strength = _STRENGTH.get(source[follows], len(_LEVELS))
        choice = right_to_left and source[follows] in {"?", ":"}
        stops = source.binary(follows) and strength <= own and not choice
        if stops or source[follows] in {",", ";", ")", "]", "}"}:
            return at
        at = follows


def chain_before(source: Source, i: int) -> int:
    """The first token of the chain of members and calls that name ``i`` ends."""
    while source[i - 1] in {".", "->", "::"} or source[i] in {")", "]", ">", "}"}:
        if source[i] in {")", "]", ">", "}"}:
            i = source.partner[i] - 1
        else:
            i -= 2
    return i


def operand_after(source: Source, i: int) -> int:
    """The last token of the operand of a unary operator that begins at ``i``."""
    while source[i] in {"*", "!", "-", "&", "++", "--"}:
        i += 1
    i = source.partner.get(i, i) if source[i] == "(" else i
    while True:
        follows = i + 1
        if source[follows] in {".", "->", "::"}:
            i = follows + 1
        elif source[follows] in {"(", "[", "<", "{"} and _attached(source, follows):
            i = source.partner[follows]
        else:
            return i


def _attached(source: Source, i: int) -> bool:
    return i in source.partner and not source.tokens[i].spaced


def _controls(source: Source, i: int) -> bool:
    """Does a condition or a loop's head end here?"""
    if source[i] != ")" or i not in source.partner:
        return False
    return source[source.partner[i] - 1] in {"if", "for", "while", "switch", "constexpr"}
