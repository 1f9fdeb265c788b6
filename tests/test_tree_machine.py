"""The trees over every kind of monoid, driven at random beside a dict of times and values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from cases import Case, named
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
from kinds import KINDS
from test_timed import plain

import sash
from sash.trees import Tree

TREES: list[type[Tree]] = [sash.FingerTree, sash.ClassicTree]
Shape = tuple[int | None, int | None]
SHAPES: list[Shape] = [(4, 4), (5, 9), (None, None)]
FIRST, LAST = -(2**63), 2**63 - 1
TIMES = st.integers(-50, 50) | st.sampled_from([FIRST, FIRST + 1, LAST - 1, LAST])
CHOSEN = [kind for kind in KINDS if kind.name not in ("invertible-record", "mixed")]
SETTINGS = settings(max_examples=examples(10), stateful_step_count=30)


class Model:
    """What a tree means: for each time its values in order of arrival."""

    def __init__(self) -> None:
        self.rows: dict[int, list[Any]] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def insert(self, time: int, value: Any) -> None:
        self.rows.setdefault(time, []).append(value)

    def bulk_insert(self, rows: Iterable[tuple[int, Any]]) -> None:
        for time, value in rows:
            self.insert(time, value)

    def evict(self, time: int | None = None) -> bool:
        return self.rows.pop(self.oldest if time is None else time, None) is not None

    def bulk_evict(self, time: int) -> int:
        gone = [t for t in self.rows if t <= time]
        for t in gone:
            del self.rows[t]
        return len(gone)

    def keep(self, size: int | None, rows: int | None) -> None:
        """Evict what is outside a window by time or by number of entries."""
        if size is not None:
            self.bulk_evict(self.youngest - size)
        while rows is not None and len(self) > rows:
            self.evict()

    @property
    def oldest(self) -> int:
        return min(self.rows)

    @property
    def youngest(self) -> int:
        return max(self.rows)

    def values(self, t_from: int = FIRST, t_to: int = LAST) -> list[Any]:
        inside = sorted(t for t in self.rows if t_from <= t <= t_to)
        return [v for t in inside for v in self.rows[t]]


def rows_of_results(results: Any) -> list[Any]:
    """The results of a slide, one for each row, as `query` gives them."""
    if isinstance(results, dict):
        results = list(zip(*results.values(), strict=True))
    return [plain(result) for result in results]


def same(tree: Tree, model: Model, kind: Case) -> None:
    """Everything one can ask the tree agrees with the model."""
    tree.check_invariants()
    assert len(tree) == len(model)
    assert bool(tree) == bool(model.rows)
    kind.check(tree.query(), model.values())
    assert [t for t, _ in tree] == sorted(model.rows)
    for time, own in tree:
        kind.check(own, model.rows[time])
    if model.rows:
        assert (tree.oldest, tree.youngest) == (model.oldest, model.youngest)


def machine(structure: type[Tree], shape: Shape, kind: Case) -> type[RuleBasedStateMachine]:
    """The state machine of one tree of one shape over one kind of monoid."""
    batches = st.lists(st.tuples(TIMES, kind.values), max_size=25)
    sizes = {"leaf": shape[0], "fanout": shape[1]}

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.tree = structure(kind.aggregate, **sizes)
            self.model = Model()

        @initialize(seed=st.integers(1, 100), n=st.integers(0, 101), value=kind.values)
        def begin(self, seed: int, n: int, value: Any) -> None:
            for i in range(n):
                self.insert((i * seed) % 101 - 50, value)

        @rule(time=TIMES, value=kind.values)
        def insert(self, time: int, value: Any) -> None:
            self.tree.insert(time, value)
            self.model.insert(time, value)

        @precondition(lambda self: self.model.rows)
        @rule(ahead=st.integers(1, 3), n=st.integers(1, 20), value=kind.values)
        def append(self, ahead: int, n: int, value: Any) -> None:
            for _ in range(min(n, (LAST - self.model.youngest) // ahead)):
                self.insert(self.model.youngest + ahead, value)

        @precondition(lambda self: self.model.rows)
        @rule(n=st.integers(1, 20))
        def evict(self, n: int) -> None:
            for _ in range(min(n, len(self.model))):
                assert self.tree.evict() is None
                self.model.evict()

        @rule(time=TIMES)
        def evict_at(self, time: int) -> None:
            assert self.tree.evict(time) is self.model.evict(time)

        @precondition(lambda self: self.model.rows)
        @rule(share=st.floats(0, 1), n=st.integers(1, 15))
        def evict_present(self, share: float, n: int) -> None:
            times = sorted(self.model.rows)
            at = round(share * (len(times) - 1))
            for time in times[at : at + n]:
                assert self.tree.evict(time) is True
                self.model.evict(time)

        @rule(batch=batches, ordered=st.booleans())
        def bulk_insert(self, batch: list[tuple[int, Any]], ordered: bool) -> None:
            if ordered:
                batch = sorted(batch, key=lambda row: row[0])
            self.tree.bulk_insert([t for t, _ in batch], [v for _, v in batch])
            self.model.bulk_insert(batch)

        @rule(time=TIMES)
        def bulk_evict(self, time: int) -> None:
            assert self.tree.bulk_evict(time) == self.model.bulk_evict(time)

        @rule(t_from=TIMES, t_to=TIMES)
        def query_between(self, t_from: int, t_to: int) -> None:
            kind.check(self.tree.query(t_from, t_to), self.model.values(t_from, t_to))
            kind.check(self.tree.query(t_from, t_from), self.model.values(t_from, t_from))

        @rule(batch=batches, size=st.integers(1, 40), by_rows=st.booleans())
        def slide(self, batch: list[tuple[int, Any]], size: int, by_rows: bool) -> None:
            window = {"size": None, "rows": size} if by_rows else {"size": size, "rows": None}
            got = self.tree.slide([t for t, _ in batch], [v for _, v in batch], **window)
            for result, (time, value) in zip(rows_of_results(got), batch, strict=True):
                self.model.insert(time, value)
                self.model.keep(**window)
                expected = self.model.values()
                if kind.finish is Case.finish:  # sketches come as bytes or objects of their own
                    kind.check(result, expected)

        @rule(other=st.sampled_from(SHAPES))
        def restore(self, other: Shape) -> None:
            data = self.tree.snapshot()
            twin = structure.restore(data, kind.aggregate, leaf=other[0], fanout=other[1])
            same(twin, self.model, kind)
            assert twin.snapshot() == data
            self.tree = structure.restore(data, kind.aggregate, **sizes)

        @rule()
        def clear(self) -> None:
            self.tree.clear()
            self.model.rows.clear()

        @invariant()
        def whole(self) -> None:
            self.tree.check_invariants()
            assert len(self.tree) == len(self.model)
            kind.check(self.tree.query(), self.model.values())
            if self.model.rows:
                ends = (self.tree.oldest, self.tree.youngest)
                assert ends == (self.model.oldest, self.model.youngest)

        def teardown(self) -> None:
            same(self.tree, self.model, kind)

    return Machine


@pytest.mark.deeper
@pytest.mark.parametrize("kind", CHOSEN, ids=named)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("structure", TREES, ids=named)
def test_agrees_with_the_definition(structure: type[Tree], shape: Shape, kind: Case) -> None:
    run_state_machine_as_test(machine(structure, shape, kind), settings=SETTINGS)
