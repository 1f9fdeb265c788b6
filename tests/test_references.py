"""States are neither leaked nor dropped too early, whatever happens to the window."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, ClassVar

import pyarrow as pa
import pytest
from cases import STRUCTURES, named
from test_tree_machine import TREES

import sash
from sash.structures import Window
from sash.trees import Tree


class State:
    """A state that knows how many of its kind are alive."""

    alive: ClassVar[weakref.WeakSet[State]] = weakref.WeakSet()

    def __init__(self, value: int) -> None:
        self.value = value
        State.alive.add(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.value == other.value

    __hash__ = object.__hash__


class Failing:
    """Sums of states; the combine fails while ``left`` is 0."""

    def __init__(self) -> None:
        self.left = -1

    def combine(self, a: State, b: State) -> State:
        if self.left == 0:
            raise ZeroDivisionError
        self.left -= 1
        return State(a.value + b.value)

    def monoid(self) -> sash.Aggregate:
        return sash.monoid(
            self.combine,
            lift=State,
            inverse=lambda s, e: State(s.value - e.value),
            lower=lambda s: s.value,
        )


def alive() -> int:
    gc.collect()
    return len(State.alive)


@pytest.fixture(autouse=True)
def none_before() -> Iterator[None]:
    """Collecting garbage is quick when it leaves out what was there before."""
    gc.collect()
    State.alive.clear()
    gc.freeze()
    yield
    gc.unfreeze()


def used(structure: type[Window], failing: Failing) -> Window:
    """A window that has been through everything."""
    window = structure(failing.monoid())
    for i in range(30):
        window.insert(i)
        if i % 3 == 0:
            window.evict()
        if i % 7 == 0:
            window.query()
    window.insert_many(range(10))
    window.evict_many(3)
    window.slide(range(9), 20)
    return window


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_deleting_a_window_gives_everything_up(structure: type[Window]) -> None:
    window = used(structure, Failing())
    assert alive() > 0
    del window
    assert alive() == 0


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_clear_gives_everything_up(structure: type[Window]) -> None:
    window = used(structure, Failing())
    window.clear()
    assert alive() == 0
    assert window.query() is None


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_evicting_all_gives_all_but_a_few_up(structure: type[Window]) -> None:
    window = used(structure, Failing())
    window.evict_many(len(window))
    assert window.query() is None
    assert alive() <= 3


CALLS: dict[str, Callable[[Window], Any]] = {
    "insert": lambda w: w.insert(5),
    "evict": lambda w: w.evict(),
    "query": lambda w: w.query(),
    "insert_many": lambda w: w.insert_many(range(5)),
    "evict_many": lambda w: w.evict_many(len(w)),
    "slide": lambda w: w.slide(range(5), 10),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_failing_leaks_nothing(structure: type[Window], call: str) -> None:
    failing = Failing()
    window = used(structure, failing)
    for left in range(12):
        counts = []
        for _ in range(3):  # failing again and again at the same place keeps nothing more
            failing.left = left
            with suppress(ZeroDivisionError):
                CALLS[call](window)
            failing.left = -1
            if call not in ("insert", "insert_many"):
                while len(window) < 20:
                    window.insert(1)
            counts.append(alive() - 3 * len(window))
        assert counts[2] <= counts[0] + 2
    failing.left = -1
    window.clear()
    assert alive() == 0


@pytest.mark.parametrize("structure", STRUCTURES, ids=named)
def test_reference_counts_of_states(structure: type[Window]) -> None:
    value = object()
    before = sys.getrefcount(value)
    window = structure(sash.monoid(lambda a, b: a, inverse=lambda s, e: s))
    for _ in range(50):
        window.insert(value)
    window.evict_many(20)
    window.slide([value] * 30, 10)
    assert sys.getrefcount(value) > before
    window.clear()
    del window
    assert sys.getrefcount(value) == before


def test_flat_fat_gives_everything_up() -> None:
    failing = Failing()
    places = sash.FlatFat(failing.monoid(), range(10))
    failing.left = 2
    with pytest.raises(ZeroDivisionError):
        places.update(dict.fromkeys(range(10), 1))
    failing.left = -1
    places.update({3: 4})
    assert places.aggregate() == sum(range(10)) + 1
    del places
    assert alive() == 0


def test_functions_are_given_up() -> None:
    def combine(a: int, b: int) -> int:
        return a + b

    gone = weakref.ref(combine)
    window = sash.DabaLite(sash.monoid(combine))
    window.insert_many([1, 2])
    del window, combine
    gc.collect()
    assert gone() is None


SCRIPT = """
import sash

def combine(a, b):
    return a + b

