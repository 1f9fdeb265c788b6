"""What Sash reads from others, with anything in it: snapshots, states, checkpoints, job files.

`run` turns bytes into choices: what is read, and how it was damaged. What is read must be refused
with the exception that is documented for it, or be of use. A fuzzer finds the bytes
(tools/fuzz_bytes.py); a test runs those that were worth keeping (test_hostile_bytes.py).
"""

from __future__ import annotations

import functools
import json
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from cases import STRUCTURES
from damage import Buffers, Choices, Header, damaged_json, packed, unpacked
from test_hostile_snapshots import filled, used

import sash
from sash import SnapshotError, TimedWindow, _snapshot, _states, agg
from sash._operator_snapshot import _BUFFERS

HERE = Path(__file__).parent
# ---- windows -------------------------------------------------------------------------------------

NATIVE: list[Any] = [
    agg.sum(dtype=int),
    [agg.sum(dtype=int), agg.count(), agg.histogram([0.0, 5.0])],
    [agg.topk(3, dtype=int), agg.nth_youngest(3, dtype=int)],
    [agg.mean(), agg.max(), agg.hll(lg_k=4)],
]
PYTHON: list[Any] = [agg.collect(), [agg.distinct(), agg.sum(dtype=int)]]
TREES = [sash.FingerTree, sash.ClassicTree]


def _subtracts(aggregate: Any) -> bool:
    return aggregate in (NATIVE[0], NATIVE[1])


@functools.cache
def saved_windows() -> list[tuple[Callable[[bytes], Any], bool, Header, Buffers]]:
    """How each is restored, whether it is native, and what a good one consists of."""
    found = []
    for aggregate in [*NATIVE, *PYTHON]:
        windows: list[tuple[Any, Callable[[bytes], Any]]] = []
        for kind in STRUCTURES:
            if kind is not sash.SubtractOnEvict or _subtracts(aggregate):
                windows.append(
                    (filled(kind(aggregate)), functools.partial(_again, kind, aggregate))
                )
        for tree in TREES:
            window = tree(aggregate)
            window.bulk_insert(range(9), range(9))
            windows.append((window, functools.partial(_again, tree, aggregate)))
        windows.append(
            (filled(TimedWindow(aggregate)), functools.partial(_again, TimedWindow, aggregate))
        )
        for window, again in windows:
            parts = unpacked(window.snapshot(), _snapshot.COLUMNS)
            found.append((again, aggregate in NATIVE, *parts))
    return found


def _again(kind: Any, aggregate: Any, data: bytes) -> Any:
    return kind.restore(data, aggregate)


def hostile_window(choices: Choices) -> None:
    restore, native, header, buffers = choices.of(saved_windows())
    try:
        window = restore(packed(header, buffers, choices))
    except SnapshotError:
        return
    allowed = OverflowError if native else Exception  # Python's functions meet states of any type
    with suppress(allowed):
        if isinstance(window, sash.FingerTree | sash.ClassicTree):
            use_tree(window)
        else:
            used(window)


def use_tree(tree: Any) -> None:
    with suppress(OverflowError):  # a sum of strange numbers; the tree is sound all the same
        tree.query()
    tree.check_invariants()
    for i in range(40):
        tree.insert(2**62 - i, i)
    tree.query(2**62 - 9, 2**62)
    tree.bulk_evict(2**62 - 30)
    tree.check_invariants()
    tree.query()
    tree.clear()


def garbage_for_window(choices: Choices) -> None:
    restore, _, _, _ = choices.of(saved_windows())
    with suppress(SnapshotError):
        restore(choices.rest())


# ---- operators -----------------------------------------------------------------------------------

WINDOW_SETS: list[list[Any]] = [
    [sash.tumbling(10), sash.sliding(20, 5), sash.session(4)],
    [sash.windows.rolling(7), sash.session(3)],
    [sash.tumbling(rows=3), sash.sliding(rows=4, slide=2), sash.tumbling(5)],
]
ROWS = pa.table({"t": [1, 4, 12, 3, 30, 18], "k": list("abcaab"), "x": [5, 1, 3, 2, 2, 7]})


