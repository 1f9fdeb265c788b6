"""A sum that counts its combines, for the tests of cost."""

from __future__ import annotations

from collections.abc import Callable

import sash


class Counting:
    """A monoid over integers, and how often it has combined."""

    def __init__(self, commutative: bool = False) -> None:
        self.calls = 0
        self.monoid = sash.monoid(self._combine, identity=0, commutative=commutative)

    def _combine(self, a: int, b: int) -> int:
        self.calls += 1
        return a + b

    def of(self, call: Callable[[], object]) -> int:
        """The number of combines a call takes."""
        before = self.calls
        call()
        return self.calls - before
