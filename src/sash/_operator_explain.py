"""What a `WindowOperator` keeps and why, in words and as a small picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sash._keys import UNKNOWN
from sash._rolling_windows import duration_label
from sash._stream_plan import StreamPlan
from sash.windows import Window

if TYPE_CHECKING:
    from sash._bound import Bound
    from sash._operator import WindowOperator

_MEANING = {
    "periodic": "[k * {slide}, k * {slide} + {size})",
    "session": "rows at most {size} apart",
    "rolling": "(t - {size}, t] at each time",
    "calendar": "as its function lists them",
    "count": "{rows} rows, a new one every {step}",
    "last": "each row and the {before} before it",
    "delta": "{column} within {size:g} of the first row's",
    "punctuation": "up to a row where {column} is true",
    "split": "as its function cuts the rows",
}


def explain_operator(op: WindowOperator) -> tuple[str, ...]:
    """Return what an operator does and keeps, line by line."""
    lines = explain_windows(op)
    bound = op._bound
    if bound is None:
        return (*lines, "no batch has been processed yet: types are unknown")
    facts = bound.facts()
    lines.append(explain_aggregates(bound.plan))
    if any(not w.by_rows for w in op._windows):
        lines += _slices(op, bound, facts)
    if any(w.by_rows for w in op._windows):
        many = sum(w.by_rows for w in op._windows)
        lines.append(f"{_many(facts['rows'], 'row')} kept for {_many(many, 'window')} by rows")
    lines.append(_time(op, bound, facts))
    lines.append(
        f"{_many(facts['accepted'], 'row')} taken, {facts['late']:,} too late; "
        f"{facts['bytes'] / 1000:,.1f} KB"
    )
    return tuple(lines)


def explain_windows(op: WindowOperator) -> list[str]:
    """Return what its windows are."""
    lines = [f"windows over {op._on!r}" + (f", by {', '.join(op._by)}" if op._by else "")]
    lines += [f"  {w.name}: {_meaning(w)}" for w in op._windows[:_MOST]]
    if len(op._windows) > _MOST:
        lines.append(f"  ... and {len(op._windows) - _MOST} more")
    return lines


def _meaning(window: Window) -> str:
    before = (window.rows or 1) - 1
    values: dict[str, Any] = {**window.__dict__, "before": before}
    return _MEANING[window.kind].format(**values)


def explain_aggregates(plan: StreamPlan) -> str:
    """Return what is computed in them, and how."""
    kind = {"scalar": "compiled in", "record": "one native record", "python": "Python objects"}
    how = kind[plan.plan.spec["kind"]]
    return f"aggregates: {', '.join(a.output for a in plan.aggregates)} ({how})"


def _slices(op: WindowOperator, bound: Bound, facts: dict[str, Any]) -> list[str]:
    keys = f"of {_many(facts['keys'], 'key')}" if op._by else ""
    lines = [f"{_many(facts['slices'], 'slice')} {keys}".rstrip()]
    if facts["by_time"]:
        rolling = any(w.kind == "rolling" for w in op._windows)
        why = "windows end at every row" if rolling else "the order of rows matters"
        lines.append(f"  one for each moment: {why}")
    else:
        gaps = [w.size for w in op._windows if w.kind == "session"]
        at = "cut where a window starts or ends"
        if gaps:
            least = min(gaps, key=lambda gap: bound.clock.length("gap", gap))
            at += f", and at gaps wider than {duration_label(least)}, the smallest of the sessions"
        lines.append(f"  {at}")
    lines.append(f"  kept {_store(op, facts)}")
    return lines


def _store(op: WindowOperator, facts: dict[str, Any]) -> str:
    if op._store == "lazy":
        return "in lists (store='lazy')"
    if op._store == "eager":
        return "in finger trees (store='eager')"
    eager = facts["eager"]
    if not op._by:
        if eager:
            return "in a finger tree: there are more than 64"
        return "in a list: there are few, so that folding them is cheap"
    if eager == 0:
        return "in lists: no key has more than 64"
    if eager == facts["keys"]:
        return "in finger trees: every key has more than 64"
    return f"in finger trees for {_many(eager, 'key')} with more than 64, in lists for the others"


def _time(op: WindowOperator, bound: Bound, facts: dict[str, Any]) -> str:
    watermark = bound.watermark
    if op._finished:
        return "the stream is finished"
    if watermark is None:
        return "no watermark yet: nothing is complete"
    text = f"watermark {watermark}"
    if bound.lateness:
        text += f"; rows from {bound.clock.shown(bound.core.time(1))} on still count, and correct "
        return text + f"{_many(facts['sayings'], 'window')} told"
    return f"{text}: nothing before it can change"


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def picture(op: WindowOperator, key: Any = None, width: int = 72) -> str:
    """Return slices and windows of a key over time, as lines of text."""
    bound = op._need_rows("picture")
    number = bound.keys.find(key)
    if number == UNKNOWN:
        return f"no rows of key {key!r} are kept"
    table = bound.list_windows(key)
    raw = bound.core.windows(np.array([number], np.uint32))
    starts, ends = np.asarray(raw[2]), np.asarray(raw[3])
    slices = np.asarray(bound.core.slices(number))
    slices = slices[slices >= -(1 << 62)]
    times = np.concatenate([starts, ends, slices])
    if not len(times):
        return "nothing is kept"
    low, high = int(times.min()), int(times.max())
    scale = (width - 1) / max(1, high - low)

    def at(t: int) -> int:
        return max(0, min(width - 1, round((t - low) * scale)))

    label = max(len("watermark"), *(len(w.name) for w in op._windows))
    lines = [f"{'slices':>{label}} {_ticks([at(int(t)) for t in slices], width)}"]
    names = table["window"].to_pylist()
    complete = table["complete"].to_pylist()
    by_window: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        by_window.setdefault(name, []).append(i)
    for window in op._windows[:_MOST]:
        mine = by_window.get(window.name, [])
        spans = [(at(int(starts[i])), at(int(ends[i])), complete[i]) for i in mine]
        ends_of = "(]" if window.kind == "rolling" else "[]" if window.by_rows else "[)"
        rows, left = _stacked(spans, width, ends_of)
        for j, row in enumerate(rows):
            lines.append(f"{window.name if j == 0 else '':>{label}} {row}")
        if left:
            lines.append(f"{'':>{label}} ... and {_many(left, 'window')} more")
    if len(op._windows) > _MOST:
        lines.append(f"{'':>{label}} ... and {len(op._windows) - _MOST} other windows")
    watermark = bound.core.time(0)
    if low <= watermark <= high:
        lines.append(f"{'watermark':>{label}} {' ' * at(watermark)}^")
    first, last = str(bound.clock.shown(low)), str(bound.clock.shown(high))
    lines.append(f"{'':>{label}} {first}{last:>{max(1, width - len(first))}}")
    return "\n".join(lines)


def _ticks(places: list[int], width: int) -> str:
    line = [" "] * width
    for p in places:
        line[p] = "|"
    return "".join(line).rstrip()


_LINES = 6
_MOST = 20


def _stacked(
    spans: list[tuple[int, int, bool]], width: int, brackets: str
) -> tuple[list[str], int]:
    """Return windows as lines, those that overlap on different ones, and how many are left out."""
    left = 0
    lines: list[list[str]] = []
    ends: list[int] = []
    for start, end, complete in spans:
        free = [i for i, e in enumerate(ends) if e <= start]
        if not free and len(lines) == _LINES:
            left += 1
            continue
        i = free[0] if free else len(lines)
        if not free:
            lines.append([" "] * width)
            ends.append(0)
        for x in range(start, max(start + 1, end)):
            lines[i][x] = "=" if complete else "-"
        lines[i][start] = brackets[0]
        if end > start:
            lines[i][end] = brackets[1]
        ends[i] = end + (end == start)
    return ["".join(line).rstrip() for line in lines], left
