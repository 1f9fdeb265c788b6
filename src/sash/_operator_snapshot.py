"""Snapshots of a `WindowOperator`: all of it, or what has changed since the one before.

Each names itself and, where it holds changes only, the one it continues, so that they can be put
together in their order and in no other.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sash import _snapshot
from sash._bound import Bound, columns_read, plain_type
from sash._clock import REACH
from sash._ipc import from_bytes, to_bytes
from sash._snapshot import DamagedSnapshotError, SnapshotError

if TYPE_CHECKING:
    from sash._operator import WindowOperator
    from sash.windows import Window

_STRUCTURE = "WindowOperator"
_BUFFERS = (*_snapshot.COLUMNS, "schema", "keys", "forgotten", "undelivered")


def write(op: WindowOperator, everything: bool) -> bytes:
    """Return a snapshot of an operator, of everything or of the changes."""
    bound = op._bound
    everything = everything or bound is None or not bound.core.journalled()
    name = secrets.token_hex(8)
    packed = _packed(op, name, None if everything else op._stamp)
    if bound is None:
        op._stamp = name
        return packed
    try:  # from here on the next changes are those after this
        bound.core.saved()
        bound.keys.saved()
        op._stamp = name
        return packed
    except BaseException:  # a signal's handler: nobody has these bytes
        bound.core.unsaved()
        raise


def write_again(op: WindowOperator) -> bytes:
    """Return all of an operator as it was last saved, under the same name; it has not changed."""
    assert op._stamp is not None
    return _packed(op, op._stamp, None)


def _packed(op: WindowOperator, name: str, after: str | None) -> bytes:
    bound = op._bound
    header: dict[str, Any] = {
        "structure": _STRUCTURE,
        **_identity(op),
        "finished": op._finished,
        "name": name,
        "after": after,
        "windows": [],
    }
    buffers = dict.fromkeys(_BUFFERS, b"")
    if bound is not None:
        header |= {
            "lateness": bound.lateness,
            "delay": bound.delay,
            "windows": _windows(bound),
        }
        (*native, objects), ids = bound.core.save(after is None)
        native.append(_snapshot.dump_objects(bound.plan.plan, objects))
        buffers |= dict(zip(_snapshot.COLUMNS, native, strict=True))
        buffers["schema"] = pa.schema(list(bound.types.items())).serialize().to_pybytes()
        buffers["keys"] = to_bytes(bound.keys.save(np.asarray(ids)))
        buffers["forgotten"] = to_bytes(bound.keys.save_forgotten())
        if op._undelivered:
            results = pa.concat_tables(op._undelivered, promote_options="default")
            buffers["undelivered"] = to_bytes(results)
    return _snapshot.pack(header, buffers)


def _identity(op: WindowOperator) -> dict[str, Any]:
    """Return what the operator that restores must have in common."""
    return {
        "on": op._on,
        "by": op._by,
        "aggregate": "|".join(a.signature() for a in op._aggregates),
        "outputs": [a.output for a in op._aggregates],
        "columns": [list(a.columns) for a in op._aggregates],
        "emit": op._emit,
    }


def _windows(bound: Bound) -> list[dict[str, Any]]:
    return [
        {
            "number": number,
            "name": window.name,
            "kind": window.kind,
            "lengths": _lengths(bound, window),
            "since": bound.since[number],
            "known": bound.calendars[number].known if number in bound.calendars else None,
        }
        for number, window in bound.named.items()
    ]


def _lengths(bound: Bound, window: Window) -> list[Any]:
    if window.by_rows:
        return [window.rows, window.step, window.size, *window.reads]
    return list(bound.clock.window(window))


def read(op: WindowOperator, snapshots: tuple[bytes, ...]) -> None:
    """Make a new operator what the snapshots say."""
    if op._bound is not None:
        raise RuntimeError("restore needs an operator that has not processed anything yet")
    if not snapshots:
        raise TypeError("restore needs a snapshot, and the changes made after it")
    if any(isinstance(data, (list, tuple)) for data in snapshots):
        raise TypeError("a snapshot is bytes; give several as restore(*snapshots)")
    for data in snapshots:
        _snapshot.require_bytes(data)
    with _refusing():
        _read(op, snapshots)


@contextmanager
def _refusing() -> Iterator[None]:
    """Whatever is wrong with a snapshot, say so in one way."""
    try:
        yield
    except (SnapshotError, MemoryError):
        raise
    except Exception as error:  # a monoid's own functions, given strange states, may raise anything
        raise DamagedSnapshotError(f"the snapshot cannot be read: {error}") from error


def follow(op: WindowOperator, changes: Iterable[bytes]) -> None:
    """Take up the changes made by another operator since both were the same.

    ``op`` must not have processed anything since; where this raises, it is of no use any more.
    """
    with _refusing():
        _follow(op, changes)


def _follow(op: WindowOperator, changes: Iterable[bytes]) -> None:
    bound = op._bound
    assert bound is not None
    bound.keys.saved()  # keys forgotten here since, of which the others may have rows again
    for data in changes:
        header, buffers = _opened(data)
        _check(op, header)
        if header["after"] != op._stamp:
            raise SnapshotError("these changes continue another snapshot")
        _take(bound, header, buffers)
        op._stamp = header["name"]
    bound.core.follow()
    bound.forget_done()


def _opened(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return what a snapshot says of itself, of which only the values are left to check."""
    header, buffers = _snapshot.unpack(data, _STRUCTURE, _BUFFERS)
    kinds = {"name": str, "after": str | None, "finished": bool, "windows": list}
    if not all(isinstance(header[what], kind) for what, kind in kinds.items()):
        raise DamagedSnapshotError("the snapshot is damaged: it says strange things of itself")
    numbers = [saved["number"] for saved in header["windows"]]
    times = [t for saved in header["windows"] for t in (saved["since"], *(saved["known"] or ()))]
    whole = [*numbers, *(t for t in times if t is not None)]
    if not all(type(n) is int and abs(n) <= REACH for n in whole):
        raise DamagedSnapshotError("the snapshot is damaged: a window has strange numbers")
    if len(set(numbers)) < len(numbers):
        raise DamagedSnapshotError("the snapshot is damaged: two windows have one number")
    return header, buffers


