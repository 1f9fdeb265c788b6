"""Calls on whole columns that are made in slices give what one call would give."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from interrupting import RaisedByHandlerError

import sash
from sash import _slices, _snapshot, _states, agg

COLUMNS = {
    "ints": pa.array([3, None, 1, 3, 2, 1, 9, None, 3]),
    "floats": pa.array([0.5, None, float("nan"), 0.5, float("nan"), 1.0]),
    "strings": pa.array(["b", "a", None, "b", "c", "a", ""]),
    "large strings": pa.array(["b", "a", None, "b"], pa.large_string()),
    "bytes": pa.array([b"b", b"", None, b"b"]),
    "booleans": pa.array([True, None, False, True, True]),
    "decimals": pa.array([Decimal("1.5"), None, Decimal("0.1"), Decimal("1.5")]),
    "times": pa.array([3, None, 1, 3, 1], pa.timestamp("us", "UTC")),
    "dates": pa.array([3, None, 1, 3], pa.date32()),
    "nulls": pa.nulls(5),
    "categories": pa.array(["b", "a", None, "b"]).dictionary_encode(),
    "a slice": pa.array([7, 7, None, 1, 7, 2, None, 1])[2:7],
    "nothing": pa.array([], pa.int64()),
}


@pytest.fixture(autouse=True)
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_slices, "ROWS", 2)


@pytest.mark.parametrize("name", COLUMNS)
def test_encoded(name: str) -> None:
    wanted = COLUMNS[name].dictionary_encode()
    indices, values = _slices.encoded(COLUMNS[name])
    assert indices.equals(wanted.indices)
    assert str(values.to_pylist()) == str(wanted.dictionary.to_pylist())
    assert values.type == wanted.dictionary.type


def test_encoded_refuses_what_arrow_refuses() -> None:
    with pytest.raises(pa.ArrowNotImplementedError):
        _slices.encoded(pa.array([[1], [2], [1]]))


@pytest.mark.parametrize("name", COLUMNS)
def test_listed(name: str) -> None:
    column = COLUMNS[name]
    assert str(_slices.listed(column)) == str(column.to_pylist())
    assert _slices.listed(np.array([3.0, 1.0, 2.0])) == [3.0, 1.0, 2.0]


@pytest.mark.parametrize("name", COLUMNS)
def test_taken(name: str) -> None:
    column = COLUMNS[name]
    places = pa.array([*range(len(column) - 1, -1, -1), None], pa.int64())
    assert str(_slices.taken(column, places).to_pylist()) == str(column.take(places).to_pylist())


@pytest.mark.parametrize("count", range(6))
def test_python_states(count: int) -> None:
    states: list[Any] = [{"a": (i, [1.5, None])} for i in range(count)]
    written = _states.dumps(states, None)
    whole = [_states._tag(state, None) for state in states]
    assert written == json.dumps(whole, separators=(",", ":")).encode()
    assert _states.loads(written, None) == states


@pytest.mark.parametrize(
    "damaged",
    [b"", b"{}", b"[", b"[,]", b"[]]", b'[["",null]', b'[["",null],]', b'[["",null]]]', b"\xff"],
)
def test_damaged_python_states(damaged: bytes) -> None:
    with pytest.raises(ValueError, match="its states cannot be read"):
        _states.loads(damaged, None)


def test_the_checksum(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _snapshot._checksum({"a": 1}, [b"some bytes", b"", b"more"])
    monkeypatch.setattr(_snapshot, "BYTES", 3)
    assert _snapshot._checksum({"a": 1}, [b"some bytes", b"", b"more"]) == whole


@pytest.fixture
def pending_after_the_first() -> Iterator[list[int]]:
    """Slices that the fixture's own generator has handed out; a signal comes after the first."""

    def handler(*_: object) -> None:
        raise RaisedByHandlerError

    former = signal.signal(signal.SIGUSR1, handler)
    yield []
    signal.signal(signal.SIGUSR1, former)


@pytest.mark.parametrize("call", ["encoded", "listed", "taken"])
def test_a_signal_ends_a_call_between_slices(
    call: str, pending_after_the_first: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = pending_after_the_first
    plain = _slices.slices

    def slices(values: Any, size: int | None = None) -> Iterator[Any]:
        for part in plain(values, size):
            if given:
                signal.raise_signal(signal.SIGUSR1)
            given.append(len(part))
            yield part

    monkeypatch.setattr(_slices, "slices", slices)
    column = pa.array([0, 1, 2, 3, 4, 5])
    arguments = [column, column] if call == "taken" else [column]
    with pytest.raises(RaisedByHandlerError):
        getattr(_slices, call)(*arguments)
    assert given == [2]


def test_rolling_is_the_same() -> None:
    rows = 60
    table = pa.table(
        {
            "t": [(7 * i) % rows for i in range(rows)],
            "k": [f"k{i % 7}" if i % 5 else None for i in range(rows)],
            "j": [i % 3 for i in range(rows)],
            "s": [f"s{i % 11}" for i in range(rows)],
            "v": [(5 * i) % 13 for i in range(rows)],
        }
    )
    aggs = [
        agg.max("s"),
        agg.argmax("v", "s"),
        agg.count_distinct("s"),
        agg.mode("s"),
        agg.hll("s", lg_k=4),
        agg.collect("s"),
        sash.monoid(lambda a, b: a + b, column="v", name="total", identity=0),
    ]

    def run() -> pa.Table:
        return sash.rolling(table, on="t", by=["k", "j"], window=20, aggs=aggs)

    sliced = run()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_slices, "ROWS", 1 << 19)
        assert sliced.equals(run())
