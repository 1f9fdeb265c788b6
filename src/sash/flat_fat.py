"""FlatFat: a fixed number of places, any of which may be overwritten."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sash import _core
from sash._columns import _listed
from sash._compile import AggregateLike, compile_live
from sash._live import describe
from sash.structures import whole_number


class FlatFat(_core.FlatFat):
    """A flat fixed-sized aggregator: aggregates of all places, of any prefix, of any suffix.

    Updating m of n places takes at most m (1 + ceil(log2(n / m))) combines, `aggregate` none,
    `prefix` and `suffix` at most log2 n.

    >>> import sash
    >>> places = sash.FlatFat(sash.agg.max(), [4.0, 1.0, 3.0])
    >>> places.aggregate(), places.suffix(1), places.prefix(1)
    (4.0, 3.0, 4.0)
    >>> places.update({0: 2.0, 2: 0.0})
    >>> places.aggregate()
    2.0
    """

    def __init__(self, aggregate: AggregateLike, values: Any) -> None:
        self._plan = compile_live(aggregate)
        rows = _listed(values)
        if not rows:
            raise ValueError("FlatFat needs at least one place")
        self._places = len(rows)
        super().__init__(self._plan.spec, len(rows))
        self._update(range(len(rows)), rows)

    def __len__(self) -> int:
        return self._places

    def update(self, changes: Mapping[int, Any] | Iterable[tuple[int, Any]]) -> None:
        """Overwrite places: a mapping or pairs of place and value. All of them, or none."""
        try:
            pairs = dict(changes)
        except (TypeError, ValueError):
            raise TypeError(
                f"changes must be a mapping, or pairs of place and value, not {changes!r}"
            ) from None
        places = [self._place(p) for p in pairs]
        self._update(places, list(pairs.values()))

    def prefix(self, place: int) -> Any:
        """Aggregate places 0 to ``place``, both included."""
        return self._prefix(self._place(place))

    def suffix(self, place: int) -> Any:
        """Aggregate places ``place`` to the last."""
        return self._suffix(self._place(place))

    def _place(self, place: int) -> int:
        place = whole_number("place", place, 0)
        if place >= self._places:
            raise IndexError(f"place {place} of {self._places}")
        return place

    def __repr__(self) -> str:
        return describe("FlatFat", self._plan.label, self._places, self.aggregate())
