"""Which tokens of a header are code that runs: functions, less what a compiler evaluates."""

from __future__ import annotations

from .tokens import Source

_TYPES = {"namespace", "struct", "class", "union", "enum"}
_UNEVALUATED = {"static_assert", "assert", "alignas", "sizeof", "decltype", "noexcept"}
_NOT_TESTED = {"check_invariants"}  # a test of the core itself
# No result depends on these: room taken early, memory fetched early.
_IDLE = {"reserve", "__builtin_prefetch", "prefetch", "fetch", "shrink_to_fit"}


def code(source: Source) -> set[int]:
    """The indexes of the tokens that a mutant may change."""
    return _bodies(source) - _constant(source)


def _bodies(source: Source) -> set[int]:
    inside: set[int] = set()
    stack: list[bool] = []
    for i in range(len(source)):
        if source[i] == "{":
            stack.append(_opens_code(source, i, bool(stack) and stack[-1]))
        elif source[i] == "}" and stack:
            stack.pop()
        elif stack and stack[-1]:
            inside.add(i)
    return inside


def _head(source: Source, brace: int) -> list[int]:
    """What stands before an opening brace, back to the last statement, without bracketed parts."""
    head: list[int] = []
    i = brace - 1
    while i >= 0 and source[i] not in {";", "{", "}"}:
        head.append(i)
        i = source.partner[i] if source[i] in {")", "]", ">"} and i in source.partner else i
        if source[i] in {"(", "[", "<"}:
            head.append(i)
        i -= 1
    return head[::-1]


def is_type(source: Source, brace: int) -> bool:
    """Does the brace open a type or a namespace?"""
    return any(source[i] in _TYPES for i in _head(source, brace))


def _opens_code(source: Source, brace: int, in_code: bool) -> bool:
    words = [source[i] for i in _head(source, brace)]
    if is_type(source, brace) or any(word in _NOT_TESTED for word in words):
        return False
    return in_code or "(" in words


def _constant(source: Source) -> set[int]:
    """Tokens of constant expressions, types, unevaluated operands, messages and idle statements."""
    out: set[int] = set()
    for i in range(len(source)):
        end = _constant_end(source, i)
        if end is not None:
            out.update(range(i, end + 1))
        if source[i] in _IDLE and source[i + 1] == "(":
            out.update(_whole_statement(source, i))
    return out


def _whole_statement(source: Source, i: int) -> range:
    """The statement that calls function ``i``, or its body where it is defined."""
    first, last = i, _find(source, i, {";", "{"})
    while source[first - 1] not in {";", "{", "}"}:
        first -= 1
    return range(first, source.partner.get(last, last) + 1)


def _constant_end(source: Source, i: int) -> int | None:
    """The last token of the constant part that token ``i`` begins."""
    word, after = source[i], i + 1
    if word == "<" and i in source.partner:
        return source.partner[i]
    if word == "[" and source[after] == "[":
        return source.partner[i]
    if word == "[" and _declares_array(source, i):
        return source.partner[i]
    if word in _UNEVALUATED and source[after] == "(":
        return source.partner[after]
    if word == "requires":
        return _requirement_end(source, i)
    if word == "constexpr":
        return _constexpr_end(source, i)
    if word in {"concept", "throw", "using", "goto"}:
        return _find(source, i, {";"})
    if word == "case":
        return _find(source, i, {":"})
    return None


def _declares_array(source: Source, i: int) -> bool:
    name, ahead = source.tokens[i - 1], source.tokens[i - 2]
    if name.kind != "name" or not name.spaced:
        return False
    pointer = ahead.text in {"*", ">"} and not ahead.spaced
    return pointer or (ahead.kind == "name" and ahead.text not in {"return", "else"})


def _requirement_end(source: Source, i: int) -> int:
    after = i + 1
    if source[after] == "{":
        return source.partner[after]
    if source[after] == "(":
        end = source.partner[after]
        expression = source[i - 1] in {"=", "(", "&&", "||", "requires", "return"}
        if expression and source[end + 1] == "{":
            return source.partner[end + 1]
        return end
    return i


def _constexpr_end(source: Source, i: int) -> int | None:
    if source[i - 1] == "if":
        return source.partner[i + 1]
    stop = _find(source, i, {";", "=", "{", "("})
    if source[stop] in {"=", "{"}:
        return _find(source, i, {";"})
    return None


def _find(source: Source, i: int, wanted: set[str]) -> int:
    while i + 1 < len(source) and source[i] not in wanted:
        opens = source[i] in {"(", "[", "{", "<"} and i in source.partner
        i = source.partner[i] + 1 if opens else i + 1
    return i
