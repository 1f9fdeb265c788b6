"""Figures as small SVG: no needless digits, each style once, the same bytes every time."""

from __future__ import annotations

import io
import re
import zlib
from re import Match
from typing import Any

from sash.demo._charts import FAINT, INK, SOFT, STYLE

_VARIABLES = {
    INK: "var(--ink)",
    SOFT: "var(--soft)",
    FAINT: "var(--faint)",
    STYLE["axes.edgecolor"]: "var(--edge)",
}


def svg(figure: Any, name: str, page: bool) -> str:
    """Return a figure as SVG whose parts have names of their own.

    For a ``page``, text and grid have the page's colours and the ground is the page's; else the
    ground is white.
    """
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None}, transparent=page)
    whole = text.getvalue()
    whole = whole[whole.index("<svg") :]
    whole = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", whole, flags=re.DOTALL)
    whole = re.sub(r"(?<=[ \"(MLCQ-])\d+\.\d{3,}", _shorter, whole)
    whole = _names(whole, name)
    whole = _styles(whole, page)
    return re.sub(r">\s+<", "><", whole).strip().replace("\n", " ")


def _shorter(number: Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _names(whole: str, name: str) -> str:
    """Drop the names of parts that nothing refers to, and give the others short ones."""
    used = dict.fromkeys(re.findall(r"(?:href=\"|url\()#([^\")]+)", whole))
    short = {old: f"{name}-{i}" for i, old in enumerate(used)}
    whole = re.sub(
        r' id="([^"]+)"', lambda m: f' id="{short[m[1]]}"' if m[1] in short else "", whole
    )
    return re.sub(r'(href="|url\()#([^")]+)', lambda m: f"{m[1]}#{short[m[2]]}", whole)


def _styles(whole: str, page: bool) -> str:
    """Write each style once, under a name that is made of it: figures of one page may share it."""
    found: dict[str, str] = {}

    def name(style: Match[str]) -> str:
        words = re.sub(r"([;:,]) +", r"\1", style[1])
        if page:
            for colour, variable in _VARIABLES.items():
                words = words.replace(colour, variable)
        found[words] = f"s{zlib.crc32(words.encode()):08x}"
        return f' class="{found[words]}"'

    whole = re.sub(r' style="([^"]*)"', name, whole)
    rules = "".join(f".{name}{{{words}}}" for words, name in found.items())
    return re.sub(
        r"<style type=\"text/css\">.*?</style>",
        lambda _: f"<style>*{{stroke-linejoin:round;stroke-linecap:butt}}{rules}</style>",
        whole,
        count=1,
        flags=re.DOTALL,
    )