def operator(number: int) -> sash.WindowOperator:
    emit = ("complete", "updates", "changelog")[number % 3]
    aggs = [agg.sum("x"), agg.count(), agg.max("x")]
    return sash.WindowOperator(
        on="t", by="k", windows=WINDOW_SETS[number % 3], aggs=aggs, lateness=15, emit=emit
    )


@functools.cache
def saved_operators() -> list[list[tuple[Header, Buffers]]]:
    """A snapshot, and the changes made since."""
    found = []
    for number in range(len(WINDOW_SETS)):
        op = operator(number)
        op.process(ROWS)
        op.advance(14)
        data = [op.snapshot()]
        op.process(ROWS.slice(4))
        op.advance(20)
        found.append([unpacked(one, _BUFFERS) for one in (*data, op.changes())])
    return found


def hostile_operator(choices: Choices) -> None:
    number = choices.below(len(WINDOW_SETS))
    parts = saved_operators()[number]
    which = choices.below(len(parts))
    data = [
        packed(*part, choices) if i == which else _snapshot.pack(*part)
        for i, part in enumerate(parts)
    ]
    op = operator(number)
    try:
        op.restore(*data)
    except SnapshotError:
        return
    if not op._finished:
        use_operator(op)


def use_operator(op: sash.WindowOperator) -> None:
    with suppress(OverflowError):  # a sum of strange numbers
        op.process(ROWS)  # first, as it may be one that had no batch yet
        op.windows("a")
        op.advance(50)
        op.process(pa.table({"t": [40, 60], "k": ["a", "e"], "x": [1, 2]}))
        op.query("a")
        op.changes()
        other = op.snapshot()
        op.finish()
        assert other


def garbage_for_operator(choices: Choices) -> None:
    with suppress(SnapshotError):
        operator(choices.below(3)).restore(choices.rest())


# ---- states, checkpoints, jobs -------------------------------------------------------------------


def hostile_states(choices: Choices) -> None:
    data = choices.rest()
    if choices.one_in(2):
        data = json.dumps(damaged_json([["tuple", [["int", "0x5"], ["", "a"]]]], choices)).encode()
    try:
        states = _states.loads(data, None)
    except ValueError:
        return
    assert _states.loads(_states.dumps(states, None), None) is not None


def hostile_shard(choices: Choices) -> None:
    from hostile_shards import run_damaged

    run_damaged(choices)


@functools.cache
def job_texts() -> list[str]:
    return [p.read_text() for p in sorted((HERE / "jobs" / "good").glob("*.toml"))]


def hostile_job(choices: Choices) -> None:
    from sash import jobs

    lines = choices.of(job_texts()).splitlines(keepends=True)
    for _ in range(1 + choices.below(4)):
        at = choices.below(len(lines))
        key, equals, value = lines[at].partition("=")
        fresh = choices.some(choices.below(12)).decode("utf-8", "surrogateescape")
        options = [f"{key}{equals} {fresh}\n", f'{key}{equals} "{fresh}"\n', f"{fresh}\n", ""]
        options += [lines[at] * 2, f"{key}{equals} [{value.strip()}]\n", f"{fresh} = {value}"]
        lines[at] = choices.of(options)
    text = "".join(lines).encode("utf-8", "surrogateescape")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "job.toml")
        path.write_bytes(choices.rest() if choices.one_in(8) else text)
        with suppress(jobs.JobError):
            jobs.load(path)


TARGETS: list[Callable[[Choices], None]] = [
    hostile_window,
    garbage_for_window,
    hostile_operator,
    garbage_for_operator,
    hostile_states,
    hostile_shard,
    hostile_job,
    hostile_window,  # the most there is to damage
    hostile_operator,
]


def run(data: bytes) -> None:
    """Read something that the bytes choose."""
    choices = Choices(data)
    target = choices.of(TARGETS)
    target(choices)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        run(Path(name).read_bytes())
