"""ReactiveAggregator: entries leave in any order; the buffer wraps, compacts, grows and shrinks."""

from __future__ import annotations

import random
from typing import Any

import pytest
from cases import Case, named
from depth import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from kinds import KINDS

from sash import ReactiveAggregator, agg

CHOSEN = [k for k in KINDS if k.name in {"concat", "ordered-record", "sum-int", "mixed"}]


def machine(kind: Case) -> type[RuleBasedStateMachine]:
    """A window whose entries leave by ticket."""

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.window = ReactiveAggregator(kind.aggregate)
            self.entries: dict[int, Any] = {}
            self.gone: list[int] = []

        @rule(values=st.lists(kind.values, min_size=1, max_size=8))
        def insert(self, values: list[Any]) -> None:
            for value in values:
                ticket = self.window.insert(value)
                assert ticket not in self.entries and ticket not in self.gone
                self.entries[ticket] = value

        @precondition(lambda self: self.entries)
        @rule(data=st.data())
        def evict_some(self, data: st.DataObject) -> None:
            ticket = data.draw(st.sampled_from(sorted(self.entries)))
            assert self.window.evict(ticket) is True
            self.forget(ticket)

        @precondition(lambda self: self.entries)
        @rule()
        def evict_oldest(self) -> None:
            assert self.window.evict() is True
            self.forget(next(iter(self.entries)))

        def forget(self, ticket: int) -> None:
            del self.entries[ticket]
            self.gone.append(ticket)

        @precondition(lambda self: self.gone)
        @rule(data=st.data())
        def evict_what_is_gone(self, data: st.DataObject) -> None:
            assert self.window.evict(data.draw(st.sampled_from(self.gone))) is False
            assert self.window.evict(10**9) is False

        @rule()
        def restore(self) -> None:
            self.window = ReactiveAggregator.restore(self.window.snapshot(), kind.aggregate)

        @rule()
        def query(self) -> None:
            kind.check(self.window.query(), list(self.entries.values()))

        @rule()
        def look_inside(self) -> None:
            self.window.check_invariants()
            for own, value in zip(self.window, self.entries.values(), strict=True):
                kind.check(own, [value])

        @invariant()
        def counted(self) -> None:
            assert len(self.window) == len(self.entries)

        def teardown(self) -> None:
            self.query()
            self.window.check_invariants()

    return Machine


@pytest.mark.deeper
@pytest.mark.parametrize("kind", CHOSEN, ids=named)
def test_evictions_in_any_order(kind: Case) -> None:
    chosen = settings(max_examples=examples(40), stateful_step_count=40)
    run_state_machine_as_test(machine(kind), settings=chosen)


@pytest.mark.parametrize("seed", range(5))
def test_growing_shrinking_and_compacting(seed: int) -> None:
    source = random.Random(seed)
    window = ReactiveAggregator(agg.collect())
    entries: dict[int, int] = {}
    for goal in (100, 20, 500, 3, 64, 0):
        while len(entries) != goal:
            if len(entries) < goal or source.random() < 0.3:
                value = source.randrange(100)
                entries[window.insert(value)] = value
            else:
                ticket = source.choice(list(entries))
                window.evict(ticket)
                del entries[ticket]
        window.check_invariants()
        assert window.query() == (list(entries.values()) or None)


def test_holes_are_compacted_without_growing() -> None:
    window = ReactiveAggregator(agg.sum(dtype=int))
    oldest = window.insert(1)
    before = window.nbytes
    for value in range(200):  # one old entry and a few young ones, holes between
        window.evict(window.insert(value))
    assert window.nbytes == before
    assert window.evict(oldest) is True
    assert window.query() is None


@pytest.mark.parametrize("ticket", [-1, 2**64, 1.5, "0", True])
def test_bad_tickets(ticket: Any) -> None:
    window = ReactiveAggregator(agg.sum())
    window.insert(1.0)
    with pytest.raises((TypeError, ValueError)):
        window.evict(ticket)
    assert len(window) == 1
