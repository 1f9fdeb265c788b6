"""Durations as people write them: ``"1h"``, ``"90s"``, ``"1 hour 30 minutes"``, a timedelta."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
    "w": 604_800_000_000_000,
}
_NAMES = {
    "nanosecond": "ns",
    "microsecond": "us",
    "µs": "us",
    "millisecond": "ms",
    "second": "s",
    "sec": "s",
    "minute": "m",
    "min": "m",
    "hour": "h",
    "hr": "h",
    "day": "d",
    "week": "w",
}
_CALENDAR = {"mo", "month", "y", "year", "q", "quarter"}
_PART = re.compile(r"\s*(\d{1,30})\s*([a-zµ]{1,20})\s*", re.IGNORECASE)
_MOST_TEXT = 200
"""Characters of a duration; more are no length of time, and would take long to read."""


def nanoseconds(what: str, value: Any) -> int:
    """Return a duration in nanoseconds; ``what`` names the argument in errors."""
    if isinstance(value, np.timedelta64) and not np.isnat(value):
        return _from_numpy(what, value)
    if isinstance(value, timedelta) and value == value:  # pandas has one that is no time at all
        seconds = value.days * 86_400 + value.seconds
        fine = getattr(value, "nanoseconds", 0)  # pandas
        return (seconds * 1_000_000 + value.microseconds) * 1_000 + fine
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a duration such as '1h' or a timedelta, not {value!r}")
    if len(value) > _MOST_TEXT:
        raise ValueError(f"{what}: a text of {len(value)} characters is no duration")
    text, sign = value.strip(), 1
    if text.startswith("-"):
        text, sign = text[1:], -1
    at, total = 0, 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            raise _unparsable(what, value)
        total += int(part[1]) * _unit(what, value, part[2])
        at = part.end()
    if at == 0:
        raise _unparsable(what, value)
    return sign * total


def _from_numpy(what: str, value: np.timedelta64 | np.datetime64) -> int:
    """Return it exactly: NumPy's own conversion wraps beyond 292 years and drops fractions."""
    name, count = np.datetime_data(value.dtype)
    if name in ("M", "Y"):
        raise ValueError(f"{what}: {value!r} is not a fixed length of time; write it in days")
    unit = _UNITS.get(name.lower())
    if unit is None:
        why = "has no unit" if name == "generic" else "is finer than nanoseconds"
        raise ValueError(f"{what}: {value!r} {why}; give it one of 's', 'ms', 'us', 'ns'")
    return int(value.astype(np.int64)) * count * unit


def since_epoch(what: str, value: Any) -> int:
    """Return a point in time in nanoseconds, however far off; one without a zone is of UTC."""
    if isinstance(value, np.datetime64):
        by_calendar = np.datetime_data(value.dtype)[0] in ("M", "Y")
        return _from_numpy(what, value.astype("datetime64[D]") if by_calendar else value)
    if not isinstance(value, datetime):
        return int((value - date(1970, 1, 1)).days) * _UNITS["d"]
    plain = datetime(
        value.year, value.month, value.day, value.hour, value.minute, value.second,
        value.microsecond, value.tzinfo or UTC, fold=value.fold,
    )  # fmt: skip
    fine = getattr(value, "nanosecond", 0)  # pandas
    return nanoseconds(what, plain - datetime(1970, 1, 1, tzinfo=UTC)) + fine


def _unit(what: str, value: str, name: str) -> int:
    lower = name.lower()
    if lower in _UNITS and name != lower:  # elsewhere M is a month
        raise _unparsable(what, value)
    singular = lower[:-1] if lower.endswith("s") and lower[:-1] in (*_NAMES, *_CALENDAR) else lower
    unit = _NAMES.get(singular, singular)
    if unit in _UNITS:
        return _UNITS[unit]
    if singular in _CALENDAR:
        raise ValueError(f"{what}: {value!r} is not a fixed length of time; write it in days")
    raise _unparsable(what, value)


def _unparsable(what: str, value: str) -> ValueError:
    return ValueError(
        f"{what}: cannot read {value!r} as a duration; write it like '90s', '1h30m', '2 days' "
        f"(units: {', '.join(_UNITS)})"
    )
