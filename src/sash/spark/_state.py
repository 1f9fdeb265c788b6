"""The live windows of a streaming query, read from its checkpoint."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from sash._bound import Bound
from sash._compile import AggregateLike, aggregates_of
from sash._operator import WindowOperator
from sash._recipe import aggregate_of, aggregate_recipe, window_of, window_recipe
from sash.spark._frames import Frame, col, gathered, schema_of
from sash.spark._keep_rolling import entry_parts
from sash.spark._keep_windows import WindowKeeper
from sash.spark._live_shards import restored
from sash.spark._metrics import Counters
from sash.spark._pack import labels_of
from sash.spark._pyspark import map_in_arrow, pyspark_module
from sash.spark._rows import batches_out
from sash.spark._shard_log import Manifest, damaged, joined_pieces, read_manifest
from sash.spark._streams import place_of
from sash.spark._types import as_carried
from sash.spark._windows_task import Query
from sash.windows import Window


def about_query(op: WindowOperator, types: dict[str, pa.DataType], rows: bool) -> dict[str, Any]:
    """Return a query as far as it can be said in JSON; ``rows``: its rows come out again."""
    bound = Bound.of_types(op, types)
    schema = pa.schema(list(types.items())).serialize().to_pybytes()
    return {
        "on": op._on,
        "by": op._by,
        "windows": [window_recipe(w, *bound.clock.window(w)) for w in op._windows],
        "aggs": [aggregate_recipe(a) for a in op._aggregates],
        "lateness": bound.lateness,
        "emit": op._emit,
        "types": base64.b64encode(schema).decode(),
        "rows": rows,
    }


def state(
    checkpoint: str,
    *,
    windows: Window | Iterable[Window] | None = None,
    aggs: AggregateLike | None = None,
    batch: int | None = None,
    operator: int = 0,
    spark: Any = None,
) -> State:
    """Read what a streaming query keeps from its checkpoint, as of its last micro-batch.

    ``checkpoint`` is the query's ``checkpointLocation``; the query may be running or not.
    ``windows`` and ``aggs`` are needed only where they have functions of yours in them, which a
    checkpoint does not hold: give them as the query has them. ``batch`` asks for the state after an
    earlier micro-batch, ``operator`` for another stateful part than the first of the query.
    """
    return State(checkpoint, windows, aggs, batch, operator, spark)


class State:
    """What a streaming query keeps: its open windows, and those that late rows may change."""

    def __init__(
        self, checkpoint: Any, windows: Any, aggs: Any, batch: Any, operator: Any, spark: Any
    ) -> None:
        self._session = spark or pyspark_module("pyspark.sql").SparkSession.getActiveSession()
        if self._session is None:
            raise RuntimeError("there is no Spark session: make one, or give it as spark=")
        self._path, self._operator = str(checkpoint), operator
        self._batch = self._last_batch() if batch is None else batch
        found = self._variable("manifest").select("key.shard", "value.manifest").collect()
        if not found:
            raise ValueError(f"{self._path}: there is no state of Sash in this checkpoint yet")
        self._manifests = {row[0]: read_manifest(row[1], row[0]) for row in found}
        self._about: dict[str, Any] = next(iter(self._manifests.values())).query
        self._query = self._query_of(windows, aggs)

    def _last_batch(self) -> int:
        read = self._session.read.format("state-metadata").load(self._path)
        rows = read.where(col("operatorId") == self._operator).select("maxBatchId").collect()
        if not rows:
            raise ValueError(f"{self._path}: no query with state has come to a result here yet")
        return int(rows[0][0])

    def _variable(self, name: str) -> Any:
        read = self._session.read.format("statestore").option("stateVarName", name)
        read = read.option("batchId", self._batch).option("operatorId", self._operator)
        return read.load(self._path)

    def _query_of(self, windows: Any, aggs: Any) -> Query:
        about = self._about
        if windows is None:
            _refuse_unsaid("windows", about)
        if aggs is None:
            _refuse_unsaid("aggs", about)
        try:
            windows = [window_of(w) for w in about["windows"]] if windows is None else windows
            aggs = [aggregate_of(a) for a in about["aggs"]] if aggs is None else aggs
            data = base64.b64decode(about["types"])
            types = {f.name: f.type for f in pa.ipc.read_schema(pa.py_buffer(data))}
            others = {name: about[name] for name in ("on", "by", "lateness", "emit")}
            nullable = list(about["nullable"])
        except (LookupError, TypeError, ValueError, pa.ArrowException) as error:
            raise damaged(f"what was asked cannot be read ({error})") from error
        arguments = {**others, "windows": windows, "aggs": aggregates_of(aggs)[0]}
        return Query(arguments, types, nullable, Counters(), list(types))

    @property
    def batch(self) -> int:
        """The number of the micro-batch after which this is the state."""
        return self._batch

    def windows(self) -> Any:
        """Return a DataFrame of all windows that rows may still change, as they are.

        ``complete`` says whether the watermark has reached a window's end; ``revision`` how often
        it has been told since.
        """
        task = _Listing(self._query, self._manifests, self._about["rows"])
        entries = self._variable("entries").select("key.*", "user_map_key.*", "user_map_value.*")
        rows = gathered(entries, [col("shard")], None, [col("shard")])
        return map_in_arrow(rows, task, schema_of(task.result))

    def query(self, key: Any = None, t_from: Any = None, t_to: Any = None) -> dict[str, Any]:
        """Return the aggregates of a key's rows with ``t_from <= t < t_to``, of what is kept.

        As `WindowOperator.query`: slices are what is kept, so a time inside of one cannot be asked
        for, and ``None`` leaves an end open. Several columns of keys are a tuple.
        """
        keeper = self._keeper_of(self._shard_of(key))
        return keeper.query_range(self._key(key), t_from, t_to)

    def _key(self, key: Any) -> tuple[Any, ...]:
        by = self._query.by
        parts = tuple(key) if len(by) > 1 and isinstance(key, (tuple, list)) else (key,)
        if len(parts) != max(1, len(by)) or (not by and key is not None):
            raise ValueError(f"a key has {len(by)} parts ({', '.join(by)}): {key!r}")
        return parts if by else ()

    def _shard_of(self, key: Any) -> int:
        shards = next(iter(self._manifests.values())).shards
        by = self._query.by
        parts = list(zip(by, self._key(key), strict=True))
        if not by:
            return 0
        kinds = schema_of(pa.schema([(k, self._query.types[k]) for k in by]))
        try:
            row = pa.table({k: pa.array([p], self._query.types[k]) for k, p in parts})
        except (pa.ArrowException, TypeError, OverflowError) as error:
            raise TypeError(f"the key {key!r} is not of the types of {', '.join(by)}") from error
        frame = Frame(self._session.createDataFrame(row, schema=kinds), "state")
        place = frame.df.select(place_of(frame, by, shards).alias("place")).collect()
        return labels_of(shards)[int(place[0][0])]

    def _keeper_of(self, shard: int) -> WindowKeeper:
        if shard not in self._manifests:
            return WindowKeeper(self._query)
        rows = self._variable("entries").where(f"key.shard = {shard}")
        found = rows.select("user_map_key.*", "user_map_value.*").collect()
        rows = [r.asDict() for r in found]
        return _keeper(self._query, rows, self._manifests[shard], self._about["rows"])

    def __repr__(self) -> str:
        names = ", ".join(w.name for w in self._query.arguments["windows"])
        shards = f"{len(self._manifests)} shards"
        return f"<State of {names} after micro-batch {self._batch}: {shards}>"


def _refuse_unsaid(what: str, about: dict[str, Any]) -> None:
    if None in about.get(what, ()):
        raise ValueError(
            f"{what}: some have functions of yours in them, or arguments that are not plain "
            f"numbers and strings; the checkpoint does not hold those, so give {what}= as the "
            "query has them"
        )


def _keeper(
    query: Query, found: list[dict[str, Any]], manifest: Manifest, rows: bool
) -> WindowKeeper:
    """Return what keeps a shard, of the pieces of its entries."""
    pieces = {(row["entry"], row["piece"]): (row["pieces"], row["data"]) for row in found}

    def entries() -> Iterator[bytes]:
        for number in range(manifest.base, manifest.last + 1):
            entry = joined_pieces(number, pieces.get)
            yield entry_parts(entry)[0] if rows else entry

    keeper: WindowKeeper = restored(lambda: WindowKeeper(query, entries()))
    return keeper


class _Listing:
    """The entries of shards to their windows."""

    __name__ = "sash_state"

    def __init__(self, query: Query, manifests: dict[int, Manifest], rows: bool) -> None:
        self._query, self._manifests, self._rows = query, manifests, rows
        self.result = as_carried(WindowKeeper(query).windows().schema)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """List the windows of a partition's shards, each of which is all here."""
        shards: dict[int, list[dict[str, Any]]] = {}
        for batch in batches:
            for row in batch.to_pylist():
                shards.setdefault(row["shard"], []).append(row)
        for shard, rows in shards.items():
            keeper = _keeper(self._query, rows, self._manifests[shard], self._rows)
            yield from batches_out(keeper.windows(), self.result)
