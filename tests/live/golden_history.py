"""A history as a golden file. As in `golden_cases.py`: a case is never changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import histories as h

from sash.live import History


class HistoryCase:
    """A history of two micro-batches, with corrections, late rows and progress."""

    name = "history"
    made = "micro-batch 0 with five windows of a and of b, 1 with corrections of a and a late row"

    def make(self) -> bytes:
        first = h.hourly("a", [1.0, 2.5, 3.0, float("nan"), -0.0]) + h.hourly("b", [7.0] * 5)
        again = [replace(row, change="correction", revision=1, total=9.0) for row in first[:2]]
        with h.folder() as folder:
            path = Path(folder) / "live.sqlite"
            with History.create_or_open(path, h.ABOUT) as history:
                history.record(0, h.results(first), None)
                history.record(1, h.results(again), h.late(("a", 1)))
                history.record_progress({"batch": 1, "at": 1000.0, "rows": 12, "rows_total": 40})
            return path.read_bytes()

    def save(self, data: bytes) -> list[bytes]:
        return [data]

    def restore(self, saved: list[bytes]) -> bytes:
        return saved[0]

    def ask(self, data: bytes) -> Iterator[str]:
        """Read it, go on with it, and read it again."""
        with h.folder() as folder:
            path = Path(folder) / "live.sqlite"
            path.write_bytes(data)
            yield from _told(path)
            with History.create_or_open(path, h.ABOUT) as history:
                history.record(2, h.results(h.hourly("c", [4.0, 5.0])), h.late(("c", 2)))
            yield from _told(path)


def _told(path: Path) -> Iterator[str]:
    with History.open(path) as history:
        for user in "abc":
            yield str(h.windows_of(history, user, "hour"))
        yield str(history.keys())
        meta = history.meta()
        yield str({name: meta[name] for name in sorted(meta) if name != "id"})
        yield str(history.progress())


CASES = {"history": HistoryCase()}
