"""Windows that a user's function lists."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from operator import index
from typing import Any

from sash._clock import REACH


class Calendar:
    """The windows of one function that are needed now, asked for as time goes on."""

    def __init__(self, name: str, function: Callable[[int, int], Any]) -> None:
        self._name, self._function = name, function
        self._first: int | None = None
        self._last = 0
        self.starts: list[int] = []
        self.ends: list[int] = []

    @property
    def known(self) -> tuple[int, int] | None:
        """The times whose windows are known."""
        return None if self._first is None else (self._first, self._last)

    def edge_before(self, time: int) -> int | None:
        """Return the last start or end that is not after a time."""
        found = [
            all_[i - 1] for all_ in (self.starts, self.ends) if (i := bisect_right(all_, time))
        ]
        return max(found, default=None)

    def cover(self, first: int, last: int, limit: int) -> bool:
        """Know the windows of these times, too; say whether there are others than before.

        Windows that end by ``limit`` are not needed any more.
        """
        if self._first is None:
            self.starts, self.ends = self._ask(first, last)
            self._first, self._last = first, last
            return True
        before: tuple[list[int], list[int]] = ([], [])
        after: tuple[list[int], list[int]] = ([], [])
        if first < self._first:
            before = self._ask(first, self._first)
        if last > self._last:
            after = self._ask(self._last, last)
        self._extend(*before, *after)
        self._first, self._last = min(first, self._first), max(last, self._last)
        return self._drop_until(limit) or bool(before[0] or after[0])

    def _extend(
        self, low: list[int], low_ends: list[int], high: list[int], high_ends: list[int]
    ) -> None:
        """Put new windows before and after those there are; some are known already."""
        low = low[: bisect_left(low, self.starts[0])] if self.starts else low
        known = bisect_right(high, self.starts[-1]) if self.starts else 0
        low_ends, high, high_ends = low_ends[: len(low)], high[known:], high_ends[known:]
        self._check(
            [*zip(low, low_ends, strict=True), *zip(self.starts[:1], self.ends[:1], strict=True)]
        )
        self._check(
            [
                *zip(self.starts[-1:], self.ends[-1:], strict=True),
                *zip(high, high_ends, strict=True),
            ]
        )
        self.starts[:0], self.ends[:0] = low, low_ends
        self.starts += high
        self.ends += high_ends

    def _drop_until(self, limit: int) -> bool:
        """Forget windows that end by ``limit``, when they are many."""
        done = bisect_right(self.ends, limit)
        if done * 2 <= len(self.ends):
            return False
        self.starts, self.ends = self.starts[done:], self.ends[done:]
        assert self._first is not None
        self._first = max(self._first, min(limit, self._last))
        return True

    def _ask(self, first: int, last: int) -> tuple[list[int], list[int]]:
        answer = self._function(first, last)
        try:
            starts, ends = answer
            pairs = [(index(s), index(e)) for s, e in zip(starts, ends, strict=True)]
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{self._name}: its function must return two sequences of integers, the starts and "
                f"the ends of windows in the unit of the time column ({error})"
            ) from error
        self._check(pairs)
        pairs = [(s, e) for s, e in pairs if e > first and s <= last]
        return [s for s, _ in pairs], [e for _, e in pairs]

    def _check(self, pairs: list[tuple[int, int]]) -> None:
        for i, (start, end) in enumerate(pairs):
            if max(abs(start), abs(end)) > REACH:
                raise OverflowError(f"{self._name}: [{start}, {end}) is beyond 2^62 - 1")
            if start >= end:
                raise ValueError(
                    f"{self._name}: a window must end after it starts: [{start}, {end})"
                )
            if i and (start <= pairs[i - 1][0] or end <= pairs[i - 1][1]):
                raise ValueError(
                    f"{self._name}: starts and ends must ascend, but [{start}, {end}) comes after "
                    f"[{pairs[i - 1][0]}, {pairs[i - 1][1]})"
                )
