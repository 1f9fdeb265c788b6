"""A streaming query without Spark: the code of shards over a simulated state store, with faults.

Everything follows from one seed (see ``simulator_plans.py``). A run is right if what it emits in
each micro-batch, as an idempotent sink would keep it, is what the same run emits without faults,
and if all of it together is what brute force says after each one (see ``simulator_checks.py``).
"""

from __future__ import annotations

import sys
import traceback
import zlib
from collections import namedtuple
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pyarrow as pa
from simulator_checks import Expected, Reader, compare_runs, expected_of, times_as_numbers
from simulator_plans import FAR, TYPES, Batch, Fuse, Plan, Query, Row, Task, Try, plan_of
from store import Store

from sash._bound import columns_read
from sash.spark import _live_shards, _pack, _shard_log, _shards
from sash.spark import _windows_task as task_module
from sash.spark._keep_rolling import RollingKeeper, RollingQuery
from sash.spark._keep_windows import WindowKeeper
from sash.spark._metrics import Counters
from sash.spark._pack import CELLS, SHARD, Pack, Unpack, labels_of
from sash.spark._shards import COUNTS, LATE, Shards, processor
from sash.spark._types import as_carried

WEIGHTS = {"": (4000, 500), "never": (1 << 60, 500), "always": (0, 1 << 60)}
"""By `Task.compact`: the least size of a snapshot that is replaced, and the least of changes."""
SIMULATED = "as simulated"


class Crash(BaseException):
    """A worker dies."""


class SimulatedStore(Store):
    """The state of one shard, of which a call may raise."""

    fuse = 0
    error: type[BaseException] = OSError

    def call(self) -> None:
        super().call()
        self.fuse -= 1
        if self.fuse == 0:
            raise self.error(f"the state store failed, {SIMULATED}")

    def state(self) -> Any:
        """What was written, committed or not."""
        return self._now

    def adopt(self, state: Any) -> None:
        """Commit what an attempt has written."""
        self._now = state
        self.commit()


@dataclass
class Emitted:
    """What a shard has emitted in a micro-batch."""

    rows: list[pa.Table]
    counts: list[dict[str, int]]

    @cached_property
    def listed(self) -> list[str]:
        rows = (row for table in self.rows for row in times_as_numbers(table).to_pylist())
        return sorted(map(str, rows))

    @property
    def totals(self) -> dict[str, int]:
        return {name: sum(c[name] for c in self.counts) for name in COUNTS}


@dataclass
class Log:
    """What a query has emitted and committed, by micro-batch and shard."""

    batches: list[dict[int, Emitted]] = field(default_factory=list)
    contents: list[list[str]] = field(default_factory=list)
    """What the states have in them after each micro-batch."""


Cell = namedtuple("Cell", CELLS.names)


@dataclass
class Frame:
    """What shards need of a frame of pandas, at a fraction of its cost."""

    cells: list[Cell]

    def itertuples(self, index: bool) -> Iterator[Cell]:
        assert not index
        return iter(self.cells)


@dataclass
class _Part:
    number: int

    def partitionId(self) -> int:  # noqa: N802
        return self.number


@dataclass
class _Timers:
    watermark: int

    def getCurrentWatermarkInMs(self) -> int:  # noqa: N802
        return self.watermark


