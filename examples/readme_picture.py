"""Draw docs/images/sash.svg, the picture of the README, from counts made while it is drawn.

Left: what Two-Stacks Lite keeps for a window, on a handful of numbers. Right: how many combines one
row costs (insert, evict and query together) as the window grows, counted by a monoid that counts.
"""

from __future__ import annotations

from itertools import accumulate
from math import log2
from pathlib import Path
from typing import Any

import sash

OUT = Path(__file__).parent.parent / "docs" / "images" / "sash.svg"
INK, SOFT, LINE = "#1f2933", "#64707d", "#d5dbe1"
FRONT, BACK, ANSWER = "#2f6fb0", "#d9822b", "#1f8a5b"
SIZES = [2**k for k in range(3, 15)]


def combines_per_row(structure: type[Any], size: int) -> float:
    """Count the combines of a full window that slides on, per row."""
    counted = 0

    def combine(a: int, b: int) -> int:
        nonlocal counted
        counted += 1
        return max(a, b)

    window = structure(sash.monoid(combine))
    window.insert_many(list(range(size)))
    window.slide([1] * min(size, 8), size)
    rows = 8 if structure is sash.Recalc else 2 * size
    counted = 0
    window.slide([2] * rows, size)
    return counted / rows


def text(x: float, y: float, words: str, size: int = 14, **more: Any) -> str:
    """Return a line of text."""
    style = {
        "fill": INK,
        "text-anchor": "start",
        **{k.replace("_", "-"): v for k, v in more.items()},
    }
    attributes = " ".join(f'{k}="{v}"' for k, v in style.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" {attributes}>{words}</text>'


def cell(x: float, y: float, words: Any, fill: str, *, ink: str = "#fff", width: float = 34) -> str:
    """Return a box with a number in it."""
    box = f'<rect x="{x}" y="{y}" width="{width}" height="34" rx="5" fill="{fill}"/>'
    return box + text(x + width / 2, y + 22.5, str(words), 15, fill=ink, text_anchor="middle")


def brace(x0: float, x1: float, y: float, colour: str) -> str:
    """Return a bracket below the cells from x0 to x1."""
    path = f"M{x0},{y} v6 h{x1 - x0} v-6"
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>'


def left() -> list[str]:
    """Return the panel that shows what is kept."""
    stream = [4, 8, 2, 5, 9, 3, 7, 1, 6, 2, 5, 4]
    gone, boundary, end = 2, 6, 11
    front = list(accumulate(reversed(stream[gone:boundary]), max))[::-1]
    back = stream[boundary:end]
    x = [28 + 38 * i for i in range(len(stream))]
    out = [text(28, 44, "A window keeps partial aggregates", 18, font_weight="600")]
    out.append(text(28, 66, "max over the last 9 values, Two-Stacks Lite", 13, fill=SOFT))
    for i, value in enumerate(stream):
        inside = gone <= i < end
        out.append(
            cell(x[i], 96, value, "#eef1f4" if inside else "#fff", ink=INK if inside else "#b3bcc5")
        )
    frame = f'<rect x="{x[gone] - 4}" y="90" width="{38 * (end - gone) + 4}" height="46" rx="8"'
    out.append(frame + f' fill="none" stroke="{INK}" stroke-width="2"/>')
    out.append(text(x[1] - 2, 154, "gone", 12, fill=SOFT, text_anchor="middle"))
    out.append(text(x[end] + 17, 154, "next", 12, fill=SOFT, text_anchor="middle"))
    for i, best in enumerate(front, gone):
        out.append(cell(x[i], 178, best, FRONT))
    for i, value in enumerate(back, boundary):
        out.append(cell(x[i], 178, value, "#f6e3cd", ink=INK))
    out.append(brace(x[gone], x[boundary] - 4, 220, FRONT))
    out.append(brace(x[boundary], x[end] - 4, 220, BACK))
    middle_front, middle_back = (x[gone] + x[boundary] - 4) / 2, (x[boundary] + x[end] - 4) / 2
    out.append(
        text(middle_front, 246, "best from each one on", 13, fill=FRONT, text_anchor="middle")
    )
    out.append(
        text(middle_back, 246, "values, and their best", 13, fill=BACK, text_anchor="middle")
    )
    out.append(cell(middle_back - 17, 256, max(back), BACK))
    out.append(cell(middle_front - 17, 256, front[0], FRONT))
    y = 322
    out.append(
        cell(
            150,
            y,
            f"query = max({front[0]}, {max(back)}) = {max(front[0], *back)}",
            ANSWER,
            width=216,
        )
    )
    for start in (middle_front, middle_back):
        bend = f"M{start},292 C{start},310 258,302 258,{y - 3}"
        out.append(f'<path d="{bend}" fill="none" stroke="{ANSWER}" stroke-width="1.6"/>')
    out.append(
        text(258, 384, "one combine, however long the window", 13, fill=SOFT, text_anchor="middle")
    )
    return out


def right() -> list[str]:
    """Return the panel that shows the cost, both axes logarithmic."""
    x0, x1, y0, y1 = 590, 850, 330, 92
    lines = {
        "from scratch": (sash.Recalc, "#9aa5b1"),
        "FlatFAT": (sash.ReactiveAggregator, "#7a5ea8"),
        "DABA Lite": (sash.DabaLite, FRONT),
        "Two-Stacks Lite": (sash.TwoStacksLite, BACK),
    }
    top = 15.0

    def at(size: int, combines: float) -> tuple[float, float]:
        across = (size.bit_length() - 1 - 3) / (len(SIZES) - 1)
        return x0 + (x1 - x0) * across, y0 + (y1 - y0) * log2(combines) / top

    out = [text(560, 44, "Its cost does not grow with its size", 18, font_weight="600")]
    out.append(text(560, 66, "combines per row, counted, by window size", 13, fill=SOFT))
    for combines in (1, 10, 100, 1000, 10000):
        _, y = at(8, combines)
        out.append(f'<path d="M{x0},{y:.1f} H{x1}" stroke="{LINE}" stroke-width="1"/>')
        out.append(text(x0 - 8, y + 4, f"{combines:,}", 12, fill=SOFT, text_anchor="end"))
    for size in (8, 128, 2048, 16384):
        x, _ = at(size, 1)
        out.append(text(x, y0 + 20, f"{size:,}", 12, fill=SOFT, text_anchor="middle"))
    out.append(
        text((x0 + x1) / 2, y0 + 42, "entries in the window", 12, fill=SOFT, text_anchor="middle")
    )
    for name, (structure, colour) in lines.items():
        counts = [combines_per_row(structure, size) for size in SIZES]
        points = [at(size, count) for size, count in zip(SIZES, counts, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.6"/>')
        x, y = points[-1]
        nudge = {"DABA Lite": -1, "Two-Stacks Lite": 9}.get(name, 4)
        out.append(text(x + 8, y + nudge, name, 13, fill=colour, font_weight="600"))
        print(f"{name:16} {counts[0]:10.2f} ... {counts[-1]:10.2f} combines per row")
    return out


def main() -> None:
    """Write the picture."""
    body = "\n".join([*left(), *right()])
    font = "font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif\""
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 408" {font}>\n'
        f'<rect width="1000" height="408" rx="12" fill="#fff" stroke="{LINE}"/>\n{body}\n</svg>\n'
    )


if __name__ == "__main__":
    main()
