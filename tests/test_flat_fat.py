"""FlatFat: places overwritten at will, against brute force."""

from __future__ import annotations

from typing import Any

import pytest
from cases import Case, named
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import KINDS

import sash
from sash import FlatFat, agg

CHOSEN = [k for k in KINDS if k.name != "invertible-record"]


@pytest.mark.parametrize("kind", CHOSEN, ids=named)
@given(data=st.data())
@settings(max_examples=examples(50))
def test_all_prefixes_and_suffixes(kind: Case, data: st.DataObject) -> None:
    values = data.draw(st.lists(kind.values, min_size=1, max_size=20))
    places = FlatFat(kind.aggregate, values)
    assert len(places) == len(values)
    for _ in range(data.draw(st.integers(0, 4))):
        at = st.integers(0, len(values) - 1)
        changes = data.draw(st.dictionaries(at, kind.values))
        places.update(changes)
        for place, value in changes.items():
            values[place] = value
        places.check_invariants()
        kind.check(places.aggregate(), values)
        for place in range(len(values)):
            kind.check(places.prefix(place), values[: place + 1])
            kind.check(places.suffix(place), values[place:])


def test_updates_as_pairs_and_in_any_order() -> None:
    places = FlatFat(agg.collect(), list("abcdef"))
    places.update([(5, "z"), (0, "y"), (3, "x"), (0, "w")])
    assert places.aggregate() == ["w", "b", "c", "x", "e", "z"]
    places.update({})
    assert "FlatFat of collect: 6 entries" in repr(places)


@pytest.mark.parametrize(
    "call",
    [
        lambda f: f.update({3: 1.0}),
        lambda f: f.update({-1: 1.0}),
        lambda f: f.update({0: 1.0, 1.5: 2.0}),
        lambda f: f.update({0: 9.0, 1: "x"}),
        lambda f: f.update([(0, 9.0), (True, 1.0)]),
        lambda f: f.update(5),
        lambda f: f.prefix(3),
        lambda f: f.suffix(-1),
        lambda f: f.prefix(None),
    ],
)
def test_bad_calls_change_nothing(call: Any) -> None:
    places = FlatFat(agg.sum(), [1.0, 2.0, 4.0])
    with pytest.raises((IndexError, TypeError, ValueError)):
        call(places)
    places.check_invariants()
    assert [places.prefix(i) for i in range(3)] == [1.0, 3.0, 7.0]


def test_at_least_one_place() -> None:
    with pytest.raises(ValueError, match="at least one place"):
        FlatFat(agg.sum(), [])


def test_a_combine_may_not_call_back_in() -> None:
    calls: list[Any] = []

    def combine(a: int, b: int) -> int:
        if calls:
            calls.pop()(1)
        return a + b

    places = FlatFat(sash.monoid(combine), [1, 2, 3, 4])
    for entry in (
        lambda v: places.update({0: v}),
        places.prefix,
        lambda v: places.aggregate(),
    ):
        calls.append(entry)
        with pytest.raises(RuntimeError, match="in use"):
            places.update({3: 10})
        places.check_invariants()
        assert places.aggregate() == 10
