"""Bytes that are not what was written: refused, each time with `SnapshotError`.

Damage of the bytes comes here, contents that were made up in `test_hostile_snapshots.py` and
`test_hostile_operators.py`. What may end a process is tried in a process of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import golden_files
import pyarrow as pa
import pytest
from forging import repacked, run
from golden_cases import CASES, OperatorCase

import sash
from sash import SnapshotError, _snapshot, agg
from sash._ipc import from_bytes, to_bytes

WINDOWS = ["DabaLite_sum_int", "FingerTree_counts", "TimedWindow_DabaLite_mixed", "Recalc_lists"]
OPERATORS = ["operator_sessions_text_native_complete", "operator_counted_none_python_complete"]
BOTH = [*WINDOWS, *OPERATORS]


def saved(name: str) -> list[bytes]:
    return golden_files.saved("snapshots", 1, name)[0]


def refused(name: str, *data: Any) -> None:
    with pytest.raises(SnapshotError):
        CASES[name].restore(list(data))


@pytest.mark.parametrize("name", BOTH)
def test_cut_short_anywhere(name: str) -> None:
    data = saved(name)[0]
    for length in range(len(data)):
        refused(name, data[:length])


@pytest.mark.parametrize("name", BOTH)
def test_more_than_one_or_with_something_around_it(name: str) -> None:
    data = saved(name)[0]
    for other in (data + data, data + b"\0", data + bytes(8), b"\0" + data, data[8:], b""):
        refused(name, other)


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("other", ["text", None, 5, ["x"], object()])
def test_other_types(name: str, other: Any) -> None:
    with pytest.raises(TypeError, match="a snapshot is bytes"):
        CASES[name].restore([other])


FLIPS = """
import random, sys
from golden_files import saved
from sash import SnapshotError, _operator_snapshot, _snapshot
name, most = sys.argv[1], int(sys.argv[2])
data = saved("snapshots", 1, name)[0][0]
operator = name.startswith("operator")
names = _operator_snapshot._BUFFERS if operator else _snapshot.COLUMNS
structure = "WindowOperator" if operator else name.split("_")[0]
whole = _snapshot.unpack(data, structure, names)
bits = range(8 * len(data))
for bit in bits if len(bits) <= most else random.Random(1).sample(bits, most):
    damaged = bytearray(data)
    damaged[bit // 8] ^= 1 << bit % 8
    try:
        found = _snapshot.unpack(bytes(damaged), structure, names)
    except SnapshotError:
        continue
    assert found == whole, bit  # padding, or a word of Arrow's that means nothing here
print("whole")
"""


@pytest.mark.parametrize("name", ["DabaLite_sum_int", OPERATORS[0]])
def test_any_bit_off(name: str) -> None:
    assert run(FLIPS, name, "10000") == "whole"


# ---- of another time, of another thing -----------------------------------------------------------


@pytest.mark.parametrize("name", BOTH)
def test_from_the_future(name: str) -> None:
    """Its columns may be others than today's: the message is of the format all the same."""
    data = saved(name)[0]
    number = _snapshot.FORMAT + 1
    for other in (
        repacked(data, {"format": number}),
        repacked(data, {"format": number}, another=b"column"),
    ):
        with pytest.raises(
            SnapshotError, match=f"has format {number}; this version reads {number - 1}: restore it"
        ):
            CASES[name].restore([other])


def test_of_each_other() -> None:
    for one in (*BOTH, "DabaLite_sum_float", "Daba_sum_int"):
        for other in BOTH:
            if one != other:
                with pytest.raises(SnapshotError, match="this is a snapshot of"):
                    CASES[other].restore(saved(one))


def test_parts_of_two() -> None:
    """The columns of one under the header of another, as a mixed-up store may give them."""
    case = CASES["DabaLite_sum_int"]
    window = case.make()
    one = window.snapshot()
    window.insert(5)
    two = window.snapshot()
    tables = [pa.ipc.open_stream(data).read_all() for data in (one, two)]
    for name in _snapshot.COLUMNS:
        place = tables[0].column_names.index(name)
        mixed = tables[0].set_column(place, tables[0].schema.field(name), tables[1][name])
        if mixed == tables[0]:
            continue
        with pytest.raises(SnapshotError, match="damaged: its checksum differs"):
            case.restore([to_bytes(mixed.replace_schema_metadata(tables[0].schema.metadata))])


def test_changes_of_another_operator() -> None:
    case = CASES[OPERATORS[0]]
    assert isinstance(case, OperatorCase)
    first, second, third = saved(OPERATORS[0])
    op = case.make()  # the same rows, but drawn names of its own
    others = case.save(op)
    for chain in ([first, third], [first, third, second], [first, others[1]], [second], [third]):
        refused(OPERATORS[0], *chain)
    assert case.restore([first, second, third]).rows == op.rows


# ---- memory --------------------------------------------------------------------------------------

BOMB = """
import resource
import pyarrow as pa, sash
from golden_files import saved
from sash import _snapshot
data = saved("snapshots", 1, "DabaLite_sum_int")[0][0]
with pa.ipc.open_stream(data) as reader:
    table = reader.read_all()
big = pa.table({n: pa.array([bytes(200_000_000) if n == "cells" else b""], pa.large_binary())
                for n in table.column_names}).replace_schema_metadata(table.schema.metadata)
sink = pa.BufferOutputStream()
options = pa.ipc.IpcWriteOptions(compression="zstd")
with pa.ipc.new_stream(sink, big.schema, options=options) as writer:
    writer.write_table(big)
small = sink.getvalue().to_pybytes()
assert len(small) < 1_000_000
del big, sink
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 120_000_000,) * 2)
try:
    sash.DabaLite.restore(small, sash.agg.sum(dtype=int))
except sash.SnapshotError as error:
    print(error)
"""


def test_a_few_bytes_do_not_become_many() -> None:
    assert "its rows are compressed" in run(BOMB)


def test_tables_are_read_whole_or_not_at_all() -> None:
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    data = to_bytes(table)
    assert from_bytes(data) == table
    assert from_bytes(to_bytes(table[:0])) == table[:0]
    encoded = table.set_column(1, "b", table["b"].dictionary_encode())
    for bad in (data[:-8], data[:-1], data + data, b"", bytes(100), to_bytes(encoded)):
        with pytest.raises(ValueError, match="these bytes are no table"):
            from_bytes(bad)


def test_text_that_is_none() -> None:
    """Offsets and letters are looked at before anybody follows them."""
    data = to_bytes(pa.table({"a": ["abcdefghijklmnop"]}))
    assert data.count(b"abcdefgh") == 1
    with pytest.raises(ValueError, match="these bytes are no table"):
        from_bytes(data.replace(b"abcdefgh", b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8"))


# ---- nothing runs --------------------------------------------------------------------------------

AUDIT = """
import sys
import sash
from golden_cases import CASES
from golden_files import saved
names = [n for n in CASES if n.split("_")[0] in ("Recalc", "FingerTree", "TimedWindow", "operator")]
files = {name: saved("snapshots", 1, name)[0] for name in names}
for name in names:  # whatever is imported late is imported now
    CASES[name].restore(files[name])
seen, on = [], False
ALLOWED = ("object.", "sys._getframe", "array.__new__", "time.sleep")
def hook(event, arguments):
    if on and not event.startswith(ALLOWED):
        seen.append((event, str(arguments)[:80]))
sys.addaudithook(hook)
for name in names:
    try:
        on = True
        CASES[name].restore(files[name])
        damaged = bytearray(files[name][0])
        for place in range(0, len(damaged), 97):
            damaged[place] ^= 255
            try:
                CASES[name].restore([bytes(damaged)])
            except sash.SnapshotError:
                pass
    finally:
        on = False
print(sorted(set(seen)))
on = True
eval("1")
on = False
assert {event for event, _ in seen} >= {"compile", "exec"}  # the hook sees what it should see
"""


def test_reading_runs_nothing() -> None:
    """No import, no file, no compiling, no process, no network, no pickle: Python would say so."""
    assert run(AUDIT) == "[]"


def test_nothing_is_pickled() -> None:
    source = Path(sash.__file__).parent
    for path in source.rglob("*.py"):
        text = path.read_text()
        for name in (
            "pickle.load",
            "pickle.Unpickler",
            "marshal",
            "import pickle",
            "eval(",
            "exec(",
        ):
            assert name not in text, (path, name)


def test_what_is_not_snapshots_of_sash() -> None:
    window = sash.DabaLite(agg.sum())
    for other in (b"PK\x03\x04", b"\x80\x04\x95", b"ARROW1\0\0", window.snapshot()[::-1]):
        with pytest.raises(SnapshotError, match="not a snapshot"):
            sash.DabaLite.restore(other, agg.sum())
