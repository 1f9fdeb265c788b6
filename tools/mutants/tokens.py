"""C++ source as tokens with matched brackets, as far as code in the project's format needs it.

clang-format makes this easy: a binary operator has spaces around it, the bracket of a template
argument list and the star of a pointer have none before them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SKIPPED = r"(?P<skipped>\s+|//[^\n]*|/\*.*?\*/|\#(?:[^\n\\]|\\.)*)"
_TOKEN = re.compile(
    _SKIPPED
    + r"""|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    + r"|(?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)"
    + r"|(?P<name>[A-Za-z_]\w*)"
    + r"|(?P<symbol><=>|->\*|<<=|>>=|\.\.\.|::|->|\+\+|--|<<|>>|[<>=!+\-*/%&|^]=|&&|\|\||.)",
    re.S,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Token:
    """A piece of source: its kind (name, number, text or symbol) and where it stands."""

    text: str
    kind: str
    start: int
    line: int
    spaced: bool  # white space or a comment before it

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.start + len(self.text)


class Source:
    """The tokens of one file, for every bracket its partner, for every token the bracket around."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.splitlines()
        self.tokens = _tokens(text)
        self.partner = _partners(self.tokens)
        self.around = _around(self.partner, len(self.tokens))

    def __getitem__(self, i: int) -> str:
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def __len__(self) -> int:
        return len(self.tokens)

    def binary(self, i: int) -> bool:
        """Is the operator at ``i`` one between two operands?"""
        after = i + 1 < len(self) and self.tokens[i + 1].spaced
        return self.tokens[i].spaced and after

    def line_of(self, i: int) -> str:
        """The line that token ``i`` is in, with single spaces."""
        return " ".join(self.lines[self.tokens[i].line - 1].split())


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    spaced, line, angles = True, 1, 0
    for match in _TOKEN.finditer(text):
        piece, kind = match.group(), match.lastgroup or ""
        if kind != "skipped":
            pieces = [piece]
            if piece == "<" and (not spaced or (found and found[-1].text == "template")):
                angles += 1
            elif piece in {">", ">>"} and not spaced and angles:
                pieces = [">"] * len(piece)
                angles -= len(piece)
            for n, one in enumerate(pieces):
                found.append(Token(one, kind, match.start() + n, line, spaced and n == 0))
        spaced = kind == "skipped"
        line += piece.count("\n")
    return found


def _partners(tokens: list[Token]) -> dict[int, int]:
    partner: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    for i, token in enumerate(tokens):
        template = token.text == "<" and (not token.spaced or tokens[i - 1].text == "template")
        if token.kind != "symbol":
            continue
        if token.text in _CLOSING or template:
            opened.append((_CLOSING.get(token.text, ">"), i))
        elif opened and token.text == opened[-1][0] and (token.text != ">" or not token.spaced):
            _, start = opened.pop()
            partner[start], partner[i] = i, start
    return partner


def _around(partner: dict[int, int], count: int) -> list[int]:
    """For each token the opening bracket that it is directly in, or -1."""
    around, opened = [], [-1]
    for i in range(count):
        if partner.get(i, i) < i:
            opened.pop()
        around.append(opened[-1])
        if partner.get(i, i) > i:
            opened.append(i)
    return around
