"""What happens in a simulated streaming query, drawn from one integer: the query, rows and faults.

A plan is data. The same seed gives the same plan, and a plan with parts left out is a plan as well,
which is how a failure is made smaller.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import oracle
import pyarrow as pa

import sash
from sash import agg

TIME = pa.timestamp("us", "UTC")
TYPES = {
    "t": TIME, "k": pa.string(), "v": pa.int64(), "x": pa.int64(), "high": pa.bool_(),
    "low": pa.bool_(), "n": pa.int64(),
}  # fmt: skip
"""The columns: ``v`` is aggregated and may be null, the next three cut windows, ``n`` is unique."""
WORKERS = 3
EARLIEST = -1_000_000
"""Microseconds before all rows: the watermark where there is none yet."""
FAR = 10_000_000
"""Microseconds after which every window of a plan is over."""


def shifts(first: int, last: int) -> tuple[list[int], list[int]]:
    """Overlapping windows of changing length, in microseconds: [0, 4000), [4000, 13000), ..."""
    tens = range(first // 10_000 * 10_000 - 20_000, last + 20_000, 10_000)
    starts = [t for ten in tens for t in (ten, ten + 4000)]
    return starts, [t for ten in tens for t in (ten + 4000, ten + 13_000)]


class Fuse:
    """Lets the user-defined function raise at its n-th call, once."""

    left = -1

    @classmethod
    def burn(cls) -> None:
        cls.left -= 1
        if cls.left == 0:
            raise ZeroDivisionError("the user-defined function failed, as simulated")


def _joined(a: str, b: str) -> str:
    Fuse.burn()
    return a + b


JOIN = sash.monoid(_joined, lift=str, name="join", column="v", returns=str)
AGGREGATES: dict[str, tuple[sash.Aggregate, Callable[[list[Any]], Any]]] = {
    "sum": (agg.sum("v"), oracle.sum_),
    "count": (agg.count(), oracle.count_rows),
    "max": (agg.max("v"), oracle.max_),
    "mean": (agg.mean("v"), oracle.mean),
    "first": (agg.first("v"), oracle.first),
    "last": (agg.last("v"), oracle.last),
    "collect": (agg.collect("v"), oracle.collect),
    "concat": (agg.concat("v", separator="-"), oracle.concat("-")),
    "join": (JOIN, oracle.concat("")),
}
"""What is aggregated, and the same by brute force."""


def _low_changes(_: Any, low: Any) -> Any:
    return low[1:] != low[:-1]


MAKERS: dict[str, Callable[..., sash.windows.Window]] = {
    "tumbling": lambda r, name: sash.tumbling(_length(r), offset=r.choice([0, 700]), name=name),
    "sliding": lambda r, name: sash.sliding(*_sizes(r), name=name),
    "session": lambda r, name: sash.session(_length(r, 3), name=name),
    "rolling": lambda r, name: sash.windows.rolling(_length(r), name=name),
    "calendar": lambda r, name: sash.windows.calendar(shifts, name=name),
    "tumbling rows": lambda r, name: sash.tumbling(rows=r.randint(1, 4), name=name),
    "sliding rows": lambda r, name: sash.sliding(rows=4, slide=r.randint(1, 4), name=name),
    "rolling rows": lambda r, name: sash.windows.rolling(rows=r.randint(1, 4), name=name),
    "delta": lambda r, name: sash.windows.delta("x", r.randint(1, 6), name=name),
    "punctuation": lambda r, name: sash.windows.punctuation("high", name=name),
    "split": lambda r, name: sash.windows.split(_low_changes, "low", name=name),
}


BY_TIME = ["tumbling", "sliding", "session", "rolling", "calendar"]
BY_ROWS = [kind for kind in MAKERS if kind not in BY_TIME]


def _length(r: random.Random, most: int = 12) -> int:
    return r.randint(1, most) * r.choice([1000, 1000, 900])


def _sizes(r: random.Random) -> tuple[int, int]:
    slide = _length(r, 4)
    return slide * r.randint(1, 4) + r.choice([0, 300]), slide


@dataclass
class Query:
    """What is asked of the stream."""

    rolling: bool
    """Whether rows are returned with their aggregates; else windows are."""
    windows: list[str]
    """Their kinds."""
    drawn: int
    """What their sizes are drawn from."""
    aggregates: list[str]
    emit: str
    lateness: int
    delay: int
    """Of the watermark, in milliseconds."""
    keys: int
    """How many there are; 0: no ``by=``."""
    nulls: bool
    """Whether keys, times and values may be null."""
    unique: bool
    """Whether no two rows have the same time."""
    shards: int
    late_rows: bool
    chunk: int
    """The rows that a shard processes at once."""

    @cached_property
    def made(self) -> list[sash.windows.Window]:
        r = random.Random(self.drawn)
        return [MAKERS[kind](r, f"w{i}") for i, kind in enumerate(self.windows)]

    @property
    def by_rows(self) -> set[str]:
        return {w.name for w in self.made if w.by_rows}

    @property
    def by(self) -> list[str]:
        return ["k"] if self.keys else []

    @property
    def aggs(self) -> list[sash.Aggregate]:
        return [AGGREGATES[name][0] for name in self.aggregates]

    def fold(self, values: list[Any]) -> tuple[Any, ...]:
        return tuple(AGGREGATES[name][1](values) for name in self.aggregates)


@dataclass(frozen=True)
class Row:
    """A row, and the partition of the source that it is in."""

    k: str | None
    t: int | None
    v: int | None
    x: int
    n: int
    part: int


@dataclass(frozen=True)
class Task:
    """An attempt to run a shard's part of a micro-batch; the state it starts from is committed."""

    shard: int
    worker: int
    fault: str = ""
    """"call" or "crash" (at the n-th call of the state store), "output" (after n frames), "user"
    (at the n-th call of the user-defined function), "start" (before anything), or none."""
    n: int = 0
    compact: str = ""
    """Whether a snapshot takes the place of all entries: "always", "never", or by their sizes."""