def _read(op: WindowOperator, snapshots: tuple[bytes, ...]) -> None:
    bound: Bound | None = None
    before = None
    finished, undelivered = False, b""
    opened = [_opened(data) for data in snapshots]
    whole = [i for i, (header, _) in enumerate(opened) if header["after"] is None]
    begin = whole[-1] if whole else 0
    for i, (header, buffers) in enumerate(opened[begin:], begin + 1):
        _check(op, header)
        if header["after"] != before:
            raise SnapshotError(
                f"number {i} of these are changes that continue another snapshot than the one "
                "before: give the snapshot first, then all changes made after it, in their order"
            )
        before = header["name"]
        finished, undelivered = bool(header["finished"]), buffers[7]
        if not buffers[4]:
            continue
        if header["after"] is None:
            bound = _bind(op, header, buffers)
        if bound is None:
            raise DamagedSnapshotError("the snapshot is damaged: it has no beginning")
        _take(bound, header, buffers)
    if bound is not None:
        bound.core.settle()
        bound.forget_done(bound.keys.all())
    results = [_results(bound, undelivered)] if bound is not None and undelivered else []
    op._bound, op._stamp, op._finished, op._undelivered = bound, before, finished, results


def _results(bound: Bound, data: bytes) -> pa.Table:
    """Return results that were not delivered before the snapshot."""
    results = from_bytes(data)
    if results.schema.names != bound.nothing_told().schema.names:
        raise DamagedSnapshotError("the snapshot is damaged: its results have other columns")
    return results


def _check(op: WindowOperator, header: dict[str, Any]) -> None:
    for what, value in _identity(op).items():
        _snapshot.require(header, what, value)
    names, ours = sorted(w["name"] for w in header["windows"]), sorted(w.name for w in op._windows)
    if names and names != ours:
        raise SnapshotError(
            f"this is a snapshot of the windows {', '.join(names)}, not of {', '.join(ours)}"
        )


def _bind(op: WindowOperator, header: dict[str, Any], buffers: list[bytes]) -> Bound:
    schema = pa.ipc.read_schema(pa.py_buffer(buffers[4]))
    for f in schema:
        getattr(f.type, "tz", None)  # raises where the name of a zone is no text
    if any(plain_type(f.type) != f.type for f in schema):
        raise DamagedSnapshotError("the snapshot is damaged: a column holds categories")
    read = {name for _, name in columns_read(op)}  # not those of a window that was removed
    types = {f.name: f.type for f in schema if f.name in read}
    bound = Bound.of_types(op, types, header["windows"])
    for what, ours in (("lateness", bound.lateness), ("delay", bound.delay)):
        if header[what] != ours:
            raise SnapshotError(f"this is a snapshot with {what} {header[what]}, not {ours}")
    for saved in header["windows"]:
        window = bound.named[saved["number"]]
        if saved["lengths"] != _lengths(bound, window) or saved["kind"] != window.kind:
            raise SnapshotError(f"the window {saved['name']!r} was another one: {saved['lengths']}")
    return bound


def _take(bound: Bound, header: dict[str, Any], buffers: list[bytes]) -> None:
    for saved in header["windows"]:
        if saved["known"] is not None:
            bound.list_calendar(saved["number"], *saved["known"])
    objects = _snapshot.load_objects(bound.plan.plan, buffers[3])
    bound.core.drop(bound.keys.load_forgotten(from_bytes(buffers[6])))
    had, here = bound.keys.load(from_bytes(buffers[5]))
    bound.core.load(buffers[0], buffers[1], buffers[2], objects, had, here)
