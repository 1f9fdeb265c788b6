"""The windows of a `sash.WindowOperator`: which rows belong together.

Lengths are written as elsewhere: ``"1h"``, a timedelta, or an integer in the time column's unit.
Each function takes a ``name``, which results carry in their ``window`` column.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from sash._durations import nanoseconds
from sash._rolling_windows import duration_label
from sash.structures import whole_number

__all__ = [
    "Window",
    "calendar",
    "delta",
    "punctuation",
    "rolling",
    "session",
    "sliding",
    "split",
    "tumbling",
]


@dataclass(frozen=True)
class Window:
    """One kind of window, as the functions of this module make them."""

    kind: str
    name: str
    size: Any = None
    slide: Any = None
    offset: Any = None
    rows: int | None = None
    step: int | None = None
    column: str | None = None
    function: Callable[..., Any] | None = None
    columns: tuple[str, ...] = ()

    @property
    def by_rows(self) -> bool:
        """Whether the rows themselves say where windows begin and end, and not the clock."""
        return self.kind in ("count", "last", "delta", "punctuation", "split")

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that say where its windows begin and end."""
        return self.columns if self.column is None else (self.column,)

    def __str__(self) -> str:
        return self.name


def tumbling(
    size: Any = None, *, rows: int | None = None, offset: Any = None, name: str | None = None
) -> Window:
    """Windows one after the other: ``[k * size, (k + 1) * size)``, or every ``rows`` rows.

    Windows by time are aligned to the epoch, moved by ``offset``. Windows by rows count the rows of
    a key in order of time.

    >>> import sash
    >>> sash.tumbling("1m").name, sash.tumbling(rows=100).name
    ('tumbling_1m', 'tumbling_100rows')
    """
    if _one_of("tumbling", size, rows) == "rows":
        count = whole_number("rows", rows, 1)
        _refuse_offset("tumbling", offset)
        return Window("count", _name(name, f"tumbling_{count}rows"), rows=count, step=count)
    label = _name(name, f"tumbling_{_label(size)}")
    return Window("periodic", label, size=size, slide=size, offset=offset)


def sliding(
    size: Any = None,
    slide: Any = None,
    *,
    rows: int | None = None,
    offset: Any = None,
    name: str | None = None,
) -> Window:
    """Windows of one length, a new one at every ``slide``: ``[k * slide, k * slide + size)``.

    >>> import sash
    >>> sash.sliding("1h", "1m").name, sash.sliding(rows=1000, slide=10).name
    ('sliding_1h_1m', 'sliding_1000rows_10')
    """
    if slide is None:
        raise TypeError("sliding needs a slide, as in sliding('1h', '1m')")
    if _one_of("sliding", size, rows) == "rows":
        count, step = whole_number("rows", rows, 1), whole_number("slide", slide, 1)
        _refuse_offset("sliding", offset)
        if step > count:
            raise ValueError(f"slide must be at most the size: {step} > {count} leaves rows out")
        return Window("count", _name(name, f"sliding_{count}rows_{step}"), rows=count, step=step)
    label = _name(name, f"sliding_{_label(size)}_{_label(slide)}")
    return Window("periodic", label, size=size, slide=slide, offset=offset)


def session(gap: Any, *, name: str | None = None) -> Window:
    """Stretches of rows, each no further than ``gap`` from the next one.

    A session is ``[first, last + gap)``. A row exactly one gap after the last one still belongs to
    it, as in Spark's ``session_window``.

    >>> import sash
    >>> sash.session("5m").name
    'session_5m'
    """
    if gap is None:
        raise TypeError("session needs a gap, as in session('5m'), not None")
    return Window("session", _name(name, f"session_{_label(gap)}"), size=gap)


def rolling(size: Any = None, *, rows: int | None = None, name: str | None = None) -> Window:
    """Windows that end with a row: ``(t - size, t]`` for each time t with rows, or the last rows.

    Rows of one time share one result; ``rows=n`` gives one for every row, of it and the n - 1
    before it in order of time.

    >>> import sash
    >>> sash.windows.rolling("1h").name
    'rolling_1h'
    """
    if _one_of("rolling", size, rows) == "rows":
        count = whole_number("rows", rows, 1)
        return Window("last", _name(name, f"rolling_{count}rows"), rows=count)
    return Window("rolling", _name(name, f"rolling_{_label(size)}"), size=size)