class Cluster:
    """Runs a plan; with the log of the run without faults, if this is not that run."""

    def __init__(self, plan: Plan, expected: list[Expected], wanted: Log | None = None) -> None:
        self.plan, self.query, self.wanted = plan, plan.query, wanted
        self.labels = labels_of(self.query.shards)
        self.stores = {label: SimulatedStore() for label in self.labels}
        self.memories: dict[int, dict[Any, Any]] = {}
        self.runs = 0
        self.clock = 0.0
        self.watermark = 0
        self.log = Log()
        self.reader = Reader(plan, expected)
        self.shards = shards_of(self.query)
        with mock.patch.dict(sys.modules, pandas=SimpleNamespace(DataFrame=dict)):
            self.processor = type(processor(self.shards))
        self.starts: list[tuple[int, dict[int, Any]]] = []
        """The watermark and the committed states before each micro-batch."""
        self.trace: list[str] = []
        self.steps = 0
        """Attempts to run a shard."""

    def run(self) -> Log:
        with ExitStack() as stack:
            for module, name, value in (
                (_shards, "CHUNK", self.query.chunk), (_shard_log, "PIECE", 1000),
                (_pack, "_MOST_ROWS", 4), (_shards, "_run_id", lambda: f"run {self.runs}"),
                (_live_shards, "time", SimpleNamespace(monotonic=lambda: self.clock)),
            ):  # fmt: skip
                stack.enter_context(mock.patch.object(module, name, value))
            for number, batch in enumerate(self.plan.batches):
                self._batch(batch, number)
                if batch.replay:
                    self._replay(max(0, number + 1 - batch.replay), number)
        return self.log

    def _batch(self, batch: Batch, number: int) -> None:
        self.trace.append(f"batch {number}, watermark {self.watermark} ms:")
        self.trace += [f"    {row}" for row in batch.rows]
        if batch.filtered is not None:
            self.trace.append(f"    a row at t={batch.filtered} that a filter removes")
        self.starts.append((self.watermark, self._committed()))
        cells = self._cells(batch.rows, number)
        emitted: dict[int, Emitted] = {}
        for attempt in batch.tries:
            self.trace.append("  attempt that is not committed:")
            self._try(attempt, cells, emitted)
            self._end(attempt)
        self.trace.append("  attempt that is committed:")
        self.log.batches.append(self._commit(batch, cells, emitted))
        self.log.contents.append(self._live(number) if self.wanted is None else self._saved(number))
        self.reader.read(number, list(self.log.batches[-1].values()), self.watermark)
        if self.wanted is not None:
            compare_runs(number, self.log, self.wanted)
        self.watermark = batch.watermark(self.watermark, self.query.delay)

    def _commit(
        self, batch: Batch, cells: dict[int, list[Cell]], emitted: dict[int, Emitted]
    ) -> dict[int, Emitted]:
        """Run a micro-batch, commit the states, and return what counts as emitted."""
        won = self._try(batch.commit, cells, emitted)
        for label in self._busy(cells):
            if label not in won:
                task = Task(self.labels.index(label), 0)
                won[label] = self._checked(task, cells, emitted)
        for label, state in won.items():
            self.stores[label].adopt(state)
        self._end(batch.commit)
        return {label: emitted[label] for label in self.labels if label in won}

    def _replay(self, first: int, last: int) -> None:
        """Run micro-batches again, from the state before them; they must emit the same."""
        self.runs += 1
        self.watermark, states = self.starts[first]
        for label, state in states.items():
            self.stores[label].adopt(state)
        for number in range(first, last + 1):
            self.trace.append(f"batch {number} again, after a restart from an older state:")
            batch, before = self.plan.batches[number], self.log.batches[number]
            found = self._commit(batch, self._cells(batch.rows, number), dict(before))
            assert set(found) == set(before), f"now the shards {set(found)} emit, not {set(before)}"
            self.watermark = batch.watermark(self.watermark, self.query.delay)

    def _committed(self) -> dict[int, Any]:
        for store in self.stores.values():
            store.roll_back()
        return {label: store.state() for label, store in self.stores.items()}

    def _end(self, attempt: Try) -> None:
        for worker in attempt.killed:
            self.memories.pop(worker, None)
        self.clock += 1000.0 if attempt.idle else 1.0
        self.runs += attempt.restart
        self.trace.append(f"    then {attempt.end()}")

    def _busy(self, cells: dict[int, list[Cell]]) -> list[int]:
        """Shards that have rows, or a timer that Spark would call."""
        for store in self.stores.values():
            store.roll_back()
        due = [label for label, store in self.stores.items() if store.due(self.watermark)]
        return [label for label in self.labels if label in cells or label in due]

    def _try(
        self, attempt: Try, cells: dict[int, list[Cell]], emitted: dict[int, Emitted]
    ) -> dict[int, Any]:
        """Run the tasks; return the states of shards for which one has succeeded."""
        won: dict[int, Any] = {}
        for task in attempt.tasks:
            state = self._checked(task, cells, emitted)
            label = self.labels[task.shard]
            if state is not None and not (attempt.first_wins and label in won):
                won[label] = state
        return won

    def _checked(
        self, task: Task, cells: dict[int, list[Cell]], emitted: dict[int, Emitted]
    ) -> Any:
        """Run a task; return its state, if it succeeded. All attempts must emit the same rows."""
        label = self.labels[task.shard]
        if label not in self._busy(cells):
            return None
        self.steps += 1
        self.trace.append(f"    {task}")
        found = self._run(task, cells.get(label))
        if found is None:
            return None
        self.trace += [f"      emits {row}" for row in found.listed]
        before = emitted.setdefault(label, found)
        assert before.listed == found.listed, (
            f"attempts emit different rows: {before.listed} and {found.listed} in {task}"
        )
        assert before.totals == found.totals, (
            f"attempts count differently: {before.totals} and {found.totals} in {task}"
        )
        kept = self.stores[label].shard(label)
        assert len(kept["timers"]) <= 1, f"shard {label} has the timers {kept['timers']}"
        return self.stores[label].state()

    def _run(self, task: Task, cells: list[Cell] | None) -> Emitted | None:
        """Run a task; ``None``: it failed, as it was to."""
        if task.fault == "start":
            self.memories.pop(task.worker, None)
            return None
        label = self.labels[task.shard]
        store = self.stores[label]
        store.fuse = task.n if task.fault in ("call", "crash") else 0
        store.error = Crash if task.fault == "crash" else OSError
        Fuse.left = task.n if task.fault == "user" else -1
        try:
            with self._worker(task):
                frames = self._frames(label, cells)
                found = list(islice(frames, task.n) if task.fault == "output" else frames)
                frames.close()
        except Crash:
            self.memories.pop(task.worker, None)
            return None
        except Exception as error:
            if SIMULATED not in str(error):
                raise
            return None
        finally:
            Fuse.left = -1
            store.fuse = 0
        return None if task.fault == "output" else _emitted(found)

    @contextmanager
    def _worker(self, task: Task) -> Iterator[None]:
        least_base, least_weight = WEIGHTS[task.compact]
        _live_shards._live.clear()
        _live_shards._live.update(self.memories.get(task.worker, {}))
        with (
            mock.patch.object(_shard_log, "LEAST_BASE", least_base),
            mock.patch.object(_shard_log, "LEAST_WEIGHT", least_weight),
        ):
            try:
                yield
            finally:
                self.memories[task.worker] = dict(_live_shards._live)
                _live_shards._live.clear()

    def _frames(self, label: int, cells: list[Cell] | None) -> Iterator[dict[str, list[Any]]]:
        """What a task does: rows first, then timers."""
        store, timers = self.stores[label], _Timers(self.watermark)
        spark = self.processor()
        spark.init(store.handle(label))
        if cells is not None:
            yield from spark.handleInputRows((label,), iter([Frame(cells)]), timers)
        kept = store.shard(label)
        for timer in sorted(t for t in kept["timers"] if t <= self.watermark):
            yield from spark.handleExpiredTimer((label,), timers, timer)
            kept["timers"].discard(timer)
        spark.close()

    def _cells(self, rows: list[Row], number: int) -> dict[int, list[Cell]]:
        """Rows on their way to shards, out of the order they were packed in."""
        found: dict[int, list[Cell]] = {}
        if not rows and number % 2:
            return found  # as Spark does where nothing but the watermark is new
        for part in range(2):
            table = table_of([r for r in rows if r.part == part], self.shards.query.names)
            if self.query.by:
                places = [place_of(r.k, self.query.shards) for r in rows if r.part == part]
                table = table.append_column(SHARD, pa.array(places, pa.int32()))
            with mock.patch.object(_pack, "task_context", lambda part=part: _Part(part)):
                packed = list(Pack(self.labels)(table.to_batches()))
            for batch in reversed(packed):
                cell = Cell(**batch.to_pylist()[0])
                found.setdefault(cell.shard, []).append(cell)
        return found

    def _live(self, number: int) -> list[str]:
        """What is in the memory of a worker that has never been restored."""
        make, query = self.shards.keeper, self.shards.query
        live = [entry.keeper for entry in self.memories.get(0, {}).values()]
        return self._contents((make(query, [state.all_again()]) for state in live), number)

    def _saved(self, number: int) -> list[str]:
        """What is in the committed states."""
        states = (self._restored(label) for label in self.labels if self._has(label))
        return self._contents(states, number)

    def _has(self, label: int) -> bool:
        self.stores[label].roll_back()
        manifest = self.stores[label].log(label).manifest
        return manifest is not None and manifest.last >= 0

    def _restored(self, label: int) -> Any:
        log = self.stores[label].log(label)
        assert log.manifest is not None
        return self.shards.keeper(self.shards.query, log.entries(log.manifest.base))

    def _contents(self, states: Iterable[Any], number: int) -> list[str]:
        """What states have in them: open windows, and what they emit if some rows come."""
        return sorted(line for state in states for line in self._probe(state, number))

    def _probe(self, state: Any, number: int) -> Iterator[str]:
        if self.watermark > 0:
            late = _lines(state.advance(self.watermark * 1000))
            assert not late, f"not emitted by the watermark {self.watermark}: {late}"
        windows = state._windows.windows() if self.query.rolling else state.windows()
        for row in times_as_numbers(windows).to_pylist():
            yield f"open: {row}"
        rows = self.plan.probe(number)
        yield from _lines(state.process(table_of(rows, self.shards.query.names)))
        yield from _lines(state.advance(rows[-1].t + FAR))


