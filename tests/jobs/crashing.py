"""A program that runs a job in processes that crash or may not write: run by test_job_faults.py.

For each place where it can happen there is a process that ends there and another one that runs the
job again. It is a program, because a test runner has threads and should not fork.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "jobs")]

import stand_in  # noqa: E402
from faulty_io import CRASHED, crash, error, injected  # noqa: E402

from sash import jobs  # noqa: E402
from sash.live import HistoryError  # noqa: E402

WAYS = ("before", "after", "before, anew", "after, anew", "limit")
ANEW = 60
"""Calls until a run that begins anew has removed the history before it, and made another."""
FAILED = 3
MEMORY = Path("/dev/shm")


def in_process(work: Callable[[], None]) -> int:
    """Return the exit status of a process that does it."""
    sys.stdout.flush()
    if (child := os.fork()) == 0:
        try:
            work()
            os._exit(0)
        except (HistoryError, OSError) as failure:
            os._exit(FAILED if str(Path.cwd()) in str(failure) else 1)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def crashed(job: jobs.Job, folder: Path, at: int, way: str) -> None:
    """Run the job, and end the process at a call; with a limit, have writes fail beyond it."""
    if way == "limit":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (at, resource.RLIM_INFINITY))
        stand_in.run(job)
        return
    with injected(folder, at, crash, after=way.startswith("after")):
        stand_in.run(job)


def undisturbed(folder: Path) -> tuple[dict[str, object], int, int]:
    """Return what a run leaves, the number of its calls, and the size of its largest file."""
    job = stand_in.job_in(folder)
    largest = 0

    def seen(name: str, path: str, work: Callable[[], object]) -> object:
        nonlocal largest
        found = work()
        sizes = [p.stat().st_size for p in folder.glob("live.sqlite*")]
        largest = max([largest, *sizes])
        return found

    with injected(folder, 0, error(errno.EIO)) as faults:
        call = faults.call
        faults.call = lambda name, path, work: seen(name, path, lambda: call(name, path, work))  # type: ignore[method-assign]
        stand_in.run(job)
    return stand_in.outcome(folder), faults.calls, largest


def main(way: str) -> None:
    """Try all places, and print what was wrong and how often a process did not end well."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        root = Path(name).resolve()
        (root / "undisturbed").mkdir()
        expected, calls, largest = undisturbed(root / "undisturbed")
        places = range(0, largest + 1, 1500) if way == "limit" else range(1, calls + 1)
        if "anew" in way:
            places = places[:ANEW]
        wrong, disturbed = [], 0
        for at in places:
            folder = root / str(at)
            folder.mkdir()
            os.chdir(folder)
            job = stand_in.job_in(folder)
            if "anew" in way:
                stand_in.abandoned(job)
            status = in_process(lambda: crashed(job, folder, at, way))  # noqa: B023
            disturbed += status in (CRASHED, FAILED)
            again = in_process(lambda: stand_in.run(job))  # noqa: B023
            if status not in (0, CRASHED, FAILED) or again or stand_in.outcome(folder) != expected:
                wrong.append((at, status, again))
    least = len(places) - 3  # the last ones may have nothing to disturb
    print(json.dumps({"wrong": wrong, "disturbed": disturbed, "least": least}))


if __name__ == "__main__":
    main(sys.argv[1])
