"""How tests wait: for a condition, never for a duration.

``PATIENCE`` is far beyond what anything here takes, on a busy machine too. No test passes because
it is over; a test that gets there fails and says what it was waiting for.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 600.0
"""Seconds until something that never happens is a failure."""
POLL = 0.02
ONE_ALLOCATOR = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONMALLOC": "malloc",
}
"""Python, NumPy, Arrow and the core take memory from malloc alone, as much of it on any machine."""


def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait until the condition holds; return what it returned."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > end:
            pytest.fail(f"waited {PATIENCE:.0f} seconds, and never: {what}")
        time.sleep(POLL)
    return found


def finished(
    command: Sequence[str | Path], *, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, with these variables in its environment too."""
    try:
        return subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False,
            env={**os.environ, **environment},
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        said = (error.stderr or b"").decode(errors="replace")[-1500:]
        pytest.fail(f"{command} did not end within {PATIENCE:.0f} seconds; it wrote: {said}")
