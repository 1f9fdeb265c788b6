"""Impossible operators, states and slices under a valid checksum: refused, or harmless."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from forging import repacked, run
from golden_cases import CASES, OperatorCase

import sash
from sash import SnapshotError, _partials, agg
from sash.structures import Window


def operator(windows: Any, rows: int = 6, **arguments: Any) -> sash.WindowOperator:
    op = sash.WindowOperator(
        **{"on": "t", "windows": windows, "aggs": agg.sum("x"), "lateness": 100} | arguments
    )
    if rows:
        op.process(pa.table({"t": np.arange(rows) * 10, "x": np.arange(rows)}))
        op.advance(55)
    return op


def words(data: bytes, code: str) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 8}{code}", data))


def changed(op: sash.WindowOperator, column: str, place: int, value: int) -> bytes:
    """A snapshot with another word in one of its columns."""
    data = op.snapshot()
    with pa.ipc.open_stream(data) as reader:
        found = words(reader.read_all()[column][0].as_py(), "q" if column == "times" else "Q")
    found[place] = value
    code = "q" if column == "times" else "Q"
    return repacked(data, {}, **{column: struct.pack(f"<{len(found)}{code}", *found)})


# ---- windows by rows: ranks are places in memory -------------------------------------------------

# Watermark and latest time; base, next and due; two times about revisions; those of six rows.
FRAMES = 2 + 3 + 2 + 6


def test_a_frame_with_fewer_rows_than_its_window() -> None:
    """Cut again, the window of the last rows would begin before the first row there is."""
    last = sash.windows.rolling(rows=3)
    op = operator(last)
    for place, value in ((FRAMES + 5 * 4, 3), (FRAMES + 5 * 5, 5)):  # the rank a frame begins at
        with pytest.raises(SnapshotError, match="a window has other rows than it should"):
            operator(last, 0).restore(changed(op, "times", place, value))


@pytest.mark.parametrize("offset", [2, 3])
def test_a_frame_with_other_times_than_its_rows(offset: int) -> None:
    last = sash.windows.rolling(rows=3)
    op = operator(last)
    with pytest.raises(SnapshotError, match="a window has other rows than it should"):
        operator(last, 0).restore(changed(op, "times", FRAMES + offset, 7))


@pytest.mark.parametrize("place", [4, FRAMES + 4])
@pytest.mark.parametrize("value", [2**63 - 2, 2**62, -(2**62), -(2**63)])
def test_rows_that_are_due_beyond_all_time(place: int, value: int) -> None:
    """Lateness is added to it."""
    last = sash.windows.rolling(rows=3)
    with pytest.raises(SnapshotError, match="damaged: a window"):
        operator(last, 0).restore(changed(operator(last), "times", place, value))


@pytest.mark.parametrize("windows", [sash.windows.rolling(rows=3), sash.tumbling(10)], ids=str)
def test_revisions_that_cannot_be_counted_on(windows: Any) -> None:
    """The next one would be more than 32 bits hold."""
    op = operator(windows)
    with pa.ipc.open_stream(op.snapshot()) as reader:
        numbers = words(reader.read_all()["numbers"][0].as_py(), "Q")
    refused = 0
    for place in range(len(numbers)):
        try:
            other = operator(windows, 0)
            other.restore(changed(op, "numbers", place, 2**31 - 1))
        except SnapshotError as error:
            refused += "no such revision" in str(error)
    assert refused >= 5  # one for each window that was told


@pytest.mark.parametrize("value", [2**62, -(2**62), 2**63 - 1])
def test_sessions_beyond_all_time(value: int) -> None:
    op = operator(sash.session(3))
    slices = 6
    with pytest.raises(SnapshotError, match="a session is none of these windows"):
        operator(sash.session(3), 0).restore(changed(op, "times", 2 + slices, value))


# ---- every number and time, replaced -------------------------------------------------------------

FUZZ = """
import resource, struct, sys
import pyarrow as pa
import sash
from golden_cases import CASES, batch
from forging import repacked
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 500_000_000,) * 2)
case = CASES[sys.argv[1]]
data = case.make().snapshot()
with pa.ipc.open_stream(data) as reader:
    table = reader.read_all()
