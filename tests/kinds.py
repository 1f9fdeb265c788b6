"""The kinds of monoid that every structure is driven with."""

from __future__ import annotations

from typing import Any

import oracle
from cases import SMALL, Case, nullable
from hypothesis import strategies as st

import sash
from sash import agg

INTS = nullable(SMALL)


def _each(*oracles: oracle.Oracle) -> Any:
    return lambda values: tuple(one(values) for one in oracles)


def _count_int_stats() -> list[sash.Aggregate]:
    return [agg.count(), agg.sum(dtype=int), agg.mean(dtype=int), agg.histogram([-1.0, 0.0, 1e6])]


KINDS: list[Case] = [
    Case(agg.sum(dtype=int), INTS, oracle.sum_, label="sum-int"),
    Case(agg.max(), nullable(st.floats()), oracle.max_, label="max-float"),
    Case(
        [*_count_int_stats(), agg.max(dtype=int)],
        INTS,
        _each(
            oracle.count_rows,
            oracle.sum_,
            oracle.mean,
            oracle.histogram([-1.0, 0.0, 1e6]),
            oracle.max_,
        ),
        label="record",
    ),
    Case(
        _count_int_stats(),
        INTS,
        _each(oracle.count_rows, oracle.sum_, oracle.mean, oracle.histogram([-1.0, 0.0, 1e6])),
        label="invertible-record",
    ),
    Case(
        agg.bloom(bits=1024, hashes=2),
        nullable(st.integers(0, 500)),
        oracle.bloom(1024, 2),
        label="bloom",
        finish=lambda found: found.data,
    ),
    Case(
        [agg.hll(lg_k=4), agg.countmin(width=8, depth=2)],
        nullable(st.integers(0, 50)),
        oracle.countmin(8, 2),
        label="hll-countmin",
        finish=lambda pair: pair[1].counters.tolist(),
    ),
    Case(
        sash.monoid(lambda a, b: a + b, inverse=lambda s, e: s - e, identity=0, commutative=True),
        INTS,
        lambda values: sum(oracle.present(values)),
        label="python-sum",
    ),
    Case(
        agg.concat(separator="-"), nullable(st.integers(0, 9)), oracle.concat("-"), label="concat"
    ),
    Case(
        [agg.first(dtype=int), agg.last(dtype=int), agg.nth_youngest(2, dtype=int)],
        INTS,
        _each(oracle.first, oracle.last, oracle.nth_youngest(2)),
        label="ordered-record",
    ),
    Case(
        [agg.nth_youngest(3, dtype=int), agg.collect(), agg.sum(dtype=int)],
        nullable(st.integers(-9, 9)),
        _each(oracle.nth_youngest(3), oracle.collect, oracle.sum_),
        label="mixed",
    ),
]
INVERTIBLE = {"sum-int", "invertible-record", "python-sum"}


def kinds_for(structure: type) -> list[Case]:
    """The kinds a structure takes."""
    if structure is sash.SubtractOnEvict:
        return [kind for kind in KINDS if kind.name in INVERTIBLE]
    return [kind for kind in KINDS if kind.name != "invertible-record"]
