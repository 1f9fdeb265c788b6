"""The in-order structures: one window each, first in, first out.

All have the same interface; they differ in what they cost and what they keep. The cards at the top
of the C++ headers say what each guarantees; ``docs/structures.md`` is made from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sash import _core, _snapshot
from sash._aggregate import Aggregate, Native
from sash._columns import rows_of, to_results
from sash._compile import AggregateLike, Plan, aggregates_of, compile_live
from sash._live import Live


def whole_number(what: str, value: Any, least: int, most: int = (1 << 63) - 1) -> int:
    """Return the value as an int from ``least`` to ``most``, or raise saying what it should be."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{what} must be an integer, not {value!r}")
    if value < least:
        raise ValueError(f"{what} must be at least {least}, not {value}")
    if value > most:
        bound = "below 2^63" if most == (1 << 63) - 1 else f"at most {most}"
        raise ValueError(f"{what} must be {bound}, not {value}")
    return int(value)


class Window(Live, _core.Window):
    """What all in-order structures share. Use one of its subclasses."""

    _structure: ClassVar[str] = ""

    def __init__(self, aggregate: AggregateLike) -> None:
        if not self._structure:
            raise TypeError("Window is abstract: use DabaLite, TwoStacksLite or another structure")
        self._plan = self._compile(aggregate)
        super().__init__(self._structure, self._plan.spec)

    def _compile(self, aggregate: AggregateLike) -> Plan:
        return compile_live(aggregate)

    def _kind(self) -> str:
        return self._structure

    def insert_many(self, values: Any) -> None:
        """Insert a column of values, oldest first. All of them go in, or none does."""
        columns, rows = rows_of(self._plan, values)
        self._insert_many(columns, rows)

    def evict_many(self, count: int) -> None:
        """Evict the ``count`` oldest entries."""
        self._evict_many(whole_number("count", count, 0))

    def slide(self, values: Any, size: int) -> Any:
        """For each value: insert it, evict the oldest while more than ``size`` are in, query.

        The whole column runs in one native call without the GIL. Returns a NumPy array of the
        results, masked where they are null; a dict of them for several aggregates.

        >>> import sash
        >>> sash.TwoStacksLite(sash.agg.max()).slide([1.0, 3.0, 2.0, 0.0, 1.0], 3)
        array([1., 3., 3., 3., 2.])
        """
        size = whole_number("size", size, 1)
        columns, rows = rows_of(self._plan, values)
        return to_results(self._plan, self._slide(columns, rows, size))

    def __iter__(self) -> Iterator[Any]:
        """Each entry's own aggregate, oldest first; structures that keep no values refuse."""
        return iter(self._items())

    @classmethod
    def restore(cls, data: bytes, aggregate: AggregateLike) -> Self:
        """Return the window a snapshot was taken of. The aggregate must be the same."""
        window = cls(aggregate)
        _snapshot.load(window, data)
        return window


class Recalc(Window):
    """Recalculate from scratch: query n combines, insert and evict none. The oracle of tests."""

    _structure = "Recalc"


class SubtractOnEvict(Window):
    """Take evicted entries out again: no combine per query, one per insert, one inverse per evict.

    Only for aggregates that are invertible: counts, integer sums, histograms, and Python monoids
    with an ``inverse``. Float sums drift when they subtract, and never recover from an infinity;
    they need ``allow_rounding=True``.

    >>> import sash
    >>> sash.SubtractOnEvict(sash.agg.sum(dtype=int)).slide([1, 2, 3, 4], 2)
    array([1, 3, 5, 7])
    """

    _structure = "SubtractOnEvict"

    def __init__(self, aggregate: AggregateLike, *, allow_rounding: bool = False) -> None:
        self._allow_rounding = allow_rounding
        super().__init__(aggregate)

    @staticmethod
    def _counted(one: Aggregate) -> Aggregate:
        """Return a float sum that counts its values, to know when none is left."""
        if one.name != "sum" or one.dtype != "float":
            return one
        return replace(one, native={"float": Native("sum_counted_f64", ("f",), "f")})

    def _compile(self, aggregate: AggregateLike) -> Plan:
        many, single = aggregates_of(aggregate)
        counted = [self._counted(a) for a in many]
        plan = compile_live(counted[0] if single else counted)
        for one in plan.aggregates:
            runs_natively = plan.native or one.python is not None
            if not one.laws.invertible or not runs_natively:
                raise TypeError(
                    f"{one.name} is not invertible, so nothing can be taken out of it again: "
                    "use TwoStacksLite, or DabaLite for steady latency"
                )
            if not one.laws.exact and not self._allow_rounding:
                raise TypeError(
                    f"{one.name} over floats drifts when entries are subtracted, and keeps an "
                    "infinity or NaN for ever: use TwoStacksLite, dtype=int, or allow_rounding=True"
                )
        return plan

    @classmethod
    def restore(
        cls, data: bytes, aggregate: AggregateLike, *, allow_rounding: bool = False
    ) -> Self:
        """Return the window a snapshot was taken of. The aggregate must be the same."""
        window = cls(aggregate, allow_rounding=allow_rounding)
        _snapshot.load(window, data)
        return window


class TwoStacks(Window):
    """Two stacks back to back: amortised O(1), a flip now and then takes O(n)."""

    _structure = "TwoStacks"


class TwoStacksLite(Window):
    """Two stacks in n + 1 partial aggregates: the fastest on average for in-order streams."""

    _structure = "TwoStacksLite"


class Daba(Window):
    """Worst-case O(1): at most 4 combines per insert, 3 per evict, 1 per query; 2n aggregates."""

    _structure = "Daba"


