"""Streaming queries with simulated crashes, retries, replays and worker moves (see simulator.py).

``make test-full`` runs more seeds, and ``tools/simulate.py`` any number of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import simulator_shrink
from simulator import failure_of, simulate
from simulator_plans import AGGREGATES, BY_ROWS, MAKERS, Batch, Plan, Try, plan_of

from sash._bound import EMITS
from sash._keys import Keys
from sash.spark import _live_shards
from sash.spark._keep_windows import WindowKeeper
from sash.spark._shard_log import ShardLog

HERE = Path(__file__).parent
FEW = 60
MANY = 1000


@pytest.mark.parametrize(
    "seed", [s if s < FEW else pytest.param(s, marks=pytest.mark.full) for s in range(MANY)]
)
def test_emits_what_it_should(seed: int) -> None:
    failure = simulate(seed)
    assert failure is None, failure


def _events(plan: Plan) -> Iterator[Any]:
    """Yield what a plan has in it."""
    query = plan.query
    yield from query.windows
    yield from query.aggregates
    yield from ((kind in BY_ROWS, query.emit, bool(query.keys)) for kind in query.windows)
    yield "sash.spark.rolling" if query.rolling else "sash.spark.windows"
    for batch in plan.batches:
        yield from _events_of_batch(batch)


def _events_of_batch(batch: Batch) -> Iterator[str]:
    yield "replay" if batch.replay else ""
    yield "watermark ahead of the rows" if batch.filtered is not None else ""
    yield "attempt that is not committed" if batch.tries else ""
    for attempt in (*batch.tries, batch.commit):
        yield from (task.fault for task in attempt.tasks)
        yield from (f"compacts {task.compact}" for task in attempt.tasks)
        yield "worker killed" if attempt.killed else ""
        yield "restart" if attempt.restart else ""
        yield "pause" if attempt.idle else ""
        if _succeeds_twice(attempt):
            yield f"two attempts succeed, the {'first' if attempt.first_wins else 'last'} counts"


def _succeeds_twice(attempt: Try) -> bool:
    shards = [task.shard for task in attempt.tasks if not task.fault]
    return len(set(shards)) < len(shards)


def test_the_seeds_cover_all_there_is() -> None:
    seen = {event for seed in range(FEW) for event in _events(plan_of(seed))}
    queries = {(rows, emit, keys) for rows in (0, 1) for emit in EMITS for keys in (0, 1)}
    wanted: set[Any] = {
        *MAKERS, *AGGREGATES, *queries, "sash.spark.rolling", "sash.spark.windows", "replay",
        "watermark ahead of the rows", "attempt that is not committed", "call", "crash", "output",
        "user", "start", "compacts always", "compacts never", "worker killed", "restart", "pause",
        "two attempts succeed, the first counts", "two attempts succeed, the last counts",
    }  # fmt: skip
    assert wanted - seen == set()


DIGEST = """
import hashlib, sys
sys.path[:0] = sys.argv[1:3]
from simulator import Cluster, expected_of, plan_of
found = hashlib.sha256()
for seed in range(4):
    plan = plan_of(seed)
    expected = expected_of(plan)
    wanted = Cluster(plan.without_faults(), expected).run()
    cluster = Cluster(plan, expected, wanted)
    cluster.run()
    found.update("\\n".join([*plan.lines()[:1], *cluster.trace]).encode())
print(found.hexdigest())
"""


def test_a_seed_is_always_the_same_run() -> None:
    """Whatever the seed of Python's hashes is."""
    digests = [
        subprocess.run(
            [sys.executable, "-c", DIGEST, str(HERE.parent), str(HERE)],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]  # fmt: skip
    assert len(digests[0]) > 60
    assert digests[0] == digests[1]


# ---- bugs that it must find -----------------------------------------------------------------


def _trust_memory(key: Any, log: ShardLog, make: Any) -> Any:
    """Take a shard from memory, whatever the store has."""
    live = _live_shards._live.pop(key, None)
    manifest = log.manifest
    if manifest is None or manifest.last < 0:
        return make()
    return make(log.entries(manifest.base)) if live is None else live.keeper


def _leave_in_memory(take: Callable[..., Any]) -> Callable[..., Any]:
    """A shard stays in memory while it is changed."""

    def leaving(key: Any, log: ShardLog, make: Any) -> Any:
        state = take(key, log, make)
        _live_shards.give_back(key, log, state)
        return state

    return leaving


def _never_wake(log: ShardLog, timer: int | None, fired: bool) -> bool:
    return False


def _forget_in_silence(forget: Callable[..., None]) -> Callable[..., None]:
    """Changes of a query without keys do not say that all rows are gone."""
    return lambda keys, ids, noted=False: forget(keys, ids, noted and bool(keys.names))


def _start_again(process: Callable[..., pa.Table]) -> Callable[..., pa.Table]:
    """A window that was retracted and returns has revision 0."""

    def starting(state: WindowKeeper, rows: pa.Table) -> pa.Table:
        found = process(state, rows)
        new = pc.is_in(found["change"], pa.array(["complete", "insert"]))
        revisions = pc.if_else(new, pa.scalar(0, pa.int32()), found["revision"])
        return found.set_column(found.column_names.index("revision"), "revision", revisions)

    return starting


PLANTED: dict[str, tuple[int, tuple[Any, str, Any]]] = {
    "memory is trusted": (0, (_live_shards, "take", _trust_memory)),
    "memory of failed attempts is kept": (
        45, (_live_shards, "take", _leave_in_memory(_live_shards.take)),
    ),
    "no timers are set": (0, (ShardLog, "wake", _never_wake)),
    "changes keep rows that are gone": (35, (Keys, "forget", _forget_in_silence(Keys.forget))),
    "revisions start again": (30, (WindowKeeper, "process", _start_again(WindowKeeper.process))),
}  # fmt: skip
"""A seed that finds each, which is tried first, and what to replace."""


@pytest.mark.parametrize("bug", PLANTED)
def test_finds_a_planted_bug(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seed, planted = PLANTED[bug]
    monkeypatch.setattr(*planted)
    assert any(failure_of(plan_of(s)) for s in (seed, *range(FEW)))


def test_a_failure_says_how_to_see_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seed, planted = PLANTED["no timers are set"]
    monkeypatch.setattr(*planted)
    monkeypatch.setattr(simulator_shrink, "MOST", 20)
    found = simulate(seed)
    assert found is not None
    first, again, *steps = found.splitlines()
    assert first.startswith(f"seed {seed} fails after ")
    assert again == f"run it alone: python tools/simulate.py --seed {seed}"
    assert any(step.startswith("batch 0, watermark") for step in steps)
    original = failure_of(plan_of(seed))
    assert original is not None
    assert len(steps) < len(original.trace)