def delta(column: str, size: float, *, name: str | None = None) -> Window:
    """Stretches of rows whose ``column`` stays near that of their first row.

    The first row whose value differs by ``size`` or more begins the next window. A null belongs to
    the window it is in.

    >>> import sash
    >>> sash.windows.delta("odometer", 100).name
    'delta_odometer_100'
    """
    whole = isinstance(size, Real) and not isinstance(size, bool)
    if not whole or not 0 < size <= sys.float_info.max:
        raise ValueError(f"delta: size must be a number above 0, not {size!r}")
    label = _name(name, f"delta_{_column('delta', column)}_{size:g}")
    return Window("delta", label, size=float(size), column=column)


def punctuation(column: str, *, name: str | None = None) -> Window:
    """Stretches of rows, each ended by a row whose ``column`` is true (and which belongs to it).

    >>> import sash
    >>> sash.windows.punctuation("done").name
    'punctuation_done'
    """
    label = _name(name, f"punctuation_{_column('punctuation', column)}")
    return Window("punctuation", label, column=column)


def split(starts: Callable[..., Any], *columns: str, name: str | None = None) -> Window:
    """Stretches of rows that a function cuts: windows of your own that depend on the rows.

    ``starts(times, *columns)`` gets the rows of one key in order of time, as NumPy arrays, from the
    first row of a window on; columns are numbers, booleans or times. It returns one truth value for
    each row, or for each but the first: whether it begins a new window (the first one always does).
    It must depend on these rows alone.

    >>> import sash
    >>> by_gear = sash.windows.split(lambda times, gear: gear[1:] != gear[:-1], "gear")
    >>> by_gear.name
    'split'
    """
    if not callable(starts):
        raise TypeError(f"split needs a function of (times, *columns), not {starts!r}")
    for column in columns:
        _column("split", column)
    return Window("split", _name(name, "split"), function=starts, columns=columns)


def calendar(windows: Callable[[int, int], Any], *, name: str | None = None) -> Window:
    """Windows of your own that depend on the clock alone: months, shifts, days of a time zone.

    ``windows(first, last)`` gets two integers in the time column's unit and returns all windows
    ``[start, end)`` that overlap the times from one to the other, as two sequences of such
    integers: starts and ends, both ascending. It must give the same windows whenever it is asked.

    >>> import sash
    >>> def pairs(first, last):  # [0, 5), [5, 20), [20, 25), ...
    ...     tens = range(first // 20 * 20 - 20, last + 20, 20)
    ...     starts = [t for ten in tens for t in (ten, ten + 5)]
    ...     return starts, [t for ten in tens for t in (ten + 5, ten + 20)]
    >>> sash.windows.calendar(pairs).name
    'calendar'
    """
    if not callable(windows):
        raise TypeError(f"calendar needs a function of (first, last), not {windows!r}")
    return Window("calendar", _name(name, "calendar"), function=windows)


def _label(length: Any) -> str:
    if isinstance(length, str):
        nanoseconds("a window", length)  # or says what is wrong with it
    return duration_label(length)


def _name(name: str | None, otherwise: str) -> str:
    if name is None:
        return otherwise
    if not isinstance(name, str) or not name:
        raise TypeError(f"a window's name is a non-empty string, not {name!r}")
    return name


def _column(what: str, column: Any) -> str:
    if not isinstance(column, str):
        raise TypeError(f"{what}: a column is named by a string, not {column!r}")
    return column


def _one_of(what: str, size: Any, rows: Any) -> str:
    if (size is None) == (rows is None):
        raise TypeError(f"{what} takes either a size, as '1m', or rows=100")
    return "rows" if size is None else "size"


def _refuse_offset(what: str, offset: Any) -> None:
    if offset is not None:
        raise TypeError(f"{what}: offset= goes with a size in time, not with rows=")