def _lines(table: pa.Table) -> list[str]:
    return [f"emitted if rows come: {row}" for row in times_as_numbers(table).to_pylist()]


def _emitted(frames: list[dict[str, list[Any]]]) -> Emitted:
    cells = pa.record_batch({"cell": pa.array([f["cell"][0] for f in frames], pa.binary())})
    rows = [pa.Table.from_batches([batch]) for batch in Unpack()([cells])]
    return Emitted(rows, [{name: int(f[name][0]) for name in COUNTS} for f in frames])


def place_of(key: str | None, shards: int) -> int:
    return 0 if key is None else zlib.crc32(key.encode()) % shards


def table_of(rows: list[Row], names: list[str]) -> pa.Table:
    columns = {
        "t": [r.t for r in rows], "k": [r.k for r in rows], "v": [r.v for r in rows],
        "x": [r.x for r in rows], "high": [r.x > 3 for r in rows], "low": [r.x < 0 for r in rows],
        "n": [r.n for r in rows],
    }  # fmt: skip
    return pa.table({name: pa.array(columns[name], TYPES[name]) for name in names})


def shards_of(query: Query) -> Shards:
    """What the plan of such a query makes."""
    arguments = {
        "on": "t", "by": query.by, "windows": query.made, "aggs": query.aggs,
        "lateness": query.lateness, "emit": query.emit,
    }  # fmt: skip
    read = dict.fromkeys(n for _, n in columns_read(sash_operator(arguments)))
    types = {name: TYPES[name] for name in read}
    about = {"rows": query.rolling}
    if query.rolling:
        outputs = [a.output for a in query.aggs]
        rolling = RollingQuery(
            arguments, types, query.by, Counters(), list(TYPES), dict(TYPES), outputs
        )
        told = as_carried(WindowKeeper(rolling).advance(-1).schema)
        added = [told.field(n) for n in (*outputs, "revision", "change")]
        result, late = pa.schema([*TYPES.items(), *added]), "row" if query.late_rows else None
        return Shards(RollingKeeper, rolling, "plan", query.shards, about, result, late)
    names = list(TYPES) if query.late_rows else list(types)
    asked = task_module.Query(arguments, types, query.by, Counters(), names)
    result = as_carried(WindowKeeper(asked).advance(-1).schema)
    if query.late_rows:
        result = result.append(pa.field(LATE, pa.struct(list(TYPES.items()))))
    late = "struct" if query.late_rows else None
    return Shards(WindowKeeper, asked, "plan", query.shards, about, result, late)


