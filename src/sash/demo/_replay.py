"""The flights as a stream: files in the order that flights landed in."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sash.demo.flights import Ints, load

_BATCHES = 20
_QUICK = 4
"""Micro-batches: of the year, and of the first weeks only."""


@dataclass(frozen=True)
class Replay:
    """What the stream is made of."""

    job: Path
    departed: Ints
    """Minutes since 1970, in the order of landing."""
    landed: Ints
    batches: int
    """Files, each a micro-batch."""

    @property
    def rows(self) -> int:
        """The number of flights."""
        return len(self.departed)

    def behind(self) -> Ints:
        """Return how much earlier each row departed than the latest so far, in minutes."""
        latest = np.maximum.accumulate(self.departed)
        return latest - self.departed

    def overtaken(self) -> Ints:
        """Return for each row how many rows before it departed later."""
        import sash
        from sash import agg

        tree = sash.FingerTree(agg.count("row"))
        found = np.empty(self.rows, np.int64)
        for i, time in enumerate(self.departed.tolist()):
            tree.insert(time, 1)
            found[i] = tree.query(time + 1, 1 << 62) if i else 0
        return found


def prepare(folder: Path, quick: bool) -> Replay:
    """Write the job file and the files of its stream; what was there of an earlier demo goes."""
    if folder.exists() and any(folder.iterdir()) and not (folder / "flights.toml").exists():
        raise ValueError(f"{folder} holds something else: name a new folder with --output")
    folder.mkdir(parents=True, exist_ok=True)
    _clear(folder)
    flights = load(diverted=True)
    landed = flights.arrival()
    order = np.argsort(landed, kind="stable")
    each = -(-len(order) // _BATCHES)
    order = order[: each * (_QUICK if quick else _BATCHES)]
    departed, landed = flights.departure[order], landed[order]
    carriers = flights.table["carrier"].take(pa.array(order))
    numbers = flights.table["flight"].take(pa.array(order)).cast(pa.string())
    table = pa.table(
        {
            "departed": _times(departed),
            "landed": _times(landed),
            "carrier": carriers,
            "flight": pc.binary_join_element_wise(carriers, numbers, " "),
            "delay": flights.table["arr_delay"].take(pa.array(order)),
        }
    )
    (folder / "landings").mkdir()
    starts = range(0, len(order), each)
    for number, start in enumerate(starts):
        path = folder / "landings" / f"{number:03}.parquet"
        pq.write_table(table.slice(start, each), path)
        os.utime(path, (1e9 + number, 1e9 + number))  # Spark takes files in the order of their age
    job = folder / "flights.toml"
    job.write_text(files("sash.demo").joinpath("flights.toml").read_text())
    return Replay(job, departed, landed, len(starts))


def _times(minutes: Ints) -> pa.Array:
    return pa.array(minutes * 60_000_000).view(pa.timestamp("us", "UTC"))


def _clear(folder: Path) -> None:
    for name in ("landings", "windows", "late", "flights.checkpoint"):
        shutil.rmtree(folder / name, ignore_errors=True)