NUMBERS = (0, 1, 2, 7, 2**31 - 1, 2**32, 2**60, 2**63, 2**64 - 1)
TIMES = (0, -1, 1, 50, 2**60, 2**62 - 1, -(2**62), 2**63 - 1, -(2**63))
refused = accepted = 0
for column, values, code in (("numbers", NUMBERS, "<Q"), ("times", TIMES, "<q")):
    whole = table[column][0].as_py()
    places = range(0, len(whole), 8)
    for place in places[:: max(1, len(places) // 12)]:
        for value in values:
            other = whole[:place] + struct.pack(code, value) + whole[place + 8 :]
            op = case.empty()
            try:
                op.restore(repacked(data, {}, **{column: other}))
            except sash.SnapshotError:
                refused += 1
                continue
            accepted += 1
            try:
                op.process(batch(3))
                op.snapshot()
                op.finish()
            except (OverflowError, ValueError):  # strange times cannot be shown
                pass
assert refused and accepted, (refused, accepted)
print("whole")
"""


@pytest.mark.parametrize("windows", ["sessions", "counted", "cut", "rolling"])
def test_any_number_or_time(windows: str) -> None:
    assert run(FUZZ, f"operator_{windows}_text_native_complete") == "whole"


@pytest.mark.parametrize(
    "change",
    [
        {"name": 5}, {"after": 5}, {"finished": "no"}, {"windows": {}}, {"windows": [5]},
        {"windows": None}, {"lateness": -1}, {"on": None}, {"by": "t"}, {"windows": [{}] * 3},
    ],
    ids=str,
)  # fmt: skip
def test_headers(change: dict[str, Any]) -> None:
    case = CASES["operator_fixed_none_scalar_changelog"]
    with pytest.raises(SnapshotError):
        case.restore([repacked(case.make().snapshot(), change)])


@pytest.mark.parametrize(
    "change",
    [
        {"number": 1}, {"number": -1}, {"number": 2**60}, {"number": True}, {"since": 2**62},
        {"since": "x"}, {"known": [0]}, {"known": [0, 2**63]}, {"known": 5}, {"lengths": []},
        {"kind": "rolling"}, {"name": "another"},
    ],
    ids=str,
)  # fmt: skip
def test_windows_in_headers(change: dict[str, Any]) -> None:
    case = CASES["operator_fixed_none_scalar_changelog"]
    assert isinstance(case, OperatorCase)
    op = case.make()
    data = op.snapshot()
    with pa.ipc.open_stream(data) as reader:
        metadata = reader.schema.metadata[b"sash"]
    header = json.loads(metadata)
    header["windows"][0] |= change
    with pytest.raises(SnapshotError):
        case.restore([repacked(data, {"windows": header["windows"]})])


def test_keys() -> None:
    case = CASES["operator_fixed_int_scalar_changelog"]
    data = case.make().snapshot()
    with pa.ipc.open_stream(data) as reader:
        keys = _table(reader.read_all()["keys"][0].as_py())
    number, values = keys["number"], keys["key n"]
    twice = pa.chunked_array([[0] * len(number)], pa.uint32())
    for other in (
        {"number": twice, "key n": values},
        {"number": number.cast(pa.int64()), "key n": values},
        {"number": number, "key n": values.cast(pa.int64())},
        {"number": number, "key n": pa.nulls(len(number), pa.int32())},
        {"number": number},
        {"key n": values},
    ):
        with pytest.raises(SnapshotError, match="keys"):
            case.restore([repacked(data, {}, keys=_bytes(pa.table(other)))])


def _table(data: bytes) -> pa.Table:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


# ---- states --------------------------------------------------------------------------------------

NEGATIVE = struct.pack("<q", -5)
NAN = struct.pack("<d", float("nan"))
STATES = [
    (agg.count(), NEGATIVE, 0),
    (agg.mean(), NEGATIVE, 8),
    (agg.geomean(), NEGATIVE, 8),
    (agg.product(), NEGATIVE, 8),
    (agg.maxcount(dtype=int), NEGATIVE, 8),
    (agg.variance(), struct.pack("<d", -1.0), 0),
    (agg.variance(), NAN, 0),
    (agg.stddev(), struct.pack("<d", float("inf")), 0),
    (agg.any(), struct.pack("<q", 7), 0),
    (agg.all(), struct.pack("<q", -3), 0),
    (agg.hll(lg_k=4), b"\xff" * 8, 0),
    (agg.topk(3, dtype=int), struct.pack("<Qqqq", 3, 1, 2, 3), 0),
]


@pytest.mark.parametrize("structure", [sash.DabaLite, sash.TwoStacksLite], ids=lambda s: s.__name__)
@pytest.mark.parametrize(("aggregate", "state", "place"), STATES, ids=str)
def test_states(structure: type[Window], aggregate: Any, state: bytes, place: int) -> None:
    """The first state that is saved, of the rows in the back, is none of this aggregate."""
    window = structure(aggregate)
    window.insert_many([1, 2, 3])
    data = window.snapshot()
    with pa.ipc.open_stream(data) as reader:
        cells = reader.read_all()["cells"][0].as_py()
    forged = cells[:place] + state + cells[place + len(state) :]
    assert structure.restore(data, aggregate).query() == window.query()
    with pytest.raises(SnapshotError, match="a state is not one of this aggregate"):
        structure.restore(repacked(data, {}, cells=forged), aggregate)


def test_counts_that_add_up_to_more_than_there_is_room_for() -> None:
    """Each may be; together they wrap around, which is defined, if not sensible."""
    window = sash.Amta(agg.mean())
    window.insert_many([1.0, 2.0, 3.0])
    data = window.snapshot()
    most = struct.pack("<dq", 1.0, 2**63 - 1)
    other = sash.Amta.restore(repacked(data, {}, cells=most * 3), agg.mean())
    other.query()
    other.insert(1.0)
    other.check_invariants()


# ---- slices that travel --------------------------------------------------------------------------

TYPES = {"t": pa.int64(), "x": pa.int64()}
JOIN = sash.monoid(lambda a, b: a + b, lift=str, name="join", column="x", returns=str)


def slices(aggregate: sash.Aggregate) -> pa.Table:
    return _partials.slices_of(operator(sash.tumbling(20), aggs=aggregate))


def merged(aggregate: sash.Aggregate, table: pa.Table) -> None:
    _partials.merge(operator(sash.tumbling(20), 0, aggs=aggregate), TYPES, table)


@pytest.mark.parametrize(
    "aggregate", [agg.sum("x"), agg.count("x"), JOIN], ids=["sum", "count", "join"]
)
def test_slices(aggregate: sash.Aggregate) -> None:
    table = slices(aggregate)
    merged(aggregate, table)
    first, state = pa.array([2**62] * len(table)), pa.array([b"x"] * len(table), pa.binary())
    nothing = pa.nulls(len(table), pa.int64())
    for name, column in (
        (_partials.FIRST, first), (_partials.LAST, first), (_partials.STATE, state),
        (_partials.FIRST, nothing), (_partials.LAST, pa.array([1.5] * len(table))),
        (_partials.STATE, pa.nulls(len(table), pa.binary())),
    ):  # fmt: skip
        place = table.column_names.index(name)
        with pytest.raises((ValueError, TypeError)):
            merged(aggregate, table.set_column(place, name, column))


def test_slices_run_nothing() -> None:
    """What pickle would have called is text that is no state."""
    state = b"cos\nsystem\n(S'true'\ntR."
    table = slices(JOIN)
    column = pa.array([state] * len(table), pa.binary())
    place = table.column_names.index(_partials.STATE)
    with pytest.raises(ValueError, match="its states cannot be read"):
        merged(JOIN, table.set_column(place, _partials.STATE, column))


def test_slices_need_plain_states() -> None:
    own = sash.monoid(lambda a, b: b, lift=lambda v: object(), lower=id, name="own", column="x")
    with pytest.raises(TypeError, match="object is not plain data: give the monoid a dump"):
        slices(own)
