"""In-order structures: throughput over window sizes, latency, the cost of calls from Python."""

from __future__ import annotations

import numpy as np

import sash
from benchmarks.measure import Row, cpu_ns
from sash import agg

LITE = (sash.TwoStacksLite, sash.DabaLite)
ALL = (*LITE, sash.TwoStacks, sash.Daba, sash.FlatFit, sash.Amta)


def throughput(quick: bool) -> list[Row]:
    """ns per round of insert, evict and query: `slide` with sum over float64."""
    rows = 1_000_000 if quick else 4_000_000
    values = np.random.default_rng(1).integers(0, 1000, rows).astype(float)
    out: list[Row] = []
    for exponent in (4, 10, 16, 22):
        size = 1 << exponent
        row: Row = {"window": f"2^{exponent}"}
        for structure in ALL:
            window = structure(agg.sum())
            window.insert_many(np.resize(values, size))
            row[structure.__name__] = cpu_ns(lambda w=window, n=size: w.slide(values, n), rows)
            tail = np.resize(values, size) if size > rows else values[-size:]
            if size <= rows and window.query() != tail.sum():
                raise AssertionError(f"{structure.__name__} is wrong at {size}")
        out.append(row)
    return out


def aggregates(quick: bool) -> list[Row]:
    """ns per round at a window of 2^14 (bloom: 2^16 too) for cheap and costly aggregates."""
    values = np.random.default_rng(2).random(200_000 if quick else 1_000_000) * 1e6 + 1
    out: list[Row] = []
    cases = {
        "max": (agg.max(), 1 << 14),
        "geomean": (agg.geomean(), 1 << 14),
        "stddev": (agg.stddev(), 1 << 14),
        "sum, max, stddev in one record": ([agg.sum(), agg.max(), agg.stddev()], 1 << 14),
        "bloom": (agg.bloom(contains=1), 1 << 14),
        "bloom, window 2^16": (agg.bloom(contains=1), 1 << 16),
        "hll of 2^8": (agg.hll(lg_k=8), 1 << 14),
    }
    for name, (what, size) in cases.items():
        row: Row = {"aggregate": name}
        results = []
        for structure in LITE:
            window = structure(what)
            window.insert_many(values[:size])
            results.append(window.slide(values, size))
            row[structure.__name__] = cpu_ns(
                lambda w=window, n=size: w.slide(values, n), len(values)
            )
        agree(name, results)
        out.append(row)
    return out


def agree(name: str, results: list[object]) -> None:
    """Raise when two structures gave different answers."""
    one, other = (r if isinstance(r, dict) else {"": r} for r in results)
    for key in one:
        np.testing.assert_allclose(
            np.asarray(one[key], float), np.asarray(other[key], float), rtol=1e-9, err_msg=name
        )


def latency(quick: bool) -> list[Row]:
    """Wall nanoseconds of single rounds at a window of 2^14.

    The least of three runs for each round: the same work each time, so what differs is the machine.
    """
    values = np.random.default_rng(3).random(1_000_000 if quick else 10_000_000)
    out: list[Row] = []
    for structure in ALL:
        runs = []
        for _ in range(3):
            window = structure(agg.sum())
            window.insert_many(values[: 1 << 14])
            runs.append(window._latencies(values, 1 << 14))
        taken = np.minimum.reduce(runs)
        points = np.percentile(taken, [50, 99, 99.9, 99.99, 99.999])
        names = ("p50", "p99", "p99.9", "p99.99", "p99.999")
        row: Row = {"structure": structure.__name__}
        row |= {n: int(p) for n, p in zip(names, points, strict=True)}
        out.append(row)
    return out


def calls(quick: bool) -> list[Row]:
    """ns of one round of three calls from Python, and of three calls that do nothing."""
    rounds = 200_000 if quick else 1_000_000
    out: list[Row] = []
    for structure in LITE:
        window = structure(agg.sum())
        window.insert_many(np.zeros(1000))

        def real(w: sash.DabaLite = window) -> None:
            insert, evict, query = w.insert, w.evict, w.query
            for _ in range(rounds):
                insert(1.0)
                evict()
                query()

        def empty(w: sash.DabaLite = window) -> None:
            one = two = three = w._nothing
            for _ in range(rounds):
                one()
                two()
                three()

        row: Row = {"structure": structure.__name__, "round": cpu_ns(real, rounds, 5)}
        row["three empty calls"] = cpu_ns(empty, rounds, 5)
        row["ratio"] = f"{row['round'] / row['three empty calls']:.2f}"
        out.append(row)
    return out
