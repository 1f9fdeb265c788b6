"""Bad parameters of aggregates are refused where they are given, or at the latest when built."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from patience import ONE_ALLOCATOR, finished

import sash
from sash import agg

BAD: list[Callable[[], Any]] = [
    lambda: agg.sum(dtype=str),
    lambda: agg.sum(dtype="text"),
    lambda: agg.sum(dtype=bool),
    lambda: agg.sum(dtype=complex),
    lambda: agg.sum(5),  # type: ignore[arg-type]
    lambda: agg.count(5),  # type: ignore[arg-type]
    lambda: agg.any(b"x"),  # type: ignore[arg-type]
    lambda: agg.geomean(dtype=object),
    lambda: agg.variance(ddof=2),
    lambda: agg.stddev(ddof=None),  # type: ignore[arg-type]
    lambda: agg.argmax(argument_dtype="text"),
    lambda: agg.m4(dtype=object),
    lambda: agg.nth_youngest(0),
    lambda: agg.nth_youngest(-1),
    lambda: agg.nth_youngest(1.5),  # type: ignore[arg-type]
    lambda: agg.nth_youngest(True),
    lambda: agg.nth_youngest("x"),  # type: ignore[arg-type]
    lambda: agg.topk(0),
    lambda: agg.topk(2.0),  # type: ignore[arg-type]
    lambda: agg.histogram([]),
    lambda: agg.histogram([1.0]),
    lambda: agg.histogram([1.0, 1.0]),
    lambda: agg.histogram([2.0, 1.0]),
    lambda: agg.histogram([0.0, float("nan"), 2.0]),
    lambda: agg.histogram(["a", "b"]),  # type: ignore[list-item]
    lambda: agg.bloom(bits=0),
    lambda: agg.bloom(bits=63),
    lambda: agg.bloom(bits=32),
    lambda: agg.bloom(bits=100),
    lambda: agg.bloom(hashes=0),
    lambda: agg.bloom(contains=[1]),
    lambda: agg.hll(lg_k=3),
    lambda: agg.hll(lg_k=22),
    lambda: agg.hll(lg_k=4.5),  # type: ignore[arg-type]
    lambda: agg.countmin(width=3),
    lambda: agg.countmin(width=0),
    lambda: agg.countmin(depth=0),
    lambda: agg.countmin(count=[1]),
    lambda: agg.quantiles(1.5),
    lambda: agg.quantiles(-0.1),
    lambda: agg.quantiles(float("nan")),
    lambda: agg.quantiles([0.5, 2.0]),
    lambda: agg.quantiles([]),
    lambda: agg.quantiles("half"),  # type: ignore[arg-type]
    lambda: agg.quantiles(k=0),
    lambda: agg.quantiles(k=1 << 20),
    lambda: agg.quantiles(k=1.5),  # type: ignore[arg-type]
    lambda: agg.sum().alias(""),
    lambda: agg.sum().alias(5),  # type: ignore[arg-type]
    lambda: agg.sum().on("x", "y"),
    lambda: sash.monoid(None),  # type: ignore[arg-type]
    lambda: sash.monoid("add"),  # type: ignore[arg-type]
    lambda: sash.monoid(max, lift=5),  # type: ignore[arg-type]
    lambda: sash.monoid(max, lower="x"),  # type: ignore[arg-type]
    lambda: sash.monoid(max, inverse=1),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("make", BAD, ids=range(len(BAD)))
def test_refused(make: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        make()


HUGE = [
    "agg.topk(2**60 - 1)",
    "agg.topk(2**62)",
    "agg.topk(2**70)",
    "agg.nth_youngest(2**60 - 1)",
    "agg.nth_youngest(2**61)",
    "agg.bloom(bits=2**62)",
    "agg.bloom(bits=2**70)",
    "agg.countmin(width=2**32, depth=2**32)",
    "agg.countmin(width=2**33, depth=2**30)",
    "agg.countmin(width=2**40)",
]
BUILD = """
import resource
import sash
from sash import agg
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (2 << 30),) * 2)
for structure in (sash.Recalc, sash.TwoStacks, sash.TwoStacksLite, sash.Daba, sash.DabaLite,
                  sash.FlatFit, sash.Amta, sash.ReactiveAggregator):
    try:
        window = structure({what})
        window.insert(1)
        window.query()
    except (ValueError, TypeError, OverflowError, MemoryError):
        continue
    raise SystemExit(f"{{structure.__name__}} takes it")
print("refused")
"""


@pytest.mark.parametrize("what", HUGE)
def test_states_that_no_memory_can_hold(what: str) -> None:
    code = BUILD.format(what=what)
    done = finished([sys.executable, "-c", code], **ONE_ALLOCATOR)
    assert done.stdout.strip() == "refused", (done.returncode, done.stderr[-300:])


def test_usual_spellings_of_a_dtype() -> None:
    for dtype in (int, "int", "int64", "i4", "uint8"):
        assert agg.sum(dtype=dtype).dtype == "int"
    for dtype in (float, "float", "float32", "f8"):
        assert agg.sum(dtype=dtype).dtype == "float"
