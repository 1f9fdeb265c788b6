"""Rolling against brute force: every aggregate, closed, order, keys, by time and by count."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import oracle
import pyarrow as pa
import pytest
import rolling_oracle as truth
from cases import agrees, nullable
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash import _rolling, agg

INTS = nullable(st.integers(-20, 20))
FLOATS = nullable(
    st.sampled_from([0.0, -0.0, 1.5, -2.25, 3.0, 1e16, math.inf, -math.inf, math.nan])
    | st.floats(-100, 100)
)
TAME = nullable(st.floats(-100, 100) | st.integers(-5, 5).map(float))
WORDS = nullable(st.sampled_from(["tea", "rum", "gin", "", "Tea"]))
LONGEST = sash.monoid(lambda a, b: f"{a}{b}", lift=str, name="joined", column="v")


def rows_of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[truth.Row]]:
    row = st.fixed_dictionaries(
        {
            "t": st.integers(0, 12) | st.integers(-1000, 1000),
            "k": st.sampled_from(["a", "b", None]),
            "v": values,
            "w": nullable(st.integers(0, 3)),
        }
    )
    return st.lists(row, max_size=24)


WINDOWS = st.one_of(
    st.integers(1, 30).map(lambda n: (n, 0)),
    st.tuples(st.integers(0, 12), st.integers(1, 12)),
)


class Case:
    """An aggregate over column v (and w), the values it is fed, and its meaning."""

    def __init__(
        self,
        aggregate: sash.Aggregate,
        values: st.SearchStrategy[Any],
        meaning: Callable[[list[Any]], Any],
        kind: pa.DataType,
        *,
        scale: float = 0.0,
        pairs: bool = False,
    ) -> None:
        self.aggregate = aggregate
        self.values = values
        self.meaning = meaning
        self.kind = kind
        self.scale = scale
        self.pairs = pairs


FLOAT, INT, TEXT = pa.float64(), pa.int64(), pa.string()
CASES = {
    "count": Case(agg.count(), INTS, oracle.count_rows, INT),
    "count_v": Case(agg.count("v"), INTS, oracle.count, INT),
    "sum_int": Case(agg.sum("v"), INTS, oracle.sum_, INT),
    "sum_float": Case(agg.sum("v"), TAME, oracle.sum_, FLOAT, scale=1e3),
    "mean_int": Case(agg.mean("v"), INTS, oracle.mean, INT, scale=1e2),
    "mean_float": Case(agg.mean("v"), TAME, oracle.mean, FLOAT, scale=1e3),
    "geomean": Case(agg.geomean("v"), nullable(st.floats(0.5, 9)), oracle.geomean, FLOAT, scale=10),
    "variance": Case(agg.variance("v"), TAME, oracle.variance(1), FLOAT, scale=1e4),
    "variance_int": Case(agg.variance("v"), INTS, oracle.variance(1), INT, scale=1e3),
    "stddev": Case(agg.stddev("v", ddof=0), TAME, oracle.stddev(0), FLOAT, scale=1e6),
    "product": Case(agg.product("v"), nullable(st.floats(-2, 2)), oracle.product, FLOAT, scale=1e6),
    "min": Case(agg.min("v"), FLOATS, oracle.min_, FLOAT),
    "max": Case(agg.max("v"), FLOATS, oracle.max_, FLOAT),
    "max_int": Case(agg.max("v"), INTS, oracle.max_, INT),
    "max_str": Case(agg.max("v"), WORDS, lambda vs: max(oracle.present(vs), default=None), TEXT),
    "min_str": Case(agg.min("v"), WORDS, lambda vs: min(oracle.present(vs), default=None), TEXT),
    "mincount": Case(agg.mincount("v"), INTS, oracle.mincount, INT),
    "maxcount": Case(agg.maxcount("v"), FLOATS, oracle.maxcount, FLOAT),
    "range": Case(agg.range("v"), INTS, oracle.range_, INT),
    "range_float": Case(agg.range("v"), TAME, oracle.range_, FLOAT, scale=1e3),
    "relative": Case(
        agg.relative_variation("v"), TAME, oracle.relative_variation, FLOAT, scale=1e6
    ),
    "first": Case(agg.first("v"), INTS, oracle.first, INT),
    "last_str": Case(agg.last("v"), WORDS, oracle.last, TEXT),
    "nth": Case(agg.nth_youngest(2, "v"), INTS, oracle.nth_youngest(2), INT),
    "nth_str": Case(agg.nth_youngest(3, "v"), WORDS, oracle.nth_youngest(3), TEXT),
    "any": Case(agg.any("v"), nullable(st.booleans()), oracle.any_, pa.bool_()),
    "all": Case(agg.all("v"), nullable(st.booleans()), oracle.all_, pa.bool_()),
    "argmax": Case(agg.argmax("v", "w"), FLOATS, oracle.argmax, FLOAT, pairs=True),
    "argmin": Case(agg.argmin("v", "w"), INTS, oracle.argmin, INT, pairs=True),
    "argmax_str": Case(
        agg.argmax("v", "w"),
        WORDS,
        lambda rows: (
            next(
                (
                    w
                    for v, w in rows
                    if v == max((x for x, _ in rows if x is not None), default=None)
                ),
                None,
            )
            if any(v is not None for v, _ in rows)
            else None
        ),
        TEXT,
        pairs=True,
    ),
    "collect": Case(agg.collect("v"), INTS, oracle.collect, INT),
    "distinct": Case(
        agg.distinct("v"),
        INTS,
        lambda vs: sorted(oracle.distinct(vs)) if oracle.distinct(vs) is not None else None,
        INT,
    ),
    "concat": Case(agg.concat("v", separator="-"), WORDS, oracle.concat("-"), TEXT),
    "topk": Case(agg.topk(3, "v"), INTS, oracle.topk(3), INT),
    "histogram": Case(
        agg.histogram([-10.0, 0.0, 10.0], "v"), TAME, oracle.histogram([-10.0, 0.0, 10.0]), FLOAT
    ),
    "bloom": Case(agg.bloom("v", bits=1024, hashes=2), INTS, oracle.bloom(1024, 2), INT),
    "joined": Case(
        LONGEST,
        INTS,
        lambda vs: "".join(map(str, oracle.present(vs))) if oracle.present(vs) else None,
        INT,
    ),
    "median": Case(agg.median("v"), TAME, truth.median, FLOAT, scale=1e3),
    "median_any": Case(agg.median("v"), FLOATS, truth.quantile(0.5), FLOAT, scale=1e17),
    "median_int": Case(agg.median("v"), INTS, truth.median, INT),
    "q90": Case(agg.quantile(0.9, "v"), TAME, truth.quantile(0.9), FLOAT, scale=1e3),
    "q_lower": Case(
        agg.quantile(0.3, "v", interpolation="lower"), INTS, truth.quantile(0.3, "lower"), INT
    ),
    "q_higher": Case(
        agg.quantile(0.7, "v", interpolation="higher"), INTS, truth.quantile(0.7, "higher"), INT
    ),
    "q_nearest": Case(
        agg.quantile(0.25, "v", interpolation="nearest"), INTS, truth.quantile(0.25, "nearest"), INT
    ),
    "q_midpoint": Case(
        agg.quantile(0.4, "v", interpolation="midpoint"),
        TAME,
        truth.quantile(0.4, "midpoint"),
        FLOAT,
        scale=1e3,
    ),
    "count_distinct": Case(agg.count_distinct("v"), FLOATS, truth.count_distinct, FLOAT),
    "count_distinct_str": Case(agg.count_distinct("v"), WORDS, truth.count_distinct, TEXT),
    "mode": Case(agg.mode("v"), INTS, truth.mode, INT),
    "mode_str": Case(agg.mode("v"), WORDS, truth.mode, TEXT),
}


def table_of(rows: list[truth.Row], kind: pa.DataType) -> pa.Table:
    return pa.table(
        {
            "t": pa.array([r["t"] for r in rows], pa.int64()),
            "k": pa.array([r["k"] for r in rows], pa.string()),
            "v": pa.array([r["v"] for r in rows], kind),
            "w": pa.array([r["w"] for r in rows], pa.int64()),
        }
    )


def expected(case: Case, rows: list[truth.Row], held: list[list[int]], least: int) -> list[Any]:
    def value(i: int) -> Any:
        return (rows[i]["v"], rows[i]["w"]) if case.pairs else rows[i]["v"]

    return [
        None if len(frame) < least else case.meaning([value(i) for i in frame]) for frame in held
    ]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split work into parts of a row, so that several threads have something to do."""
    monkeypatch.setattr(_rolling, "_PART", 1)


