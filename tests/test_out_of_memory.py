"""When memory runs out: a MemoryError, and everything is right that is there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from patience import ONE_ALLOCATOR, finished

PROGRAM = Path(__file__).with_name("running_out.py")
RUNS = {
    "windows": [
        f"window:{kind}"
        for kind in ("DabaLite", "TwoStacks", "FlatFit", "Amta", "ReactiveAggregator")
    ],
    "times": ["timed", "tree:FingerTree", "objects"],
    "columns": ["results", "rolling", "operator"],
}


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space of a process")
@pytest.mark.parametrize("what", RUNS)
def test_running_out(what: str) -> None:
    done = finished([sys.executable, PROGRAM, *RUNS[what]], **ONE_ALLOCATOR)
    assert (done.returncode, done.stdout.split()) == (0, RUNS[what]), done.stderr[-1500:]
