"""Python states as data: plain values to JSON and back, running no code on the way.

Understood are ``None``, booleans, integers, floats (NaN and infinities too), strings, bytes,
tuples, lists, dicts, sets, frozensets, ``Decimal``, ``Fraction`` and the classes of `datetime`,
nested at will. Other states
need a ``dump`` and a ``load`` of their monoid.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sash._slices import slices

Dump = Callable[[Any], bytes] | None
Load = Callable[[bytes], Any] | None
Dumps = Dump | tuple[Dump, ...]
Loads = Load | tuple[Load, ...]


def dumps(states: list[Any], dump: Dumps) -> bytes:
    """Return the states as bytes."""
    tagged = [_tag(s, dump) for s in states]
    texts = [json.dumps(part, separators=(",", ":"), allow_nan=False) for part in slices(tagged)]
    return f"[{','.join(text[1:-1] for text in texts)}]".encode()


def loads(data: bytes, load: Loads) -> list[Any]:
    """Return the states that `dumps` wrote; anything else is refused."""
    try:
        return [_untag(t, load) for t in _elements(data.decode())]
    except Exception as error:  # a monoid's own load may raise anything
        raise ValueError(f"the snapshot is damaged: its states cannot be read ({error})") from None


def _elements(text: str) -> Iterator[Any]:
    """Yield the elements of a list as `dumps` writes it, one at a time: a signal may end it."""
    if not text.startswith("["):
        raise ValueError("not a list")
    decode, at = json.JSONDecoder().raw_decode, 1
    while text != "[]":
        element, at = decode(text, at)
        yield element
        if text[at : at + 2] == "]":
            return
        if text[at : at + 1] != ",":
            raise ValueError(f"no list goes on or ends like this at character {at}")
        at += 1


def _tag(value: Any, dump: Dumps) -> list[Any]:
    if value is ...:  # nothing: the adjoined identity
        return ["...", None]
    if isinstance(dump, tuple):
        return ["product", [_tag(v, d) for v, d in zip(value, dump, strict=True)]]
    if dump is not None:
        return ["custom", base64.b64encode(dump(value)).decode()]
    kind = type(value)
    if value is None or kind in (bool, str):
        return ["", value]
    if kind in (tuple, list, set, frozenset):
        return [kind.__name__, [_tag(v, None) for v in value]]
    if kind is dict:
        return ["dict", [[_tag(k, None), _tag(v, None)] for k, v in value.items()]]
    if kind in _TO_TEXT:
        return [kind.__name__, _TO_TEXT[kind](value)]
    raise TypeError(
        f"a state of type {kind.__name__} is not plain data: give the monoid a dump and a load"
    )


_TO_TEXT: dict[type, Callable[[Any], str]] = {
    int: hex,
    float: float.hex,
    bytes: lambda b: base64.b64encode(b).decode(),
    datetime: datetime.isoformat,
    date: date.isoformat,
    time: time.isoformat,
    timedelta: lambda t: f"{t.days}:{t.seconds}:{t.microseconds}",
    Decimal: str,
    Fraction: lambda f: f"{f.numerator:#x}/{f.denominator:#x}",
}
_SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "tuple": tuple,
    "list": list,
    "set": set,
    "frozenset": frozenset,
}
_PARTS = ("days", "seconds", "microseconds")
_CLOCK = (datetime, date, time)
_FROM_TEXT: dict[str, Callable[[str], Any]] = {
    "int": lambda t: int(t, 16),
    "float": float.fromhex,
    "Decimal": Decimal,
    "Fraction": lambda t: Fraction(*(int(part, 16) for part in t.split("/"))),
    "timedelta": lambda t: timedelta(**dict(zip(_PARTS, map(int, t.split(":")), strict=True))),
    **{kind.__name__: kind.fromisoformat for kind in _CLOCK},
    "bytes": lambda t: base64.b64decode(t, validate=True),
}


def _untag(tagged: Any, load: Loads) -> Any:
    kind, value = tagged
    if isinstance(load, tuple) and kind != "...":
        if kind != "product":
            raise ValueError("not the state of a product")
        return tuple(_untag(v, one) for v, one in zip(value, load, strict=True))
    return _untag_one(kind, value, None if isinstance(load, tuple) else load)


def _untag_one(kind: Any, value: Any, load: Load) -> Any:
    if kind == "...":
        return ...
    if kind == "custom":
        if load is None:
            raise ValueError("the monoid has no load")
        return load(base64.b64decode(value, validate=True))
    if kind == "" and (value is None or isinstance(value, (bool, str))):
        return value
    if kind in _SEQUENCES:
        return _SEQUENCES[kind](_untag(v, load) for v in value)
    if kind == "dict":
        return {_untag(k, load): _untag(v, load) for k, v in value}
    if kind in _FROM_TEXT and isinstance(value, str):
        return _FROM_TEXT[kind](value)
    raise ValueError(f"no state is tagged {kind!r}")