@pytest.mark.parametrize("name", CASES)
def test_every_aggregate_agrees_with_brute_force(name: str) -> None:
    case = CASES[name]

    @settings(max_examples=examples(60))
    @given(
        rows=rows_of(case.values),
        reach=WINDOWS,
        by_count=st.booleans(),
        closed=st.sampled_from(truth.CLOSED),
        order=st.sampled_from(["event", "event", "arrival"]),
        keyed=st.booleans(),
        least=st.sampled_from([0, 0, 1, 2, 5]),
        threads=st.sampled_from([1, 2]),
    )
    def check(
        rows: list[truth.Row],
        reach: tuple[int, int],
        by_count: bool,
        closed: str,
        order: str,
        keyed: bool,
        least: int,
        threads: int,
    ) -> None:
        if order == "arrival":
            reach = (max(1, reach[0]), 0)
            closed = "right" if by_count else closed
        if not keyed:
            rows = [{**row, "k": "a"} for row in rows]
        held = truth.frames(rows, *reach, by_count=by_count, closed=closed, order=order)
        wanted = expected(case, rows, held, least)
        table = table_of(rows, case.kind)
        out = sash.rolling(
            table,
            on="t",
            by="k" if keyed else None,
            aggs=case.aggregate,
            closed=closed,
            order=order,
            min_rows=least,
            threads=threads,
            **{"rows" if by_count else "window": reach if reach[1] else reach[0]},
        )
        assert out.column_names == ["t", "k", "v", "w", case.aggregate.output]
        assert agrees(out.drop_columns([case.aggregate.output]).to_pylist(), table.to_pylist())
        found = out[case.aggregate.output].to_pylist()
        for i, (a, b) in enumerate(zip(wanted, found, strict=True)):
            assert agrees(a, b, case.scale), (i, held[i], a, b)

    check()


