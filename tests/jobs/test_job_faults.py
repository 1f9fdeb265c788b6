"""Whatever fails while a job writes: run it again, and all is as if nothing had."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import crashing
import pytest
import stand_in
from depth import sampled
from faulty_io import ERRORS, error, injected

from sash.live import HistoryError

MEMORY = Path("/dev/shm")  # a disk would be waited for at every micro-batch


@contextmanager
def new_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name).resolve()


def undisturbed() -> tuple[dict[str, object], int]:
    """Return what a run leaves, and how many calls it takes."""
    with new_folder() as folder:
        job = stand_in.job_in(folder)
        with injected(folder, 0, error(errno.EIO)) as faults:
            stand_in.run(job)
        return stand_in.outcome(folder), faults.calls


def test_the_stand_in_writes_everything() -> None:
    found, calls = undisturbed()
    assert list(found["out"]) == ["batch=000000", "batch=000001", "batch=000003"]  # type: ignore[call-overload]
    assert len(found["table windows"]) == 4  # type: ignore[arg-type]
    assert found["running"] == [False]
    assert calls > 100


CASES = [*((number, False) for number in ERRORS), (errno.EIO, True)]


@pytest.mark.parametrize(("number", "after"), CASES)
def test_every_call_fails_once(number: int, after: bool) -> None:
    """Before it is done, or after it is done."""
    expected, calls = undisturbed()
    raised = 0
    for at in range(1, calls + 1):
        with new_folder() as folder:
            job = stand_in.job_in(folder)
            with injected(folder, at, error(number), after=after) as faults:
                try:
                    stand_in.run(job)
                except Exception as failure:
                    raised += 1
                    assert str(folder) in str(failure), faults.failed
            stand_in.run(job)
            assert stand_in.outcome(folder) == expected, faults.failed
    assert raised >= calls - 2  # a folder that is there already need not be made


def test_every_call_fails_from_then_on() -> None:
    """As on a disk that stays full: rolling back fails, too."""
    expected, calls = undisturbed()
    for at in range(2, calls + 1):
        with new_folder() as folder:
            job = stand_in.job_in(folder)
            with injected(folder, at, error(errno.ENOSPC), for_good=True) as faults:
                with pytest.raises((HistoryError, OSError)) as raised:
                    stand_in.run(job)
                assert str(folder) in str(raised.value), faults.failed
            stand_in.run(job)
            assert stand_in.outcome(folder) == expected, faults.failed


def test_a_history_that_begins_anew() -> None:
    """The one before goes, also where its log of writes is left."""
    expected, _ = undisturbed()
    for at in range(1, crashing.ANEW):
        with new_folder() as folder:
            job = stand_in.job_in(folder)
            stand_in.abandoned(job)
            with injected(folder, at, error(errno.EACCES)) as faults:
                try:
                    stand_in.run(job)
                except Exception as failure:
                    assert str(folder) in str(failure), faults.failed
            stand_in.run(job)
            assert stand_in.outcome(folder) == expected, faults.failed


def test_two_failures() -> None:
    """The second one while the job recovers from the first."""
    expected, calls = undisturbed()
    for first in range(1, calls + 1, 17):
        for second in range(1 + first % 13, calls + 1, 13):
            with new_folder() as folder:
                job = stand_in.job_in(folder)
                for at in (first, second):
                    with injected(folder, at, error(errno.ENOSPC), after=at % 2 == 0):
                        try:
                            stand_in.run(job)
                        except Exception as failure:
                            assert str(folder) in str(failure)
                stand_in.run(job)
                assert stand_in.outcome(folder) == expected, (first, second)


@pytest.mark.parametrize("way", sampled(crashing.WAYS, 4))
def test_a_process_that_ends_at_any_call(way: str) -> None:
    """Killed before or after a call, or with a file system that takes so many bytes of a file."""
    command = [sys.executable, crashing.__file__, way]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    assert found["disturbed"] >= found["least"]
