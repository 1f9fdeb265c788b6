"""Checks for one's own aggregates: are the laws they claim true?

A structure regroups the values of a window as it sees fit. That is only right when ``combine`` is
associative, and the laws an aggregate claims beside that one decide what else may be done to it.
`check_monoid` tries them on many small windows and shows the smallest that breaks one.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sash._aggregate import Aggregate, PythonMonoid
from sash._compile import functions_of
from sash.structures import SubtractOnEvict

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["MonoidError", "check_monoid"]

_Run = list[Any]  # the values of one state, oldest first


class MonoidError(AssertionError):
    """An aggregate that breaks a law it claims; the message holds the smallest counterexample."""


def check_monoid(
    aggregate: Aggregate, values: SearchStrategy[Any] | None = None, examples: int = 200
) -> None:
    """Try the laws of an aggregate on many values; raise `MonoidError` when one does not hold.

    Tried are associativity, the identity, commutativity and idempotence where claimed, the inverse
    where there is one, and that ``combine`` leaves its arguments alone. ``values`` is a Hypothesis
    strategy of what the window is fed (by default chosen by the aggregate's dtype), ``examples``
    the number of tries for each law. Results are compared after ``lower``; those of aggregates that
    are not exact may differ by rounding. Needs Hypothesis (``pip install 'sash[testing]'``).

    >>> import sash
    >>> from sash.testing import check_monoid
    >>> check_monoid(sash.agg.max())
    >>> check_monoid(sash.monoid(lambda a, b: a - b))
    Traceback (most recent call last):
    sash.testing.MonoidError: monoid: combine is not associative: (a.b).c = -1 but a.(b.c) = 1 \
for values 0, 0, 1
    """
    if not isinstance(aggregate, Aggregate):
        raise TypeError(f"expected an aggregate such as agg.sum(), not {aggregate!r}")
    try:
        from hypothesis import HealthCheck, Phase, find, settings
        from hypothesis import strategies as st
        from hypothesis.errors import NoSuchExample
    except ImportError as error:
        raise ImportError("check_monoid needs Hypothesis: pip install 'sash[testing]'") from error
    if values is None:
        values = _default_values(aggregate)
    effort = settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    runs = st.lists(values, min_size=1, max_size=3)
    for law in _laws(aggregate):
        try:
            found = find(
                st.tuples(*[runs] * law.states),
                partial(_breaks, law),
                settings=effort,
            )
        except NoSuchExample:
            continue
        shown = ", ".join(repr(run[0]) if len(run) == 1 else repr(run) for run in found)
        raise MonoidError(f"{aggregate.name}: {law.broken(*found)} for values {shown}")


@dataclass(frozen=True)
class _Law:
    """One law: how many states it speaks of, and what breaks it, in words, or None."""

    states: int
    broken: Callable[..., str | None]


def _breaks(law: _Law, example: tuple[Any, ...]) -> bool:
    return law.broken(*example) is not None


def _laws(aggregate: Aggregate) -> Iterator[_Law]:
    functions = functions_of(aggregate)
    laws = aggregate.laws
    check = _Checker(functions, exact=laws.exact)
    yield _Law(1, check.runs)
    yield _Law(2, check.pure)
    yield _Law(3, check.associative)
    if functions.identity is not None:
        yield _Law(1, check.identity)
    if laws.commutative:
        yield _Law(2, check.commutative)
    if laws.idempotent:
        yield _Law(1, check.idempotent)
    if functions.inverse is not None:
        yield _Law(2, check.inverse)
    elif laws.invertible and aggregate.python is None:
        yield _Law(2, lambda a, b: check.native_inverse(aggregate, a, b))


class _Checker:
    """The laws over the functions of one aggregate."""

    def __init__(self, functions: PythonMonoid, *, exact: bool) -> None:
        self._f = functions
        self._exact = exact

    def _lift(self, value: Any) -> Any:
        return value if self._f.lift is None else self._f.lift(value)

    def _lower(self, state: Any) -> Any:
        return state if self._f.lower is None else self._f.lower(state)

    def _state(self, run: _Run) -> Any:
        state = self._lift(run[0])
        for value in run[1:]:
            state = self._f.combine(state, self._lift(value))
        return state

    def _differ(self, law: str, first: tuple[str, Any], second: tuple[str, Any]) -> str | None:
        one, two = self._lower(first[1]), self._lower(second[1])
        if same(one, two, exact=self._exact):
            return None
        return f"{law}: {first[0]} = {one!r} but {second[0]} = {two!r}"

    def runs(self, a: _Run) -> str | None:
        try:
            state = self._lift(a[0])
        except Exception as error:
            return f"lift raises {error!r}"
        try:
            state = self._state(a)
        except Exception as error:
            return f"combine raises {error!r}"
        try:
            self._lower(state)
        except Exception as error:
            return f"lower raises {error!r}"
        return None

    def pure(self, a: _Run, b: _Run) -> str | None:
        for side in (0, 1):
            states = (self._state(a), self._state(b))
            before = copy.deepcopy(self._lower(states[side]))
            self._f.combine(*states)
            after = self._lower(states[side])
            if not same(before, after, exact=True):
                which = ("left", "right")[side]
                return f"combine changes its {which} argument: {before!r} became {after!r}"
        return None

    def associative(self, a: _Run, b: _Run, c: _Run) -> str | None:
        combine, x, y, z = self._f.combine, self._state(a), self._state(b), self._state(c)
        left, right = combine(combine(x, y), z), combine(x, combine(y, z))
        return self._differ("combine is not associative", ("(a.b).c", left), ("a.(b.c)", right))

    def identity(self, a: _Run) -> str | None:
        one, x, law = self._f.identity, self._state(a), "the identity is none"
        right = self._differ(law, ("a.1", self._f.combine(x, one)), ("a", x))
        return right or self._differ(law, ("1.a", self._f.combine(one, x)), ("a", x))

    def commutative(self, a: _Run, b: _Run) -> str | None:
        x, y = self._state(a), self._state(b)
        forth, back = self._f.combine(x, y), self._f.combine(y, x)
        return self._differ("combine is not commutative", ("a.b", forth), ("b.a", back))

    def idempotent(self, a: _Run) -> str | None:
        x = self._state(a)
        return self._differ("combine is not idempotent", ("a.a", self._f.combine(x, x)), ("a", x))

    def inverse(self, a: _Run, b: _Run) -> str | None:
        assert self._f.inverse is not None
        entry, rest = self._lift(a[0]), self._state(b)
        undone = self._f.inverse(self._f.combine(entry, rest), entry)
        law = "inverse does not undo combine"
        return self._differ(law, ("inverse(a.b, a)", undone), ("b", rest))

    def native_inverse(self, aggregate: Aggregate, a: _Run, b: _Run) -> str | None:
        nameless = replace(aggregate, columns=(None,) * len(aggregate.columns))
        window = SubtractOnEvict(nameless, allow_rounding=True)
        for value in [a[0], *b]:
            window.insert(value)
        window.evict()
        undone, rest = window.query(), self._lower(self._state(b))
        if same(undone, rest, exact=self._exact):
            return None
        return f"inverse does not undo combine: evicting a leaves {undone!r} but b = {rest!r}"


def same(a: Any, b: Any, *, exact: bool) -> bool:
    """Whether two results are equal; NaN equals NaN, inexact floats may differ by rounding."""
    if isinstance(a, float) and isinstance(b, float):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return a == b or (not exact and math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6))
    if type(a) is type(b) and isinstance(a, (list, tuple)):
        pairs = zip(a, b, strict=False)
        return len(a) == len(b) and all(same(x, y, exact=exact) for x, y in pairs)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k], exact=exact) for k in a)
    return bool(a == b)


def _default_values(aggregate: Aggregate) -> SearchStrategy[Any]:
    """Choose values by what the aggregate reads: pairs where it reads two columns."""
    from hypothesis import strategies as st

    # Sums of these are exact, and of three of them fit: what differs is the law, not rounding.
    floats = st.integers(-(1 << 20), 1 << 20).map(lambda i: i / 64)
    integers = st.integers(-(1 << 40), 1 << 40)
    everything = st.floats() if aggregate.laws.exact else floats
    by_code = {"f": everything, "i": integers, "b": st.booleans()}
    native = aggregate.native.get(aggregate.dtype) if aggregate.python is None else None
    codes = native.inputs if native is not None else ("*",) * len(aggregate.columns)
    columns = [by_code.get(code, st.integers(-100, 100)) for code in codes]
    if len(columns) > 1:
        return st.tuples(*columns)
    return columns[0] if columns else st.integers(-100, 100)
