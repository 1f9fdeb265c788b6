"""FingerTree: distance sweeps, bulk operations, big windows, widths of nodes, real data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

import sash
from benchmarks.measure import Row, cpu_ns
from sash import agg

Times = npt.NDArray[np.int64]
GAP = 1 << 24  # between in-order times, so that late ones find room


def late_times(size: int, chunk: int, rows: int, distance: int, random: bool) -> Times:
    """Return the times of a chunk of rows for a window that began with ``size`` entries in order.

    They arrive ``distance`` entries late: all of them, one after the other behind the same
    youngest entries, or each by a random delay of up to that.
    """
    order = np.arange(chunk * rows, (chunk + 1) * rows, dtype=np.int64)
    if distance == 0:
        return (size + order) * GAP
    if not random:
        return (size - 1 - distance) * GAP + 1 + order
    delay = np.random.default_rng(distance + chunk).integers(0, distance + 1, rows)
    return (size + order - delay) * GAP + order


def distances(quick: bool) -> list[Row]:
    """ns per round of insert, evict and query, sum over float64, window 2^22."""
    size = 1 << (18 if quick else 22)
    rows = 200_000 if quick else 1_000_000
    out: list[Row] = []
    for distance in (0, 1 << 4, 1 << 10, 1 << 16, 1 << 20):
        if distance >= size:
            continue
        row: Row = {"distance": distance}
        for name, structure, random in (
            ("FingerTree", sash.FingerTree, False),
            ("FingerTree, random delays", sash.FingerTree, True),
            ("ClassicTree", sash.ClassicTree, False),
        ):
            tree = structure(agg.sum())
            tree.bulk_insert(np.arange(size, dtype=np.int64) * GAP, np.ones(size))
            best = float("inf")
            for chunk in range(4):
                times = late_times(size, chunk, rows, distance, random)
                best = min(
                    best, cpu_ns(lambda: tree.slide(times, np.ones(rows), rows=size), rows, 1)
                )
            if tree.query() != size:
                raise AssertionError(f"{name} lost entries at distance {distance}")
            tree.check_invariants()
            row[name] = best
        out.append(row)
    return out


def bulks(quick: bool) -> list[Row]:
    """ns per item of a bulk eviction and a bulk insertion of m items, window 2^22.

    Each is a call from Python of about 1.5 microseconds, which dominates small m.
    """
    size = 1 << (18 if quick else 22)
    out: list[Row] = []
    for m in (1, 64, 1024, 16384):
        for distance in (0, 1024):
            tree = sash.FingerTree(agg.sum())
            tree.bulk_insert(np.arange(size, dtype=np.int64) * GAP, np.ones(size))
            chunks = max(20, 200_000 // m)
            batches = [
                (np.arange(m, dtype=np.int64) + size + i * m - distance) * GAP + (distance > 0)
                for i in range(chunks)
            ]
            ones = np.ones(m)

            def run(t: sash.FingerTree = tree, b: list[Times] = batches) -> None:
                for times in b:
                    t._insert_many(times, [(ones.view(np.uint64), None)])
                    t.bulk_evict(t.oldest + (m - 1) * GAP)

            out.append({"m": m, "distance": distance, "ns per item": cpu_ns(run, chunks * m, 1)})
            tree.check_invariants()
    return out


def widths(quick: bool) -> list[Row]:
    """ns per round for leaf widths and fan-outs: what the defaults were chosen from."""
    size, rows = 1 << (16 if quick else 20), 200_000
    cases = {"sum": agg.sum(), "stddev": agg.stddev(), "first and last": [agg.first(), agg.last()]}
    out: list[Row] = []
    for leaf in (16, 32, 62, 78, 128):
        for fanout in (8, 16, 48):
            row: Row = {"leaf": leaf, "fanout": fanout}
            for name, what in cases.items():
                for label, distance in (("in order", 0), ("random 2^12", 1 << 12)):
                    tree = sash.FingerTree(what, leaf=leaf, fanout=fanout)
                    tree.bulk_insert(np.arange(size, dtype=np.int64) * GAP, np.ones(size))
                    best = float("inf")
                    for chunk in range(3):
                        times = late_times(size, chunk, rows, distance, True)
                        best = min(
                            best,
                            cpu_ns(lambda: tree.slide(times, np.ones(rows), rows=size), rows, 1),
                        )
                    row[f"{name}, {label}"] = best
                    if name == "sum" and distance == 0:
                        row["bytes per entry"] = round(tree.nbytes / len(tree), 1)
            out.append(row)
    return out


def memory(quick: bool) -> list[Row]:
    """Bytes per entry and the cost of a round at growing windows."""
    out: list[Row] = []
    for size in (10**4, 10**6) if quick else (10**4, 10**6, 10**7, 10**8):
        tree = sash.FingerTree(agg.sum())
        step = min(size, 10**7)
        for start in range(0, size, step):
            tree.bulk_insert(np.arange(start, start + step, dtype=np.int64), np.ones(step))
        rows = 1_000_000
        more = np.arange(size, size + rows, dtype=np.int64)
        cost = cpu_ns(lambda: tree.slide(more, np.ones(rows), rows=size), rows, 1)
        if tree.query() != size:
            raise AssertionError("wrong sum")
        out.append({"entries": size, "bytes per entry": tree.nbytes / size, "ns per round": cost})
    return out


def bloom(quick: bool) -> list[Row]:
    """2 KB states: ns per in-order round and bytes per entry, window 2^16."""
    size, rows = 1 << 16, 100_000 if quick else 500_000
    aggregate = agg.bloom(contains=7)
    tree, other = sash.FingerTree(aggregate), sash.DabaLite(aggregate)
    values = np.arange(size + rows) % 3000
    times = np.arange(size + rows)
    tree.bulk_insert(times[:size], values[:size])
    other.insert_many(values[:size])
    cost = cpu_ns(lambda: tree.slide(times[size:], values[size:], rows=size), rows, 1)
    other.slide(values[size:], size)
    if tree.query() != other.query():
        raise AssertionError("two structures disagree")
    return [{"window": size, "ns per round": cost, "bytes per entry": tree.nbytes / len(tree)}]


def real_data(quick: bool, folder: Path) -> list[Row]:
    """Replay real events in order of arrival, with their real lateness; check some answers."""
    out: list[Row] = []
    for path in sorted(folder.glob("*.parquet")):
        data = pq.read_table(path, columns=["event_time", "value"])
        times = data["event_time"].cast("int64").to_numpy()
        values = data["value"].cast("float64").fill_null(0).to_numpy().round()
        if quick:
            times, values = times[:50_000], values[:50_000]
        for days in (1, 30):
            span = days * 86_400 * 1_000_000
            results = np.empty(0)

            def replay() -> None:
                nonlocal results
                results = sash.FingerTree(agg.sum()).slide(times, values, span)

            cost = cpu_ns(replay, len(times), 1)
            youngest = np.maximum.accumulate(times)
            for i in np.random.default_rng(5).integers(0, len(times), 200):
                inside = (times[: i + 1] > youngest[i] - span) & (times[: i + 1] <= youngest[i])
                if not np.isclose(results[i], values[: i + 1][inside].sum(), rtol=1e-12):
                    raise AssertionError(f"{path.name}: row {i} differs from brute force")
            out.append({"data": path.stem, "days": days, "rows": len(times), "ns per row": cost})
    return out
