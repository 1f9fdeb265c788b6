"""What a `WindowOperator` keeps: bytes of a key and of a slice, and what a snapshot takes."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa

import sash
from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.results import Result
from sash import agg
from sash.windows import Window

SECOND = 1_000_000


def _twenty() -> list[Window]:
    return [*(sash.tumbling(i * SECOND) for i in range(1, 21)), sash.session(SECOND)]


def memory(plan: Plan) -> Result:
    """Bytes of an idle key, by the windows it has, and of one of many slices."""
    keys = plan.pick(100_000, 1_000_000)
    result = Result("operator_memory", "what", "bytes", x_log=False)
    result.parameters |= {"keys": keys}
    cases: dict[str, tuple[list[Window], int]] = {
        "a key, tumbling": ([sash.tumbling(SECOND)], 0),
        "a key, tumbling, told, with lateness": ([sash.tumbling(SECOND)], SECOND),
        "a key, 20 tumbling and a session": (_twenty(), 0),
        "a key, the last 100 rows": ([sash.windows.rolling(rows=100)], 0),
    }
    for name, (windows, lateness) in cases.items():
        op = sash.WindowOperator(
            on="t", by="k", windows=windows, aggs=agg.sum("x"), lateness=lateness
        )
        rows = pa.table({"t": np.arange(keys) % 7, "x": np.ones(keys), "k": np.arange(keys)})
        op.process(rows)
        if lateness:
            assert op.advance(SECOND).num_rows == keys, "each key has a window"
        result.add("WindowOperator", name, [op.nbytes / keys])
    slices = plan.pick(1_000_000, 10_000_000)
    op = _one_key(slices)
    result.add("WindowOperator", f"one of {slices:,} slices", [op.nbytes / op.slices])
    result.checks.append("every key's window was told once; there are as many slices as rows")
    return result


def _empty(slices: int) -> sash.WindowOperator:
    return sash.WindowOperator(on="t", windows=sash.sliding(slices, 1), aggs=agg.sum("x"))


def _one_key(slices: int) -> sash.WindowOperator:
    op = _empty(slices)
    op.process(pa.table({"t": np.arange(slices), "x": np.ones(slices)}))
    assert op.slices == slices
    return op


def snapshots(plan: Plan) -> Result:
    """Milliseconds and bytes of a whole snapshot and of what 1,000 late rows changed, by slices."""
    result = Result("operator_snapshots", "slices of one key", "ms, or MB")
    rng = np.random.default_rng(7)
    for slices in plan.pick((10_000, 100_000, 1_000_000), (100_000, 1_000_000, 10_000_000)):
        op = _one_key(slices)
        runs = []
        for _ in range(3):
            whole, ms = _ms(op.snapshot)
            runs.append(ms)
        result.add("snapshot, ms", slices, runs)
        result.add("snapshot, MB", slices, [len(whole) / 1e6])
        runs = []
        for _ in range(20):
            late = pa.table({"t": rng.integers(0, slices, 1000), "x": np.ones(1000)})
            op.process(late)
            changes, ms = _ms(op.changes)
            runs.append(ms)
        result.add("changes of 1,000 rows, ms", slices, runs)
        result.add("changes of 1,000 rows, MB", slices, [len(changes) / 1e6])
        again = _empty(slices)
        again.restore(whole)
        assert again.slices == slices
    result.checks.append("a restored operator has the same slices")
    return result


def _ms(work: Callable[[], bytes]) -> tuple[bytes, float]:
    start = time.perf_counter()
    found = work()
    return found, (time.perf_counter() - start) * 1000


def judge_memory(result: Result) -> Verdict:
    """A few words a key."""
    points = result.line("WindowOperator").points
    parts = [f"{p.x}: {p.cost:.0f}" for p in points]
    return Verdict("yes" if max(p.cost for p in points) < 512 else "no", "; ".join(parts) + ".")


def judge_snapshots(result: Result) -> Verdict:
    """Changes cost what changed, not what is there."""
    changes, whole = result.line("changes of 1,000 rows, ms"), result.line("snapshot, ms")
    size = result.line("snapshot, MB").points[-1]
    first, last = changes.points[0], changes.points[-1]
    seen = (
        f"Changes of 1,000 late rows take {first.cost:.1f} ms of {first.x:,} slices and "
        f"{last.cost:.1f} ms of {last.x:,}; a whole snapshot of the latter "
        f"{whole.at(last.x) / 1000:.1f} s and {size.cost:.0f} MB."
    )
    flat = last.cost < 10 * first.cost and last.cost < whole.at(last.x) / 20
    return Verdict("yes" if flat else "no", seen)


EXPERIMENTS = [
    Experiment(
        name="operator_memory",
        group="scaling",
        title="What the operator keeps",
        claim="A key takes a few words, a slice its aggregate and its edge.",
        run=memory,
        judge=judge_memory,
    ),
    Experiment(
        name="operator_snapshots",
        group="scaling",
        title="Snapshots, whole and of what changed",
        claim="What changed since the last snapshot costs what changed, however much is kept.",
        run=snapshots,
        judge=judge_snapshots,
    ),
]
