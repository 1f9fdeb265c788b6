"""What all live windows do the same way: snapshots, what they print, what they refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sash import _snapshot
from sash._compile import Plan


def describe(name: str, label: str, size: int, value: Any) -> str:
    """Return the repr of a window: what it is, how much is in it, and what it says now."""
    text = repr(value)
    if len(text) > 60:
        text = text[:57] + "..."
    entries = "1 entry" if size == 1 else f"{size} entries"
    return f"<{name} of {label}: {entries}, {text}>"


class Live:
    """A window object over one of the core's structures. Mixed in before the core's class."""

    _plan: Plan

    if TYPE_CHECKING:

        def __len__(self) -> int: ...

        def query(self) -> Any:
            """Return the aggregate of the whole window."""

        def _save(self) -> tuple[Any, ...]: ...

        def _bytes(self) -> int: ...

    def _kind(self) -> str:
        """What a snapshot calls this window."""
        raise NotImplementedError

    def _title(self) -> str:
        """What a reader calls it."""
        return type(self).__name__

    def __bool__(self) -> bool:
        return len(self) > 0

    def snapshot(self) -> bytes:
        """Return the window as bytes that `restore` reads: versioned, checked Arrow data."""
        return _snapshot.write(self._kind(), self._plan, self._save())

    @property
    def nbytes(self) -> int:
        """The memory the window's entries, times and aggregates take, in bytes."""
        return self._bytes()

    def __repr__(self) -> str:
        try:
            value = self.query()
        except Exception as error:  # a repr must not fail where a query does
            value = error
        return describe(self._title(), self._plan.label, len(self), value)

    def __reduce__(self) -> Any:
        raise TypeError(
            f"{type(self).__name__} cannot be pickled: use snapshot() and restore(), or build it "
            "where it is used"
        )
