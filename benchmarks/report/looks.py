"""How competitors look: one colour and one marker for each, the same in all plots of a report.

Sash's structures have strong colours, peers muted ones. Colours that are close to each other for
some eyes have different markers.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import Literal

from matplotlib.colors import to_hex, to_rgb

Dashes = Literal["-", "--", ":", "-."]
Rgb = tuple[float, float, float]


@dataclass(frozen=True)
class Look:
    """A colour, a marker and a dash pattern, as Matplotlib calls them."""

    colour: str
    marker: str
    dashes: Dashes = "-"


_SASH = Look("#1f66b5", "o")
_OURS = {"sash": _SASH}
_STRUCTURES = {
    "fingertree": Look("#d55e00", "o"),
    "dabalite": Look("#009e73", "s"),
    "twostackslite": Look("#4aa3df", "^"),
    "daba": Look("#0b6b4f", "D"),
    "twostacks": Look("#2b4f9e", "v"),
    "subtractonevict": Look("#e69f00", "P"),
    "flatfit": Look("#cc5f9c", "X"),
    "amta": Look("#7b3fa0", "h"),
    "reactiveaggregator": Look("#9c1f45", "d"),
    "flatfat": Look("#8a8a1f", "p"),
    "windowoperator": _SASH,
}
_OTHERS = {
    "classictree": Look("#8a6d5a", "*"),
    "recalc": Look("#7d858d", "<"),
    "bint": Look("#a89272", ">"),
    "baseintervals": Look("#a89272", ">"),
    "buckets": Look("#8d7f9e", "<"),
}
_PEERS = {
    "flink": Look("#a8727f", "s"),
    "pandas": Look("#7a6f9b", "s"),
    "polars": Look("#6f9aa8", "^"),
    "duckdb": Look("#b59b52", "D"),
    "bottleneck": Look("#a0785a", "v"),
    "numbagg": Look("#b98089", "P"),
    "numpy": Look("#7d8fa6", "X"),
    "river": Look("#7f9a72", "h"),
    "spark": Look("#b0815a", "d"),
}
_MODELS = {
    "model": Look("#59636e", "x", "--"),
    "predicted": Look("#59636e", "x", "--"),
    "log2n": Look("#59636e", "x", "--"),
}
_LOOKS = {**_STRUCTURES, **_OURS, **_OTHERS, **_PEERS, **_MODELS}
_UNNAMED = tuple(
    Look(colour, marker)
    for colour, marker in zip(
        ("#2f6fb0", "#d9822b", "#2f8f6b", "#b04a78", "#7b6fc0", "#8a8a1f", "#4aa3df", "#7d858d"),
        "os^DvPXh",
        strict=True,
    )
)
_DASHES: tuple[Dashes, ...] = ("-", "--", ":", "-.")
_MARKERS = "os^DvPXhdp"


def is_sash(name: str) -> bool:
    """Return whether a line is Sash itself, or one of its structures."""
    return "sash" in name.lower() or _competitor(name) in _STRUCTURES


def is_peer(name: str) -> bool:
    """Return whether a line is another library or engine; the floor under one is none."""
    return _competitor(name) in _PEERS and "floor" not in name


def looks(names: list[str]) -> dict[str, Look]:
    """Return how the lines of one plot look.

    Lines of one competitor ("FingerTree, bulk", "FingerTree, single") share its colour, lighter
    from one to the next. Lines of no competitor ("48 children") get colours by their order.
    """
    found: dict[str, Look] = {}
    seen: dict[Look, int] = {}
    taken = [look for name in names if (look := _known(name))]
    unnamed = itertools.cycle([x for x in _UNNAMED if not any(_close(x, y) for y in taken)])
    for name in dict.fromkeys(names):
        look = _known(name) or next(unnamed)
        found[name] = _variant(look, seen.get(look, 0))
        seen[look] = seen.get(look, 0) + 1
    return found


def _known(name: str) -> Look | None:
    return _LOOKS.get(_competitor(name) or "")


def _competitor(name: str) -> str | None:
    """Return what a line is of: the longest name of a structure in it, or of another."""
    plain = re.sub("[^a-z0-9]", "", name.lower())
    for known in (_STRUCTURES, _OURS, {**_OTHERS, **_PEERS, **_MODELS}):
        there = [key for key in known if key in plain]
        if there:
            return max(there, key=len)
    return None


def _close(one: Look, other: Look) -> bool:
    return math.dist(to_rgb(one.colour), to_rgb(other.colour)) < 0.25


def _variant(look: Look, index: int) -> Look:
    if index == 0:
        return look
    share = min(0.22 * index, 0.6)
    light = to_hex(_lighter(to_rgb(look.colour), share))
    place = (_MARKERS.find(look.marker) + index) % len(_MARKERS)
    return Look(light, _MARKERS[place], _DASHES[index % len(_DASHES)])


def _lighter(colour: Rgb, share: float) -> Rgb:
    red, green, blue = (part + (1 - part) * share for part in colour)
    return red, green, blue
