"""Mutants against the native tests: one run of a program for each, with a limit of its time."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

MEMORY = 6 << 30
_SLACK = 5  # times the usual time, and so many seconds, until a run counts as endless


@dataclass(frozen=True)
class Program:
    """A native test without a mutant: what it reaches, and how long it takes."""

    path: Path
    reached: bytes
    seconds: float

    @classmethod
    def measure(cls, path: Path) -> Program:
        """Runs it once; a test that fails without a mutant is an error."""
        seen = path.with_suffix(".reached")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        environment = {**os.environ, "SASH_MUTANT": "0", "SASH_REACHED": str(seen)}
        result = subprocess.run([path], env=environment, capture_output=True, check=False)
        if result.returncode != 0:
            raise SystemExit(f"{path.name} fails without a mutant: {result.stdout.decode()}")
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        return cls(path, seen.read_bytes(), seconds)

    def reaches(self, mutant: int) -> bool:
        """Does a run come by this mutant?"""
        return self.reached[mutant] != 0

    def notices(self, mutant: int) -> str:
        """How a run with this mutant goes wrong; empty: it does not."""
        limit = int(_SLACK * self.seconds) + _SLACK

        def limits() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        environment = {**os.environ, "SASH_MUTANT": str(mutant)}
        environment.pop("SASH_REACHED", None)
        result = subprocess.run(
            [self.path], env=environment, capture_output=True, check=False, preexec_fn=limits
        )
        return how(result.returncode)


def how(code: int) -> str:
    """The end of a process in a word; empty: it went well."""
    if code == 0:
        return ""
    if -code in {signal.SIGXCPU, signal.SIGKILL, signal.SIGPROF, signal.SIGALRM}:
        return "endless"
    return "crashed" if code < 0 else "failed"
