"""Slices that travel: rows are folded where they are, windows put together elsewhere.

`slices_of` gives what an operator has of its rows as a table; `merge` puts such tables, of any
number of operators, into another one that was made with the same arguments. It tells the same
windows as one operator that had all the rows.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sash import _snapshot
from sash._bound import Bound
from sash._compile import Plan
from sash._tables import Table, flat

if TYPE_CHECKING:
    from sash._operator import WindowOperator

FIRST, LAST, STATE = "__sash_first", "__sash_last", "__sash_state"
"""The columns of a slice besides its key: the time it is known by, the last one it covers."""


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
    return fixed.cast(pa.binary() if len(cells) < 1 << 31 else pa.large_binary())


def _objects(bound: Bound, objects: list[object]) -> pa.Array:
    plan = bound.plan.plan
    if _plain(plan):
        return pa.array([pickle.dumps(one) for one in objects], pa.binary())
    return pa.array([_snapshot.dump_objects(plan, [one]) for one in objects], pa.binary())


def _plain(plan: Plan) -> bool:
    """Whether states travel as pickles: they do between the workers of one job, which run each
    other's functions anyway, unless a monoid has functions of its own for that.
    """
    return all(a.python is None or a.python.dump is None for a in plan.aggregates)


def _read_objects(bound: Bound, states: list[bytes]) -> list[object]:
    plan = bound.plan.plan
    if _plain(plan):
        return [pickle.loads(s) for s in states]
    return [one for s in states for one in _snapshot.load_objects(plan, s)]


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
    return np.ascontiguousarray(flat(slices.column(name)).to_numpy(), np.int64)


def _joined(states: pa.Array) -> bytes:
    """Return the bytes of all states, one after the other."""
    offsets = np.frombuffer(
        states.buffers()[1], np.int64 if pa.types.is_large_binary(states.type) else np.int32
    )
    data = states.buffers()[2]
    if data is None:
        return b""
    begin, end = offsets[states.offset], offsets[states.offset + len(states)]
    return bytes(data.slice(int(begin), int(end - begin)).to_pybytes())
