"""Slices that travel: rows are folded where they are, windows put together elsewhere.

`slices_of` gives what an operator has of its rows as a table; `merge` puts such tables, of any
number of operators, into another one that was made with the same arguments. It tells the same
windows as one operator that had all the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sash import _snapshot, _states
from sash._bound import Bound
from sash._tables import Table, flat

if TYPE_CHECKING:
    from sash._operator import WindowOperator

OWN = "__sash_"
"""How the names of our own columns begin."""
FIRST, LAST, STATE = f"{OWN}first", f"{OWN}last", f"{OWN}state"
FIELDS = ((FIRST, pa.int64()), (LAST, pa.int64()), (STATE, pa.binary()))
"""The columns of a slice besides its key: its first and last time, its state."""


def slices_of(op: WindowOperator) -> pa.Table:
    """Return all slices of an operator that has processed rows."""
    bound = op._need_rows("slices_of")
    ids, firsts, lasts, cells, objects = bound.core.slices_out()
    states = _cells(cells, len(ids)) if bound.plan.plan.native else _objects(bound, objects)
    keys = bound.keys.columns(np.asarray(ids))
    times = {FIRST: pa.array(np.asarray(firsts)), LAST: pa.array(np.asarray(lasts))}
    return pa.table({**keys, **times, STATE: states})


def _cells(cells: bytes, n: int) -> pa.Array:
    if n == 0:
        return pa.array([], pa.binary())
    fixed = pa.Array.from_buffers(pa.binary(len(cells) // n), n, [None, pa.py_buffer(cells)])
    return fixed.cast(pa.binary())


# States of Python aggregates travel as they are saved: as data, which runs nothing when it is read.


def _objects(bound: Bound, objects: list[Any]) -> pa.Array:
    dumps, _ = _snapshot.state_functions(bound.plan.plan)
    return pa.array([_states.dumps([one], dumps) for one in objects], pa.binary())


def _read_objects(bound: Bound, states: list[bytes]) -> list[Any]:
    _, loads = _snapshot.state_functions(bound.plan.plan)
    read = [_states.loads(state, loads) for state in states]
    if any(len(one) != 1 for one in read):
        raise ValueError("the slices are damaged: one has several states, or none")
    return [one[0] for one in read]


def merge(op: WindowOperator, types: dict[str, pa.DataType], slices: pa.Table) -> pa.Table:
    """Put slices into an operator: those of a key together, in order of time.

    ``types`` are those of the columns that the operator reads. Returns what is told.
    """
    if op._bound is None:
        op._bound = Bound.of_types(op, types)
    bound = op._bound
    firsts, lasts = _times(slices, FIRST), _times(slices, LAST)
    states = flat(slices.column(STATE))
    cells, objects = b"", []
    if bound.plan.plan.native:
        cells = _joined(states)
    else:
        objects = _read_objects(bound, states.to_pylist())
    bound.list_windows_around(firsts)
    bound.list_windows_around(lasts)
    return bound.merge(Table(slices), firsts, lasts, cells, objects)


def _times(slices: pa.Table, name: str) -> npt.NDArray[np.int64]:
    times = flat(slices.column(name))
    if times.type != pa.int64() or times.null_count:
        raise ValueError(f"the slices are damaged: {name} must hold times, not {times.type}")
    return np.ascontiguousarray(times.to_numpy(), np.int64)


def _joined(states: pa.Array) -> bytes:
    """Return the bytes of all states, one after the other."""
    if not len(states):
        return b""
    wide = pa.types.is_large_binary(states.type)
    offsets = np.frombuffer(states.buffers()[1], np.int64 if wide else np.int32)
    places = offsets[states.offset : states.offset + len(states) + 1]
    if states.null_count or len(np.unique(np.diff(places))) > 1:
        raise ValueError("the slices are damaged: their states differ in size")
    begin, end = places[0], places[-1]
    return bytes(states.buffers()[2].slice(int(begin), int(end - begin)).to_pybytes())
