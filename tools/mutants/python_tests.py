"""Mutants against the Python tests, in a process that has collected them and forks for each mutant.

A first run without a mutant tells which tests pass by which mutants, and how long each takes. A
mutant then meets only the tests that pass by it, those first that have caught others of its
header, then the quickest, until one fails, crashes or does not end.

Runs as ``python -m tools.mutants.python_tests FOLDER MUTANTS OUTPUT``: numbers and headers of the
mutants in a JSON file, one line of JSON out for each mutant.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from .native import MEMORY, how
from .sample import ROOT

# Tests of the core. Which of them a mutant meets is found by running them.
FILES = (
    "aggregates",
    "bad_input",
    "coarse",
    "combines",
    "exceptions",
    "flat_fat",
    "hostile_snapshots",
    "memory",
    "operator",
    "operator_aggregates",
    "operator_bad_input",
    "operator_batches",
    "operator_faults",
    "operator_machine",
    "operator_snapshots",
    "overflow",
    "parameters",
    "products",
    "reactive",
    "references",
    "rolling",
    "rolling_bad_input",
    "rolling_tables",
    "rolling_types",
    "sharing",
    "sketches",
    "snapshots",
    "structures",
    "timed",
    "tree_bad_input",
    "tree_combines",
    "tree_exceptions",
    "tree_faults",
    "tree_machine",
    "tree_memory",
    "tree_orders",
    "tree_slide",
)
_FACTOR, _MORE = 10, 5.0  # times the usual time, and so many seconds, until a test is endless


class Core:
    """The switches of the loaded core."""

    def __init__(self, library: str, mutants: int) -> None:
        core = ctypes.CDLL(library)
        core.sash_mutant_reached.restype = ctypes.POINTER(ctypes.c_ubyte * (mutants + 1))
        self._reached = core.sash_mutant_reached().contents
        self.set = core.sash_mutant_set

    def forget(self) -> None:
        """From now on, nothing was reached."""
        ctypes.memset(self._reached, 0, len(self._reached))

    def reached(self) -> list[int]:
        """The numbers of the mutants that were come by."""
        return [n for n, seen in enumerate(self._reached) if seen]


class Server:
    """A plugin that runs tests of its choice for one mutant after the other."""

    def __init__(self, folder: Path, work: list[tuple[int, str]], output: Path) -> None:
        self.folder, self.work, self.output = folder, work, output
        self.kills: Counter[tuple[str, str]] = Counter()  # by header and test
        self.known: dict[str, tuple[float, set[int]]] = {}

    def pytest_configure(self) -> None:
        """The project's examples, but the first failure is enough."""
        from hypothesis import Phase, settings

        phases = [Phase.explicit, Phase.generate]
        examples = int(os.environ.get("SASH_EXAMPLES", "100"))
        given = {"phases": phases, "report_multiple_bugs": False, "max_examples": examples}
        settings.register_profile("mutants", settings.get_profile("sash"), **given)
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Instead of running all tests once."""
        import sash._core

        library = sash._core.__file__ or ""
        if not library.startswith(str(self.folder)):
            raise SystemExit(f"{library} is not the core with the mutants")
        mutants = json.loads((self.folder.parent / "count.json").read_text())
        self.core = Core(library, mutants)
        items = {item.nodeid: item for item in session.items}
        self._learn(items)
        longest = float(os.environ.get("SASH_LONGEST", "inf"))
        short = {n: item for n, item in items.items() if self.known[n][0] <= longest}
        for mutant, header in sorted(self.work, key=lambda work: len(self._tests(short, work[0]))):
            self._meet(short, mutant, header)
        return True

    def _learn(self, items: dict[str, pytest.Item]) -> None:
        """What each test reaches, from a run without a mutant, where that is not known."""
        path = self.folder.parent / "reached.jsonl"
        path.touch()
        self._read(path)
        new = [item for name, item in items.items() if name not in self.known]

        def run(_: Callable[[Any], None]) -> None:
            for item, following in zip_longest(new, new[1:]):
                self.core.forget()
                start = time.process_time()
                failed = _fails(item, following)
                seconds = round(time.process_time() - start, 4)
                with path.open("a") as out:
                    line = [item.nodeid, failed, seconds, self.core.reached()]
                    out.write(json.dumps(line) + "\n")

        _forked(run)
        self._read(path)
        if missing := [item.nodeid for item in new if item.nodeid not in self.known]:
            raise SystemExit(f"{missing[0]} ended the run without a mutant")

    def _read(self, path: Path) -> None:
        for line in path.read_text().splitlines():
            name, failed, seconds, reached = json.loads(line)
            if failed:
                raise SystemExit(f"{name} fails without a mutant: {failed}")
            self.known[name] = seconds, set(reached)

    def _tests(self, items: dict[str, pytest.Item], mutant: int) -> list[str]:
        """The tests that come by a mutant."""
        return [name for name in items if mutant in self.known[name][1]]

    def _meet(self, items: dict[str, pytest.Item], mutant: int, header: str) -> None:
        names = self._tests(items, mutant)
        names.sort(key=lambda n: (-self.kills[header, n], self.known[n][0]))
        chosen = [items[name] for name in names]

        def run(say: Callable[[Any], None]) -> None:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            self.core.set(mutant)
            for item, following in zip_longest(chosen, chosen[1:]):
                say(item.nodeid)
                seconds = _FACTOR * self.known[item.nodeid][0] + _MORE
                signal.setitimer(signal.ITIMER_PROF, seconds)
                signal.setitimer(signal.ITIMER_REAL, 20 * seconds)  # of a machine that is busy
                if _fails(item, following):
                    os._exit(1)

        start = time.monotonic()
        lines, code = _forked(run)
        end = how(code)
        if end and not lines:
            raise SystemExit(f"no test was run for mutant {mutant}")
        by = json.loads(lines[-1]) if end else ""
        if by:
            self.kills[header, by] += 1
        took = round(time.monotonic() - start, 1)
        answer = {"mutant": mutant, "how": end, "by": by, "tests": len(names), "seconds": took}
        with self.output.open("a") as out:
            out.write(json.dumps(answer) + "\n")


def _fails(item: pytest.Item, following: pytest.Item | None) -> str:
    """Why a test fails; empty: it passes."""
    from _pytest.runner import runtestprotocol

    reports = runtestprotocol(item, log=False, nextitem=following)
    return next((report.longreprtext or report.when for report in reports if report.failed), "")


def _forked(run: Callable[[Callable[[Any], None]], None]) -> tuple[list[str], int]:
    """What a child process says, line by line, and how it ends (negative: by a signal)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        code = 3
        try:
            run(lambda what: os.write(writing, (json.dumps(what) + "\n").encode()))  # type: ignore[arg-type]
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as said:
        lines = said.read().splitlines()
    _, status = os.waitpid(child, 0)
    return lines, os.waitstatus_to_exitcode(status)


def main() -> int:
    """Collects the tests with the core that has the mutants, and serves."""
    folder, work, output = (Path(argument).resolve() for argument in sys.argv[1:4])
    sys.meta_path = [f for f in sys.meta_path if not type(f).__module__.startswith("_editable")]
    sys.path.insert(0, str(folder))
    files = [str(ROOT / "tests" / f"test_{name}.py") for name in FILES]
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "--rootdir", str(ROOT)]
    server = Server(folder, json.loads(work.read_text()), output)
    return int(pytest.main([*options, *files], plugins=[server]))


if __name__ == "__main__":
    sys.exit(main())