@dataclass
class Try:
    """An attempt to run a micro-batch.

    Of the tasks of one shard that succeed, one's state counts. Shards with work that none of the
    tasks has done are run at the end of an attempt that commits.
    """

    tasks: list[Task] = field(default_factory=list)
    killed: list[int] = field(default_factory=list)
    """Workers that lose their memory at the end."""
    restart: bool = False
    """Whether the query starts anew afterwards, under another name."""
    first_wins: bool = False
    """Which of the tasks of one shard that succeed counts: the first, or the last."""
    idle: bool = False
    """Whether so much time passes afterwards that workers forget what they have in memory."""

    def end(self) -> str:
        """What happens afterwards, to be read."""
        said = [f"killing workers {self.killed}"] if self.killed else []
        said += ["a long pause"] if self.idle else []
        said += ["a restart"] if self.restart else []
        return ", ".join(said) or "nothing else"


@dataclass
class Batch:
    """A micro-batch: its rows, attempts that are not committed, and one that is."""

    rows: list[Row]
    tries: list[Try]
    commit: Try
    replay: int = 0
    """Afterwards the query restarts from an older state, and runs so many micro-batches again."""
    filtered: int | None = None
    """The time of a row that the watermark sees, and that a filter removes before the shards."""

    def watermark(self, before: int, delay: int) -> int:
        """Return the watermark of the next micro-batch, in milliseconds."""
        times = [t for t in (*(row.t for row in self.rows), self.filtered) if t is not None]
        return max([before, *(t // 1000 - delay for t in times)])


@dataclass
class Plan:
    """All that happens."""

    seed: int
    query: Query
    batches: list[Batch]

    def without_faults(self) -> Plan:
        tasks = [Task(shard, 0, compact="never") for shard in range(self.query.shards)]
        clean = [replace(b, tries=[], commit=Try(tasks), replay=0) for b in self.batches]
        return Plan(self.seed, self.query, clean)

    def probe(self, number: int) -> list[Row]:
        """Return rows after all of the first micro-batches, two for each key, which cut windows."""
        seen = self.batches[: number + 1]
        times = [t for b in seen for t in (*(r.t for r in b.rows), b.filtered) if t is not None]
        keys = [*sorted({row.k for b in seen for row in b.rows if row.k is not None}), None]
        first = max(times, default=0) + FAR
        return [
            Row(key, first + i * 1000, 1, x, 0, 0)
            for i, (key, x) in enumerate((key, x) for x in (5, -5) for key in keys)
        ]

    def lines(self) -> list[str]:
        """The query, to be read."""
        return [f"seed {self.seed}: {self.query}", *(f"  {w!r}" for w in self.query.made)]


def plan_of(seed: int) -> Plan:
    """Return what happens with this seed."""
    r = random.Random(seed)
    query = _query(r)
    rows = _Rows(r, query)
    batches = [_batch(r, query, rows.some(), rows.filtered()) for _ in range(r.randint(2, 9))]
    last = rows.end()
    batches.append(_batch(r, query, last, None if last else rows.last))
    return Plan(seed, query, [*batches, _batch(r, query, [], None), _batch(r, query, [], None)])


def _query(r: random.Random) -> Query:
    rolling = r.random() < 0.2
    count = 1 if rolling else r.choice([1, 1, 2, 3])
    some = r.choice([list(MAKERS), BY_TIME, BY_ROWS])
    kinds = ["rolling"] if rolling else [r.choice(some) for _ in range(count)]
    keys = r.choice([0, 0, 1, 3, 12])
    aggregates = r.sample(list(AGGREGATES), r.randint(1, 3))
    if "join" not in aggregates and r.random() < 0.2:
        aggregates.append("join")
    return Query(
        rolling, kinds, r.getrandbits(30), aggregates,
        "complete" if rolling else r.choice(["complete", "updates", "changelog"]),
        r.choice([0, 1000, 4500, 15_000]), r.choice([0, 1, 5, 12]), keys, r.random() < 0.5,
        r.random() < 0.5, r.choice([1, 2, 3]) if keys else 1, r.random() < 0.7,
        r.choice([1 << 20, 1 << 20, 3]),
    )  # fmt: skip


class _Rows:
    """Rows of which most are near a time that moves on, and some are late or very late."""

    def __init__(self, r: random.Random, query: Query) -> None:
        self._r, self._query = r, query
        self._now = r.choice([0, 0, -15_000, 1_700_000_000_000_000])
        self._ahead = r.choice([0.0, 0.0, 0.4])
        self._n = 0
        self._used: set[int] = set()

    def some(self) -> list[Row]:
        """The rows of the next micro-batch; sometimes none."""
        r = self._r
        self._now += r.choice([0, 500, 3000, 3000, 9000, 40_000])
        rows = [self._row(self._time()) for _ in range(r.choice([0, 1, 2, 5, 10, 25]))]
        if rows and not self._query.unique and r.random() < 0.3:  # the same once more
            self._n += 1
            rows.append(replace(rows[0], n=self._n))
        return rows

    def filtered(self) -> int | None:
        """A time that the watermark is to see, later than those of the rows; mostly none."""
        r = self._r
        if r.random() >= self._ahead:
            return None
        self._now += r.choice([8000, 20_000, 60_000])
        return self._now

    @property
    def last(self) -> int:
        """A time after everything, so that the watermark passes all windows."""
        return self._now + FAR

    def end(self) -> list[Row]:
        """A row at that time, or none."""
        return [replace(self._row(self.last), t=self.last)] if self._r.random() < 0.5 else []

    def _time(self) -> int:
        r = self._r
        back = r.choice([0, 0, 0, 2000, 10_000, 30_000])
        t = self._now + (r.randint(0, 24) - back // 250) * 250
        while self._query.unique and t in self._used:
            t += 7
        self._used.add(t)
        return t

    def _row(self, t: int) -> Row:
        r, nulls = self._r, self._query.nulls
        self._n += 1
        k = f"k{r.randrange(max(1, self._query.keys))}"
        return Row(
            None if nulls and r.random() < 0.15 else k,
            None if nulls and r.random() < 0.05 else t,
            None if nulls and r.random() < 0.2 else r.randint(-9, 9),
            r.randint(-5, 5), self._n, r.randrange(2),
        )  # fmt: skip


def _batch(r: random.Random, query: Query, rows: list[Row], filtered: int | None) -> Batch:
    tries = [_try(r, query, True) for _ in range(r.choice([0, 0, 0, 1, 1, 2]))]
    replay = r.randint(1, 3) if r.random() < 0.06 else 0
    return Batch(rows, tries, _try(r, query, False), replay, filtered)


def _try(r: random.Random, query: Query, fails: bool) -> Try:
    shards = [s for s in range(query.shards) for _ in range(r.choice([0, 1, 1, 1, 2, 3]))]
    r.shuffle(shards)  # a shard may be run twice, one after the other or beside the others
    tasks = [_task(r, query, shard) for shard in shards]
    killed = [w for w in range(WORKERS) if r.random() < 0.15]
    if r.random() < 0.1:
        killed = list(range(WORKERS))
    restart = r.random() < (0.3 if fails else 0.15)
    return Try(tasks, killed, restart, r.random() < 0.3, r.random() < 0.05)


def _task(r: random.Random, query: Query, shard: int) -> Task:
    compact = r.choice(["", "", "never", "always"])
    worker = shard % WORKERS if r.random() < 0.4 else r.randrange(WORKERS)
    if r.random() < 0.6:
        return Task(shard, worker, compact=compact)
    faults = ["call", "crash", "output", "start"]
    fault = r.choice([*faults, *["user"] * (4 if "join" in query.aggregates else 1)])
    return Task(shard, worker, fault, r.choice([1, 2, 3, 4, 5, 6, 8, 12, 20]), compact)
