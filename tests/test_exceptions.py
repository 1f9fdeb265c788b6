"""A Python function that raises, at its k-th call for every k, leaves the window as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cases import STRUCTURES, named

import sash
from sash import TimedWindow
from sash.structures import Window


class RefusedError(Exception):
    """What a function that is switched to failing raises."""


class Fragile:
    """String concatenation whose functions raise from the k-th call on, or at that call only."""

    def __init__(self, identity: str | None, persistent: bool) -> None:
        self.left: int | None = None
        self.reached = False
        self.persistent = persistent
        self.monoid = sash.monoid(
            self._guard(lambda a, b: a + b),
            lift=self._guard(str),
            inverse=self._guard(lambda s, e: s.removeprefix(e)),
            identity=identity,
        )

    def _guard(self, f: Callable[..., str]) -> Callable[..., str]:
        def guarded(*args: Any) -> str:
            if self.left is not None:
                self.left -= 1
                if self.left == 0 or (self.left < 0 and self.persistent):
                    raise RefusedError
            return f(*args)

        return guarded

    def armed(self, call: Callable[[], object], k: int) -> bool:
        """Run the call with the k-th function call failing; whether it raised."""
        self.left = k
        try:
            call()
        except RefusedError:
            return True
        else:
            return False
        finally:
            self.reached = self.left is not None and self.left <= 0
            self.left = None


OPERATIONS: dict[str, Callable[[Any], object]] = {
    "insert": lambda w: w.insert(7),
    "evict": lambda w: w.evict(),
    "query": lambda w: w.query(),
    "insert_many": lambda w: w.insert_many(range(6)),
    "evict_many": lambda w: w.evict_many(len(w) - 1),
    "slide": lambda w: w.slide(range(8), 5),
}
TIMED_OPERATIONS: dict[str, Callable[[Any], object]] = {
    "insert": lambda w: w.insert(99, 7),
    "evict": lambda w: w.evict(),
    "query": lambda w: w.query(),
    "insert_many": lambda w: w.insert_many(range(50, 56), range(6)),
    "bulk_evict": lambda w: w.bulk_evict(w.youngest - 1),
    "slide": lambda w: w.slide(range(50, 58), range(8), 5),
}
QUIET = {  # operations that call no function of the monoid
    (sash.Recalc, "evict"),
    (sash.Recalc, "evict_many"),
    (sash.SubtractOnEvict, "query"),
    (sash.FlatFit, "evict"),
    (sash.FlatFit, "evict_many"),
    (sash.ReactiveAggregator, "evict"),
    (sash.ReactiveAggregator, "evict_many"),
}
MONOIDS = [("", True), ("", False), (None, True), (None, False)]


def fill(window: Any, shape: int, timed: bool) -> None:
    """Windows in different phases of their structures: some evicted, some queried."""
    at = 0
    for grow, shrink in [(5, 2), (4, 1), (shape, shape // 2)]:
        for _ in range(grow):
            window.insert(*((at, at % 10) if timed else (at % 10,)))
            at += 1
        if shape % 2:
            window.query()
        for _ in range(shrink):
            window.evict()


def survives(
    make: Callable[[sash.Aggregate], Any],
    operation: Callable[[Any], object],
    fragile: Fragile,
    timed: bool,
) -> int:
    """Fail at every k until the operation succeeds; the number of times it failed."""
    failures = 0
    for shape in range(8):
        for k in range(1, 200):
            window, twin = make(fragile.monoid), make(fragile.monoid)
            fill(window, shape, timed)
            fill(twin, shape, timed)
            if fragile.armed(lambda w=window: operation(w), k):
                failures += 1
                same(window, twin)
                operation(window)  # and it works when tried again
            operation(twin)
            same(window, twin)
            if not fragile.reached:
                break
    return failures


def same(window: Any, twin: Any) -> None:
    window.check_invariants()
    assert len(window) == len(twin)
    assert window.query() == twin.query()
    if twin and isinstance(window, TimedWindow):
        assert (window.oldest, window.youngest) == (twin.oldest, twin.youngest)
    try:
        inside = list(twin)
    except TypeError:
        return
    assert list(window) == inside


@pytest.mark.parametrize(("identity", "persistent"), MONOIDS)
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_windows(
    structure: type[Window], operation: str, identity: str | None, persistent: bool
) -> None:
    fragile = Fragile(identity, persistent)
    failures = survives(structure, OPERATIONS[operation], fragile, timed=False)
    assert failures or (structure, operation) in QUIET


@pytest.mark.parametrize(("identity", "persistent"), MONOIDS)
@pytest.mark.parametrize("operation", TIMED_OPERATIONS)
@pytest.mark.parametrize(
    "structure", [s for s in STRUCTURES if s is not sash.ReactiveAggregator], ids=named
)
def test_timed_windows(
    structure: type[Window], operation: str, identity: str | None, persistent: bool
) -> None:
    fragile = Fragile(identity, persistent)

    def make(aggregate: sash.Aggregate) -> TimedWindow:
        return TimedWindow(aggregate, structure)

    failures = survives(make, TIMED_OPERATIONS[operation], fragile, timed=True)
    assert failures or (structure, operation.removeprefix("bulk_")) in QUIET


@pytest.mark.parametrize(("identity", "persistent"), MONOIDS)
def test_flat_fat(identity: str | None, persistent: bool) -> None:
    fragile = Fragile(identity, persistent)
    failures = 0
    for n in (1, 5, 8):
        for k in range(1, 60):
            places = sash.FlatFat(fragile.monoid, list(range(n)))
            changes = dict.fromkeys(range(0, n, 2), 9)
            if fragile.armed(lambda p=places, c=changes: p.update(c), k):
                failures += 1
                places.check_invariants()
                assert places.aggregate() == "".join(map(str, range(n)))
            places.update(changes)
            places.check_invariants()
            assert places.aggregate() == "".join("9" if i % 2 == 0 else str(i) for i in range(n))
    assert failures


def test_lower_that_raises() -> None:
    def lower(state: int) -> int:
        if state == 3:
            raise RefusedError
        return state

    for structure in STRUCTURES:
        window = structure(sash.monoid(lambda a, b: a + b, inverse=lambda s, e: s - e, lower=lower))
        window.insert_many([1, 2])
        with pytest.raises(RefusedError):
            window.query()
        with pytest.raises(RefusedError):
            window.slide([5, 1, 2, 7], 2)
        window.check_invariants()
        assert len(window) == 2
        window.insert(4)
        assert window.query() == 7
        assert "3 entries, 7" in repr(window)


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_values_that_raise_halfway(structure: type[Window]) -> None:
    window = structure(sash.agg.sum(dtype=int))
    window.insert_many([1, 2, 3])

    def values() -> Any:
        yield 1
        raise RefusedError

    with pytest.raises(RefusedError):
        window.insert_many(values())
    with pytest.raises(RefusedError):
        window.slide(values(), 2)
    window.check_invariants()
    assert (len(window), window.query()) == (3, 6)
