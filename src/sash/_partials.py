"""Slices that travel: rows are folded where they are, windows put together elsewhere.

`slices_of` gives what an operator has of its rows as a table; `merge` puts such tables, of any
number of operators, into another one that was made with the same arguments. It tells the same
windows as one operator that had all the rows.
"""

from __future__ import annotations

import pickle
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sash import _snapshot
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


# States of Python aggregates travel as pickles, between workers that run each other's functions
# anyway; a monoid's own dump and load are used where it has them.


def _objects(bound: Bound, objects: list[Any]) -> pa.Array:
    dumps, _ = _snapshot.state_functions(bound.plan.plan)
    return pa.array([_pickled(_converted(one, dumps)) for one in objects], pa.binary())


def _read_objects(bound: Bound, states: list[bytes]) -> list[Any]:
    _, loads = _snapshot.state_functions(bound.plan.plan)
    return [_converted(pickle.loads(state), loads) for state in states]


def _converted(state: Any, functions: Any) -> Any:
    if state is ... or functions is None:  # nothing, or as it is
        return state
    if isinstance(functions, tuple):
        return tuple(map(_converted, state, functions))
    return functions(state)


def _pickled(state: Any) -> bytes:
    try:
        return pickle.dumps(state)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        by_value = sys.modules.get("pyspark.cloudpickle")  # of classes of a notebook or script
        if by_value is None:
            raise TypeError(
                f"a state of type {type(state).__name__} cannot be sent to another worker "
                f"({error}): give the monoid a dump and a load"
            ) from error
        return bytes(by_value.dumps(state))


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
    if not len(states):
        return b""
    wide = pa.types.is_large_binary(states.type)
    offsets = np.frombuffer(states.buffers()[1], np.int64 if wide else np.int32)
    begin, end = offsets[states.offset], offsets[states.offset + len(states)]
    return bytes(states.buffers()[2].slice(int(begin), int(end - begin)).to_pybytes())
