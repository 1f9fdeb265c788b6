"""`sash.testing.check_monoid`: all of `sash.agg` passes, broken monoids show how they break."""

from __future__ import annotations

import math
import sys
from typing import Any

import pytest
from cases import AGGREGATES, HASHED, Case, named
from hypothesis import strategies as st

import sash
from sash import agg
from sash.testing import MonoidError, check_monoid


@pytest.mark.parametrize("case", AGGREGATES + HASHED, ids=named)
def test_built_in_aggregates_keep_their_laws(case: Case) -> None:
    assert isinstance(case.aggregate, sash.Aggregate)
    check_monoid(case.aggregate, examples=25)


@pytest.mark.parametrize("aggregate", [agg.hll(lg_k=4), agg.quantiles([0.1, 0.9])], ids=named)
def test_sketches_keep_their_laws(aggregate: sash.Aggregate) -> None:
    check_monoid(aggregate, examples=25)


BROKEN: dict[str, tuple[sash.Aggregate, str]] = {
    "subtraction": (
        sash.monoid(lambda a, b: a - b),
        "combine is not associative: (a.b).c = -1 but a.(b.c) = 1 for values 0, 0, 1",
    ),
    "average of averages": (
        sash.monoid(lambda a, b: (a + b) / 2),
        "combine is not associative: (a.b).c = 0.5 but a.(b.c) = 0.25 for values 0, 0, 1",
    ),
    "wrong identity": (
        sash.monoid(lambda a, b: a + b, identity=1),
        "the identity is none: a.1 = 1 but a = 0 for values 0",
    ),
    "one-sided identity": (
        sash.monoid(lambda a, b: a, identity=0),
        "the identity is none: 1.a = 0 but a = 1 for values 1",
    ),
    "false commutativity": (
        sash.monoid(lambda a, b: a, commutative=True),
        "combine is not commutative: a.b = 0 but b.a = 1 for values 0, 1",
    ),
    "false idempotence": (
        sash.monoid(lambda a, b: a + b, idempotent=True),
        "combine is not idempotent: a.a = 2 but a = 1 for values 1",
    ),
    "wrong inverse": (
        sash.monoid(lambda a, b: a + b, inverse=lambda s, e: s),
        "inverse does not undo combine: inverse(a.b, a) = 1 but b = 0 for values 1, 0",
    ),
    "changes its argument": (
        sash.monoid(lambda a, b: a.extend(b) or a, lift=lambda v: [v]),
        "combine changes its left argument: [0] became [0, 0] for values 0, 0",
    ),
    "lift fails": (
        sash.monoid(lambda a, b: a + b, lift=lambda v: 1 // v),
        "lift raises ZeroDivisionError('integer division or modulo by zero') for values 0",
    ),
    "combine fails": (
        sash.monoid(lambda a, b: a + None),
        "combine raises TypeError",
    ),
    "lower fails": (
        sash.monoid(lambda a, b: a + b, lower=lambda s: s.x),
        "lower raises AttributeError",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_the_smallest_counterexample(what: str) -> None:
    aggregate, message = BROKEN[what]
    with pytest.raises(MonoidError) as caught:
        check_monoid(aggregate)
    assert message in str(caught.value)
    assert isinstance(caught.value, AssertionError)


def test_a_counterexample_of_several_values_is_found() -> None:
    # Associative on single values: only a state of three or more gives it away.
    broken = sash.monoid(
        lambda a, b: (a + b)[:4][::-1] if len(a) >= 3 else a + b, lift=lambda v: [v]
    )
    with pytest.raises(MonoidError, match="not associative"):
        check_monoid(broken)


def test_own_values() -> None:
    words = sash.monoid(lambda a, b: a + b, identity="")
    check_monoid(words, values=st.text(max_size=3), examples=50)
    with pytest.raises(MonoidError, match="for values 'a', 'b'"):
        longest = sash.monoid(lambda a, b: a if len(a) > len(b) else b, commutative=True)
        check_monoid(longest, values=st.sampled_from(["a", "b"]))


def test_rounding_is_no_counterexample_unless_exactness_is_claimed() -> None:
    floats = st.sampled_from([0.1, 0.2, 0.3])
    check_monoid(sash.monoid(lambda a, b: a + b, exact=False), values=floats)
    with pytest.raises(MonoidError, match="not associative"):
        check_monoid(sash.monoid(lambda a, b: a + b), values=floats)


def test_native_inverses_are_tried() -> None:
    laws = sash.Laws(invertible=True, commutative=True, exact=False)
    native = agg.mean().native  # adds floats: an infinity cannot be taken out again
    wrong = sash.Aggregate("wrong", (None,), laws, "float64", "float", native)
    with pytest.raises(MonoidError, match="inverse does not undo combine: evicting a leaves nan"):
        check_monoid(wrong, values=st.sampled_from([1.0, math.inf]))


@pytest.mark.parametrize("what", [agg.sum, "sum", None, [agg.sum()]])
def test_not_an_aggregate(what: Any) -> None:
    with pytest.raises(TypeError, match="expected an aggregate"):
        check_monoid(what)


def test_without_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(ImportError, match=r"pip install 'sash\[testing\]'"):
        check_monoid(agg.sum())