window = sash.DabaLite(sash.monoid(combine))
window.insert_many([1, 2, 3])
print(window.query())
"""


def test_a_script_ends_quietly() -> None:
    """The window refers to its combine, that to the script's globals, and those to the window."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("6\n", "")


def test_a_window_in_a_cycle_is_collected() -> None:
    class Owner:
        def combine(self, a: int, b: int) -> int:
            return a + b

    owner = Owner()
    owner.window = sash.DabaLite(sash.monoid(owner.combine))  # type: ignore[attr-defined]
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def failing_tree(structure: type[Tree], failing: Failing) -> Tree:
    """A tree that has been through everything."""
    tree = structure(failing.monoid(), leaf=4, fanout=4)
    tree.bulk_insert([(7 * i) % 60 for i in range(90)], range(90))
    for i in range(40):
        tree.insert(i % 13 * 5, i)
        if i % 3 == 0:
            tree.evict()
        tree.query(i, i + 20)
    tree.bulk_evict(10)
    tree.slide(range(60, 90), range(30), rows=25)
    return tree


TREE_CALLS: dict[str, Callable[[Tree], Any]] = {
    "insert": lambda t: t.insert(70, 5),
    "late": lambda t: t.insert(t.oldest + 1, 5),
    "evict": lambda t: t.evict(),
    "query": lambda t: t.query(65, 80),
    "bulk_insert": lambda t: t.bulk_insert([61, 61, 65, 70, 71, 72, 95, 96], range(8)),
    "bulk_evict": lambda t: t.bulk_evict(t.oldest + 1),
    "slide": lambda t: t.slide(range(90, 99), range(9), rows=20),
}


@pytest.mark.parametrize("call", TREE_CALLS)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_a_tree_gives_everything_up(structure: type[Tree], call: str) -> None:
    """Also after its functions have failed at every step of a call."""
    failing = Failing()
    tree = failing_tree(structure, failing)
    for left in range(12):
        failing.left = left
        with suppress(ZeroDivisionError):
            TREE_CALLS[call](tree)
        failing.left = -1
    tree.check_invariants()
    kept = len(tree)
    assert alive() <= 6 * kept + 20  # an aggregate for each node, and one for each front entry
    tree.bulk_evict(tree.youngest)
    assert alive() <= 3
    tree.insert(1, 1)
    del tree
    assert alive() == 0


def test_a_snapshot_that_fails_gives_everything_up() -> None:
    value = object()
    before = sys.getrefcount(value)
    window = sash.DabaLite(sash.monoid(lambda a, b: a, name="first"))
    window.insert_many([value] * 20)
    with pytest.raises(TypeError):
        window.snapshot()  # such an object cannot be saved
    del window
    assert sys.getrefcount(value) == before


def test_a_restored_window_gives_everything_up() -> None:
    plain = sash.monoid(lambda a, b: a + b, name="strings")
    tree = sash.FingerTree(plain)
    tree.bulk_insert(range(50), list(map(str, range(50))))
    data = tree.snapshot()
    gone = [weakref.ref(sash.FingerTree.restore(data, plain)) for _ in range(3)]
    gc.collect()
    assert [each() for each in gone] == [None] * 3


@pytest.mark.parametrize("store", ["lazy", "eager"])
def test_an_operator_gives_everything_up(store: str) -> None:
    """Keys come and go, and functions fail at every step of a batch."""
    failing = Failing()
    op = sash.WindowOperator(
        on="t", by="k", store=store, delay=0, lateness=20, aggs=failing.monoid().on("x"),
        windows=[sash.tumbling(10), sash.session(3), sash.sliding(rows=3, slide=1)],
    )  # fmt: skip
    most = 0
    for i in range(30):
        batch = {"t": [20 * i + j for j in range(10)], "k": [i % 3] * 10, "x": list(range(10))}
        for left in (i, 3 * i, -1):
            failing.left = left
            with suppress(ZeroDivisionError):
                op.process(pa.table(batch))
                break
        failing.left = -1
        most = max(most, alive()) if i < 10 else most
        assert i < 10 or alive() <= 2 * most
    op.finish()
    del op
    assert alive() == 0


def test_rolling_gives_everything_up() -> None:
    failing = Failing()
    table = pa.table({"t": [5, 1, 3, 2, 4] * 20, "x": list(range(100)), "k": [1, 2] * 50})
    for order in ("event", "arrival"):
        for left in (-1, 0, 7, 50):
            failing.left = left
            with suppress(ZeroDivisionError):
                sash.rolling(
                    table, on="t", by="k", window=2, aggs=failing.monoid().on("x"), order=order
                )
            assert alive() == 0
