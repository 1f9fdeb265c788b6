"""Calls that ask for too much, and what each comes to where memory and time are bounded.

Run as a program it tries them all, each in a process of its own that may take neither more than a
little memory nor more than a little time of the processor: what went on without end is killed.
"""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import sash
from sash import agg

MEMORY, SECONDS = 1 << 30, 100  # of the processor: each call takes less than one
ROWS = pa.table({"t": [1, 2, 3]})
FAR = pa.table({"t": [-(2**61), 2**61]})


def tell(windows: Any, rows: pa.Table = ROWS, **others: Any) -> int:
    op = sash.WindowOperator(on="t", windows=windows, aggs=agg.count(), **others)
    op.process(rows)
    return op.finish().num_rows


def kept(aggregate: Any, entries: int) -> int:
    window = sash.DabaLite(aggregate)
    window.insert_many(list(range(entries)))
    assert window.query() is not None
    return len(window)


REFUSED: dict[str, Callable[[], Any]] = {
    "a year every nanosecond": lambda: tell(
        sash.sliding("365d", "1ns"), pa.table({"t": pa.array([1], pa.timestamp("ns"))})
    ),
    "a row in 10^12 windows": lambda: tell(sash.sliding(10**12, 1)),
    "a million windows": lambda: tell(sash.tumbling(i) for i in range(1, 10**6)),
    "a session that never ends": lambda: tell(sash.session(2**63)),
    "lateness for ever": lambda: tell(sash.tumbling(1), lateness=2**63),
    "steps of a rolling window": lambda: sash.rolling(
        ROWS, on="t", window=2**62, every=1, aggs=agg.count()
    ),
    "edges without end": lambda: agg.histogram(iter(int, 1)),
    "10^9 edges": lambda: agg.histogram(range(10**9)),
    "fractions without end": lambda: agg.quantiles(iter(int, 1)),
    "a filter of 2^40 bits": lambda: agg.bloom(bits=2**40),
    "a million hashes": lambda: agg.bloom(hashes=10**6),
    "a sketch of 2^40 counters": lambda: agg.countmin(width=2**20, depth=2**20),
    "the 10^9 largest": lambda: agg.topk(10**9),
    "the 10^18th youngest": lambda: agg.nth_youngest(10**18),
    "a hundred big lists": lambda: sash.Daba([agg.topk(2**20).alias(str(i)) for i in range(100)]),
    "aggregates without end": lambda: sash.Daba(agg.sum() for _ in iter(int, 1)),
    "keys without end": lambda: sash.rolling(
        ROWS, on="t", window=1, aggs=agg.count(), by=iter(str, 1)
    ),
    "a duration of a million parts": lambda: sash.tumbling("1s" * 10**6),
    "a number of a million digits": lambda: sash.tumbling("9" * 10**6 + "s"),
    "blanks": lambda: sash.tumbling("1" + " " * 10**6 + "!"),
}
DONE: dict[str, tuple[Callable[[], Any], Any]] = {
    "a row in 100,000 windows": (lambda: tell(sash.sliding(100_000, 1)), 100_002),
    "windows of 10^18 rows": (lambda: tell(sash.tumbling(rows=10**18)), 0),
    "windows of 10^18 rows that slide": (lambda: tell(sash.sliding(rows=10**18, slide=1)), 0),
    "the longest session": (lambda: tell(sash.session(2**60 - 1)), 1),
    "the longest lateness": (lambda: tell(sash.tumbling(5), lateness=2**60 - 1), 1),
    "rows at the ends of time": (lambda: tell(sash.sliding(10, 1), FAR), 20),
    "the longest window": (
        lambda: (
            sash.rolling(
                pa.table({"t": [-(2**63), 2**63 - 1]}), on="t", window=2**63 - 1, aggs=agg.count()
            ).num_rows
        ),
        2,
    ),
    "a window of 2^63 - 1 rows each way": (
        lambda: sash.rolling(ROWS, rows=(2**63 - 1, 2**63 - 1), aggs=agg.sum("t")).num_rows,
        3,
    ),
    "a billion threads": (
        lambda: (
            sash.rolling(
                pa.table({"t": np.arange(10**6)}),
                on="t",
                window=2,
                threads=10**9,
                aggs=agg.sum("t"),
            ).num_rows
        ),
        10**6,
    ),
    "the largest filter": (lambda: kept(agg.bloom(bits=2**27, hashes=64), 16), 16),
    "the largest HyperLogLog": (lambda: kept(agg.hll(lg_k=21), 300), 300),
    "the largest counters": (lambda: kept(agg.countmin(width=2**21, depth=1), 16), 16),
    "the most edges": (lambda: kept(agg.histogram(range(2**16)), 1000), 1000),
    "the most of the largest": (lambda: kept(agg.topk(2**20), 32), 32),
    "a window longer than all values": (
        lambda: sash.DabaLite(agg.sum()).slide([1.0, 2.0], 2**63 - 1).tolist(),
        [1.0, 3.0],
    ),
}


def in_bounds(call: Callable[[], Any]) -> str:
    """What a call comes to, in a process of its own with little memory and time."""
    end, begin = os.pipe()
    child = os.fork()
    if child == 0:
        _limit()
        try:
            words = f"done: {call()!r}"
        except (ValueError, TypeError) as error:
            words = f"refused: {error}"
        except BaseException as error:
            words = f"{type(error).__name__}: {error}"
        os.write(begin, words[:1000].encode())
        os._exit(0)
    os.close(begin)
    with os.fdopen(end, "rb") as pipe:
        words = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return words if status == 0 else f"killed by {signal.Signals(os.WTERMSIG(status)).name}"


def _limit() -> None:
    with open("/proc/self/statm") as statm:  # noqa: PTH123 (no file)
        now = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    used = int(sum(os.times()[:2]))
    resource.setrlimit(resource.RLIMIT_CPU, (used + SECONDS, used + SECONDS))


def allocated() -> int:
    """Ask for more than there is: else no bound would be shown to hold."""
    return len(bytearray(4 * MEMORY))


if __name__ == "__main__":
    calls = {**REFUSED, **{case: call for case, (call, _) in DONE.items()}, "memory": allocated}
    print(json.dumps({case: in_bounds(call) for case, call in calls.items()}))
