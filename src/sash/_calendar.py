"""Windows that a user's function lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


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
        return max((t for t in (*self.starts, *self.ends) if t <= time), default=None)

    def cover(self, first: int, last: int, limit: int) -> bool:
        """Know the windows of these times, too; say whether there are others than before.

        Windows that end by ``limit`` are not needed any more.
        """
        if self._first is not None and self._first <= first and last <= self._last:
            return False
        if self._first is not None:
            first = min(first, max(self._first, limit))
            last = max(last, self._last)
        starts, ends = self._ask(first, last)
        self._first, self._last, self.starts, self.ends = first, last, starts, ends
        return True

    def _ask(self, first: int, last: int) -> tuple[list[int], list[int]]:
        try:
            starts, ends = self._function(first, last)
            pairs = [(int(s), int(e)) for s, e in zip(starts, ends, strict=True)]
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{self._name}: its function must return two sequences of integers, the starts and "
                f"the ends of windows ({error})"
            ) from error
        pairs = [(s, e) for s, e in pairs if e > first and s <= last]
        for i, (start, end) in enumerate(pairs):
            if start >= end:
                raise ValueError(
                    f"{self._name}: a window must end after it starts: [{start}, {end})"
                )
            if i and (start <= pairs[i - 1][0] or end <= pairs[i - 1][1]):
                raise ValueError(
                    f"{self._name}: starts and ends must ascend, but [{start}, {end}) comes after "
                    f"[{pairs[i - 1][0]}, {pairs[i - 1][1]})"
                )
        return [s for s, _ in pairs], [e for _, e in pairs]
