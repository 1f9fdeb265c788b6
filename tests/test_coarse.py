"""The Lite structures over states much bigger than an entry keep one state for a block of entries.

Blocks are 16 entries long, so the windows here hold many of them, with ragged ends.
"""

from __future__ import annotations

import random
import struct
from typing import Any

import pytest
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_hostile_snapshots import MANY, refused_or_whole

import sash
from sash import agg

LITE = (sash.TwoStacksLite, sash.DabaLite)
BIG = {
    "bloom": agg.bloom(bits=4096, hashes=3),
    "hll": agg.hll(lg_k=8),
    # Not commutative: a block folded in the wrong order shows at once.
    "youngest": agg.nth_youngest(20, dtype=int),
    "pair": [agg.nth_youngest(17, dtype=int), agg.bloom(bits=1024, hashes=2), agg.first(dtype=int)],
}


def answer(window: Any) -> Any:
    found = window.query()
    parts = found if isinstance(found, tuple) else (found,)
    return [getattr(part, "data", part) for part in parts]


@pytest.mark.parametrize("structure", LITE, ids=lambda s: s.__name__)
@pytest.mark.parametrize("name", BIG)
@given(
    runs=st.lists(
        st.tuples(st.sampled_from(["insert", "evict", "slide", "restore"]), st.integers(0, 70)),
        max_size=25,
    )
)
@settings(max_examples=examples(25))
def test_runs_agree_with_recalc(
    structure: type[sash.DabaLite], name: str, runs: list[tuple[str, int]]
) -> None:
    aggregate: Any = BIG[name]
    window, truth = structure(aggregate), sash.Recalc(aggregate)
    value = 0
    for what, times in runs:
        if what == "restore":
            window = structure.restore(window.snapshot(), aggregate)
        for _ in range(times):
            value += 1
            if what in ("insert", "slide"):
                shown = None if value % 7 == 0 else value
                window.insert(shown)
                truth.insert(shown)
            if what in ("evict", "slide") and len(truth):
                window.evict()
                truth.evict()
        window.check_invariants()
        assert len(window) == len(truth)
        assert answer(window) == answer(truth)


@pytest.mark.parametrize("structure", LITE, ids=lambda s: s.__name__)
def test_every_step_of_a_long_random_walk(structure: type[sash.DabaLite]) -> None:
    rng = random.Random(5)
    aggregate = agg.nth_youngest(20, dtype=int)
    window, truth = structure(aggregate), sash.Recalc(aggregate)
    for step in range(3000):
        if len(truth) and rng.random() < (0.3 if step % 1000 < 500 else 0.7):
            window.evict()
            truth.evict()
        else:
            window.insert(step)
            truth.insert(step)
        assert window.query() == truth.query()
        window.check_invariants()


@pytest.mark.parametrize("structure", LITE, ids=lambda s: s.__name__)
def test_big_states_are_kept_once_per_block(structure: type[sash.DabaLite]) -> None:
    window = structure(agg.bloom())
    window.insert_many(range(16_000))
    assert window._partials() < 1100
    assert window.nbytes < 16_000 * 250  # a state is 2,048 bytes
    window.clear()
    assert len(window) == 0
    assert window.query().estimate() == 0
    window.check_invariants()


@pytest.mark.parametrize("structure", LITE, ids=lambda s: s.__name__)
def test_impossible_counts_are_refused(structure: type[sash.DabaLite]) -> None:
    aggregate = agg.bloom(bits=1024, hashes=2)
    window = structure(aggregate)
    window.insert_many(range(70))
    window.evict_many(5)
    numbers, times, cells, objects = window._save()
    values = list(struct.unpack(f"<{len(numbers) // 8}Q", numbers))
    refused = 0
    for i, old in enumerate(values):
        for other in MANY:
            changed = [*values[:i], other, *values[i + 1 :]]
            packed = struct.pack(f"<{len(values)}Q", *changed)
            verdict = refused_or_whole(window, aggregate, (packed, times, cells, objects))
            refused += verdict
            assert verdict == (other != old) or i >= 4
    assert refused > 4 * (len(MANY) - 2)