def sash_operator(arguments: dict[str, Any]) -> Any:
    return task_module.WindowOperator(**arguments)


@dataclass
class Failure:
    """What is wrong with a plan."""

    message: str
    trace: list[str]
    """All that happened until then."""
    steps: int
    """Attempts to run a shard until then."""

    @property
    def kind(self) -> str:
        return self.message.split(":", maxsplit=1)[0]


def failure_of(plan: Plan) -> Failure | None:
    """Run a plan without its faults, then with them; return what is wrong, if anything is."""
    expected = expected_of(plan)
    cluster = Cluster(plan.without_faults(), expected)
    steps = 0
    try:
        wanted = cluster.run()
        steps = cluster.steps
        cluster = Cluster(plan, expected, wanted)
        cluster.run()
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{type(error).__name__} in {where.name}: {error}"
        return Failure(message, cluster.trace, steps + cluster.steps)
    return None


def simulate(seed: int) -> str | None:
    """Run a seed; return what is wrong, with the steps of a smaller plan, if anything is."""
    plan = plan_of(seed)
    failure = failure_of(plan)
    if failure is None:
        return None
    from simulator_shrink import shrunk

    small, last = shrunk(plan, failure)
    return "\n".join([
        f"seed {seed} fails after {failure.steps} steps: {failure.message}",
        f"run it alone: python tools/simulate.py --seed {seed}",
        f"a smaller plan fails after {last.steps} steps:", *small.lines(), *last.trace,
        f"there: {last.message}",
    ])  # fmt: skip