@pytest.mark.parametrize("ties", ["average", "min", "max"])
@pytest.mark.parametrize("kind", ["int", "float", "str"])
def test_rank_agrees_with_brute_force(ties: str, kind: str) -> None:
    values, arrow = {"int": (INTS, INT), "float": (FLOATS, FLOAT), "str": (WORDS, TEXT)}[kind]

    @settings(max_examples=examples(80))
    @given(
        rows=rows_of(values),
        reach=WINDOWS,
        by_count=st.booleans(),
        both=st.booleans(),
    )
    def check(rows: list[truth.Row], reach: tuple[int, int], by_count: bool, both: bool) -> None:
        reach = (max(1, reach[0]), reach[1])
        closed = "both" if both else "right"
        held = truth.frames(rows, *reach, by_count=by_count, closed=closed)
        out = sash.rolling(
            table_of(rows, arrow),
            on="t",
            by="k",
            aggs=agg.rank("v", ties=ties),
            closed=closed,
            **{"rows" if by_count else "window": reach},
        )
        for i, found in enumerate(out["rank_v"].to_pylist()):
            wanted = truth.rank(ties, [rows[j]["v"] for j in held[i]], rows[i]["v"])
            assert wanted == found, (i, held[i])

    check()


@settings(max_examples=examples(150))
@given(
    rows=rows_of(INTS),
    size=st.integers(1, 20),
    every=st.integers(1, 15),
    offset=st.integers(-20, 20),
    closed=st.sampled_from(truth.CLOSED),
    least=st.sampled_from([0, 2]),
)
def test_windows_that_advance_by_a_step(
    rows: list[truth.Row], size: int, every: int, offset: int, closed: str, least: int
) -> None:
    out = sash.rolling(
        table_of(rows, INT),
        on="t",
        by="k",
        window=size,
        every=every,
        offset=offset,
        closed=closed,
        min_rows=least,
        aggs=[agg.collect("v"), agg.sum("v"), agg.count(), agg.median("v"), agg.mode("v")],
    )
    wanted = []
    for key in dict.fromkeys(r["k"] for r in rows):
        mine = [i for i, r in enumerate(rows) if r["k"] == key]
        line = truth.by_time(rows, mine)
        low = min(rows[i]["t"] for i in mine) - every
        high = max(rows[i]["t"] for i in mine) + size + every
        first = low + (offset - low) % every
        for end in range(first, high + 1, every):
            held = [rows[i]["v"] for i in line if truth.inside(rows[i]["t"], end, size, 0, closed)]
            if held:
                row = {"k": key, "window_start": end - size, "window_end": end}
                values = [
                    oracle.collect(held), oracle.sum_(held), len(held), truth.median(held),
                    truth.mode(held),
                ]  # fmt: skip
                if len(held) < least:
                    values = [None] * 5
                names = ["collect_v", "sum_v", "count", "median_v", "mode_v"]
                wanted.append(row | dict(zip(names, values, strict=True)))
    key_order = {k: i for i, k in enumerate(dict.fromkeys(r["k"] for r in rows))}
    found = sorted(out.to_pylist(), key=lambda r: (key_order[r["k"]], r["window_end"]))
    assert found == wanted


