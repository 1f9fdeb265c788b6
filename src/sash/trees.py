"""The trees: one window each, entries in any order of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sash import _core, _snapshot
from sash._columns import rows_of, to_results
from sash._compile import AggregateLike, compile_live
from sash._live import Live
from sash.structures import time_column, whole_number


class Tree(Live, _core.Tree):
    """What both trees share. Use `FingerTree`, or `ClassicTree` to compare with."""

    _structure: ClassVar[str] = ""

    if TYPE_CHECKING:

        def query(self, t_from: object = ..., t_to: object = ..., /) -> Any:
            """Return the aggregate of the window, or of the times from ``t_from`` to ``t_to``."""

        def evict(self, time: object = ..., /) -> Any:
            """Evict the oldest entry, or the one at a time: whether there was one."""

    def __init__(
        self, aggregate: AggregateLike, *, leaf: int | None = None, fanout: int | None = None
    ) -> None:
        if not self._structure:
            raise TypeError("Tree is abstract: use FingerTree")
        self._plan = compile_live(aggregate)
        sizes = [
            0 if value is None else self._size(what, value)
            for what, value in (("leaf", leaf), ("fanout", fanout))
        ]
        super().__init__(self._structure == "FingerTree", self._plan.spec, *sizes)

    @staticmethod
    def _size(what: str, value: int) -> int:
        if whole_number(what, value, 4) > 4096:
            raise ValueError(f"{what} must be at most 4096, not {value}")
        return int(value)

    def bulk_insert(self, times: Iterable[int], values: Any) -> None:
        """Insert columns of times and values; all of them go in, or none does.

        Unsorted times are stably sorted first, so that entries of equal time combine in the order
        given. O(m log(d / m)) amortised for m rows at distance d from the nearer end.
        """
        columns, rows = rows_of(self._plan, values)
        checked = time_column(times, rows)
        if rows > 1 and np.any(checked[1:] < checked[:-1]):
            order = _core.Layout(rows, None, 1, checked, False).order
            if order is not None:  # it is where another thread has sorted the column meanwhile
                checked = checked[np.asarray(order)]
                columns = _reordered(columns, np.asarray(order))
        self._insert_many(checked, columns)

    def slide(
        self, times: Iterable[int], values: Any, size: int | None = None, *, rows: int | None = None
    ) -> Any:
        """For each row as it arrives: insert it, evict what left the window, query.

        The window is ``(youngest - size, youngest]``, or with ``rows=n`` the n youngest entries.
        A late row changes the results from its arrival on. The whole column runs in one native
        call without the GIL. Returns a NumPy array, or a dict of them for several aggregates.

        >>> import sash
        >>> tree = sash.FingerTree(sash.agg.sum())
        >>> tree.slide([1, 5, 3, 9], [1.0, 2.0, 4.0, 8.0], 6)
        array([ 1.,  3.,  7., 10.])
        """
        if (size is None) == (rows is None):
            raise TypeError("give either size, a span of time, or rows, a number of entries")
        span = whole_number("size", size, 1) if rows is None else whole_number("rows", rows, 1)
        columns, count = rows_of(self._plan, values)
        checked = time_column(times, count)
        return to_results(self._plan, self._slide(checked, columns, span, rows is not None))

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        """Pairs of time and the entry's own aggregate, in order of time."""
        return iter(self._items())

    def _kind(self) -> str:
        return self._structure

    @classmethod
    def restore(
        cls,
        data: bytes,
        aggregate: AggregateLike,
        *,
        leaf: int | None = None,
        fanout: int | None = None,
    ) -> Self:
        """Return the window a snapshot was taken of, in O(n). The aggregate must be the same."""
        tree = cls(aggregate, leaf=leaf, fanout=fanout)
        _snapshot.load(tree, data)
        return tree


def _reordered(columns: Any, order: npt.NDArray[np.uint32]) -> Any:
    """Return word columns, or a list of Python values, in another order."""
    if columns and isinstance(columns[0], tuple) and isinstance(columns[0][0], np.ndarray):
        return [(words[order], None if mask is None else mask[order]) for words, mask in columns]
    return [columns[i] for i in order] if columns else columns


class FingerTree(Tree):
    """A finger B-tree (FiBA): entries in any order, O(log d) at distance d from the nearer end.

    In order, an insert takes one combine, an evict one and a query two, whatever the size.
    `insert` at a time that is there combines with it, the newcomer on the right. ``evict()`` takes
    the oldest entry, ``evict(t)`` the one at ``t``, ``bulk_evict(t)`` all up to and including
    ``t``. ``query()`` aggregates the window, ``query(t_from, t_to)`` any part of it, both ends
    included. ``leaf`` and ``fanout`` override the widths chosen for the aggregate.

    >>> import sash
    >>> tree = sash.FingerTree(sash.agg.max())
    >>> tree.insert(10, 3.0); tree.insert(30, 1.0); tree.insert(20, 2.0)
    >>> tree.query(), tree.query(15, 30)
    (3.0, 2.0)
    >>> tree.bulk_evict(10)
    1
    >>> tree
    <FingerTree of max: 2 entries, 2.0>
    """

    _structure = "FingerTree"


class ClassicTree(Tree):
    """The same tree without fingers: every operation starts at the root and takes O(log n)."""

    _structure = "ClassicTree"
