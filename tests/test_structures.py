"""Every structure over every kind of monoid, driven at random beside Recalc and a plain list."""

from __future__ import annotations

from typing import Any

import pytest
from cases import ITERABLE, STRUCTURES, Case, named
from depth import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from kinds import kinds_for

import sash
from sash.structures import Window

PAIRS = [(s, k) for s in STRUCTURES if s is not sash.Recalc for k in kinds_for(s)]
SETTINGS = settings(max_examples=examples(20), stateful_step_count=40)


def machine(structure: type[Window], kind: Case) -> type[RuleBasedStateMachine]:
    """The state machine of one structure over one kind of monoid."""
    values = st.lists(kind.values, max_size=12)

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.window = structure(kind.aggregate)
            self.recalc = sash.Recalc(kind.aggregate)
            self.values: list[Any] = []
            self.lazy = False

        @initialize(lazy=st.booleans(), start=st.integers(0, 40), data=st.data())
        def begin(self, lazy: bool, start: int, data: st.DataObject) -> None:
            self.lazy = lazy  # a lazy run looks at the window only when a rule does
            value = data.draw(kind.values)
            self.insert_many([value] * start)

        @rule(value=kind.values)
        def insert(self, value: Any) -> None:
            self.window.insert(value)
            self.recalc.insert(value)
            self.values.append(value)

        @precondition(lambda self: self.values)
        @rule()
        def evict(self) -> None:
            self.window.evict()
            self.recalc.evict()
            del self.values[0]

        @rule()
        def query(self) -> None:
            result = self.window.query()
            kind.check(result, self.values)
            assert repr(result) == repr(self.recalc.query())

        @rule(batch=values)
        def insert_many(self, batch: list[Any]) -> None:
            self.window.insert_many(batch)
            self.recalc.insert_many(batch)
            self.values += batch

        @rule(share=st.floats(0, 1))
        def evict_many(self, share: float) -> None:
            n = round(share * len(self.values))
            self.window.evict_many(n)
            self.recalc.evict_many(n)
            del self.values[:n]

        @rule(batch=values, size=st.integers(1, 12))
        def slide(self, batch: list[Any], size: int) -> None:
            got = self.window.slide(batch, size)
            wanted = self.recalc.slide(batch, size)
            assert repr(got) == repr(wanted)
            for value in batch:
                self.values.append(value)
                del self.values[:-size]

        @rule()
        def clear(self) -> None:
            self.window.clear()
            self.recalc.clear()
            self.values.clear()

        @rule()
        def restore(self) -> None:
            self.window = structure.restore(self.window.snapshot(), kind.aggregate)

        @rule()
        def iterate(self) -> None:
            if structure not in ITERABLE:
                with pytest.raises(TypeError, match="cannot be iterated"):
                    iter(self.window)
                return
            for own, value in zip(self.window, self.values, strict=True):
                kind.check(own, [value])

        @invariant()
        def whole(self) -> None:
            assert len(self.window) == len(self.values)
            if not self.lazy:
                self.window.check_invariants()

        def teardown(self) -> None:
            self.query()
            self.window.check_invariants()

    return Machine


@pytest.mark.deeper
@pytest.mark.parametrize(("structure", "kind"), PAIRS, ids=named)
def test_agrees_with_recalc_and_the_definition(structure: type[Window], kind: Case) -> None:
    run_state_machine_as_test(machine(structure, kind), settings=SETTINGS)


@pytest.mark.parametrize(("structure", "kind"), PAIRS, ids=named)
def test_long_windows(structure: type[Window], kind: Case) -> None:
    """Windows over many chunks, growing and shrinking, past every resize."""
    pool = [None, *range(50)]
    values = [pool[(i * 7919) % len(pool)] for i in range(1500)]
    if kind.name == "max-float":
        values = [None if v is None else float(v) for v in values]
    window = structure(kind.aggregate)
    inside: list[Any] = []
    at = 0
    for grow, shrink in [(300, 0), (20, 250), (700, 10), (0, 755), (480, 485)]:
        for value in values[at : at + grow]:
            window.insert(value)
        inside += values[at : at + grow]
        at += grow
        kind.check(window.query(), inside)
        for i in range(shrink):
            window.evict()
            if i % 97 == 0:
                kind.check(window.query(), inside[i + 1 :])
        del inside[:shrink]
        window.check_invariants()
        kind.check(window.query(), inside)
    assert len(window) == 0