@given(rows=rows_of(INTS), threads=st.integers(1, 3))
def test_several_windows_and_aggregates_in_one_call(rows: list[truth.Row], threads: int) -> None:
    aggs = [agg.sum("v"), agg.median("v"), agg.quantile(0.9, "v"), agg.max("w"), LONGEST]
    table = table_of(rows, INT)
    out = sash.rolling(
        table, on="t", by=["k", "w"], window={"short": 3, "ahead": (0, 5)}, rows=[4], aggs=aggs,
        threads=threads,
    )  # fmt: skip
    for label, more in {
        "short": {"window": 3},
        "ahead": {"window": (0, 5)},
        "4rows": {"rows": 4},
    }.items():
        for one in aggs:
            alone = sash.rolling(table, on="t", by=["k", "w"], aggs=one, threads=1, **more)
            assert out[f"{one.output}_{label}"].equals(alone[one.output])


@given(
    rows=rows_of(INTS),
    n=st.integers(1, 9),
)
def test_rows_without_times_keep_their_order(rows: list[truth.Row], n: int) -> None:
    out = sash.rolling(table_of(rows, INT), rows=n, by="k", aggs=agg.collect("v"))
    plain = [{**row, "t": 0} for row in rows]
    held = truth.frames(plain, n, 0, by_count=True)
    assert out["collect_v"].to_pylist() == [
        oracle.collect([rows[i]["v"] for i in frame]) for frame in held
    ]


@pytest.mark.parametrize("center_rows", [1, 2, 3, 4, 7])
def test_center_agrees_with_pandas(center_rows: int) -> None:
    import pandas as pd

    values = np.random.default_rng(1).integers(0, 99, 40).astype(float)
    frame = pd.DataFrame({"v": values})
    args = {"rows": center_rows, "min_rows": center_rows, "aggs": agg.sum("v")}
    mine = sash.rolling(frame, center=True, **args)
    theirs = frame["v"].rolling(center_rows, center=True).sum()
    assert mine["sum_v"].equals(theirs.rename("sum_v"))


EXTREMES = [-(2**63), -(2**63) + 1, -5, 0, 5, 2**63 - 2, 2**63 - 1]


@pytest.mark.parametrize("closed", truth.CLOSED)
@pytest.mark.parametrize("order", ["event", "arrival"])
@pytest.mark.parametrize("size", [1, 10, 2**62, 2**63 - 1])
@pytest.mark.parametrize("after", [0, 3, 2**63 - 1])
def test_extreme_times(closed: str, order: str, size: int, after: int) -> None:
    if order == "arrival" and after:
        after = 0
    rng = np.random.default_rng(7)
    rows = [{"t": int(t), "k": "a", "v": i, "w": 0} for i, t in enumerate(rng.choice(EXTREMES, 20))]
    window = (size, after) if after else size
    table = table_of(rows, INT)
    args = {"window": window, "closed": closed, "order": order}
    out = sash.rolling(table, on="t", aggs=agg.collect("v"), **args)
    held = truth.frames(rows, size, after, closed=closed, order=order)
    assert out["collect_v"].to_pylist() == [oracle.collect(frame) for frame in held]


@settings(max_examples=examples(30))
@given(
    seed=st.integers(0, 10_000),
    size=st.sampled_from([1, 7, 300, 3000]),
    spread=st.sampled_from([0, 50, 100_000]),
    keys=st.sampled_from([1, 3, 400]),
)
def test_many_rows_agree_with_slower_ways(seed: int, size: int, spread: int, keys: int) -> None:
    """Blocks of order statistics, radix passes, chunks of frames: more rows than one of each."""
    rng = np.random.default_rng(seed)
    n = 6000
    times = np.arange(n) * 3 + rng.integers(-spread, spread + 1, n)
    values = rng.integers(0, 50, n)
    table = pa.table({"t": times, "k": rng.integers(0, keys, n), "v": values})
    out = sash.rolling(
        table, on="t", by="k", window=size, threads=2,
        aggs=[agg.sum("v"), agg.median("v"), agg.count_distinct("v"), agg.mode("v"), agg.rank("v")],
    )  # fmt: skip
    order = np.lexsort((np.arange(n), times, table["k"].to_numpy()))
    keys_sorted, t = table["k"].to_numpy()[order], times[order]
    for at in rng.integers(0, n, 60).tolist():
        row = order[at]
        mine = (keys_sorted == keys_sorted[at]) & (t > t[at] - size) & (t <= t[at])
        held = values[order[mine]].tolist()
        got = {name: out[name][int(row)].as_py() for name in out.column_names[3:]}
        assert got == {
            "sum_v": sum(held),
            "median_v": truth.median(held),
            "count_distinct_v": len(set(held)),
            "mode_v": truth.mode(held),
            "rank_v": truth.rank("average", held, int(values[row])),
        }