class DabaLite(Window):
    """Worst-case O(1) in n + 2 partial aggregates: at most 3, 2 and 1 combines.

    >>> import sash
    >>> window = sash.DabaLite(sash.agg.mean())
    >>> window.insert(1.0); window.insert(2.0); window.insert(6.0)
    >>> window.query()
    3.0
    >>> window.evict()
    >>> window
    <DabaLite of mean: 2 entries, 4.0>
    """

    _structure = "DabaLite"


class FlatFit(Window):
    """FlatFIT, a comparator: queries lengthen links through the window; amortised O(1)."""

    _structure = "FlatFit"


class Amta(Window):
    """AMTA, a comparator: a tree of blocks; evicting many at once takes O(log n)."""

    _structure = "Amta"


class ReactiveAggregator(Window):
    """FlatFAT under a circular buffer: entries may leave in any order; O(log n) per change.

    `insert` returns a ticket; `evict` takes the oldest entry, or the one a ticket names.

    >>> import sash
    >>> window = sash.ReactiveAggregator(sash.agg.collect())
    >>> a, b, c = [window.insert(v) for v in "abc"]
    >>> window.evict(b)
    True
    >>> window.query()
    ['a', 'c']
    """

    _structure = "ReactiveAggregator"

    def insert(self, value: Any) -> int:  # type: ignore[override]
        """Insert a value; returns the ticket that `evict` knows it by."""
        return self._insert_ticket(value)

    def evict(self, ticket: int | None = None) -> bool:  # type: ignore[override]
        """Evict the oldest entry, or that of a ticket; false if it is no longer there."""
        if ticket is None:
            super().evict()
            return True
        return self._evict_ticket(whole_number("ticket", ticket, 0))


class TimedWindow(Live, _core.TimedWindow):
    """A window by time over an in-order structure: every entry has a time, and times never go back.

    ``structure`` is one of the in-order structures (`DabaLite` by default). For times in any order
    use `FingerTree`.

    >>> import sash
    >>> window = sash.TimedWindow(sash.agg.sum(), structure=sash.TwoStacksLite)
    >>> window.insert(10, 1.0); window.insert(12, 2.0); window.insert(15, 4.0)
    >>> window.bulk_evict(11)
    1
    >>> window.query(), window.oldest, window.youngest
    (6.0, 12, 15)
    """

    def __init__(self, aggregate: AggregateLike, structure: type[Window] = DabaLite) -> None:
        if not (isinstance(structure, type) and issubclass(structure, Window)):
            raise TypeError(f"structure must be a class such as DabaLite, not {structure!r}")
        if structure is ReactiveAggregator or not structure._structure:
            raise TypeError(f"{structure.__name__} has no timed variant: use DabaLite")
        self._inner = structure
        self._plan = structure(aggregate)._plan
        super().__init__(structure._structure, self._plan.spec)

    def insert_many(self, times: Iterable[int], values: Any) -> None:
        """Insert columns of times and values. All of them go in, or none does."""
        columns, rows = rows_of(self._plan, values)
        checked = time_column(times, rows)
        self._refuse_disorder(checked)
        self._insert_many(checked, columns)

    def slide(self, times: Iterable[int], values: Any, size: int) -> Any:
        """For each row: insert it, evict what is not in ``(time - size, time]``, query.

        >>> import sash
        >>> window = sash.TimedWindow(sash.agg.count(), structure=sash.TwoStacksLite)
        >>> window.slide([1, 2, 4, 9], [0, 0, 0, 0], 3)
        array([1, 2, 2, 1])
        """
        size = whole_number("size", size, 1)
        columns, rows = rows_of(self._plan, values)
        checked = time_column(times, rows)
        self._refuse_disorder(checked)
        return to_results(self._plan, self._slide(checked, columns, size, False))

    def _refuse_disorder(self, times: npt.NDArray[np.int64]) -> None:
        """Raise before anything changes when a time goes back."""
        back = np.flatnonzero(times[1:] < times[:-1])
        if len(back):
            raise ValueError(
                f"time {times[back[0] + 1]} at row {back[0] + 1} is before {times[back[0]]}: this "
                "structure takes times in order; FingerTree takes any order"
            )
        if len(times) and len(self) and times[0] < self.youngest:
            raise ValueError(
                f"time {times[0]} at row 0 is before the youngest entry's {self.youngest}: this "
                "structure takes times in order; FingerTree takes any order"
            )

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        """Pairs of time and the entry's own aggregate, oldest first."""
        return iter(self._items())

    def _kind(self) -> str:
        return f"Timed{self._inner._structure}"

    def _title(self) -> str:
        return f"TimedWindow on {self._inner.__name__}"

    @classmethod
    def restore(
        cls, data: bytes, aggregate: AggregateLike, structure: type[Window] = DabaLite
    ) -> Self:
        """Return the window a snapshot was taken of. Aggregate and structure must be the same."""
        window = cls(aggregate, structure)
        _snapshot.load(window, data)
        return window


def time_column(times: Iterable[int], rows: int) -> npt.NDArray[np.int64]:
    """Return times as an int64 array, or raise when they are not whole numbers."""
    array = np.asarray(times if hasattr(times, "__array__") else list(times))
    if len(array) == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise TypeError(f"times must be integers in one dimension, not {array.dtype}")
    if array.dtype == np.uint64 and len(array) and array.max() > np.iinfo(np.int64).max:
        raise OverflowError(f"time {array.max()} does not fit in a 64-bit integer")
    if len(array) != rows:
        raise ValueError(f"{len(array)} times for {rows} rows")
    return np.ascontiguousarray(array, np.int64)
