"""Allocated memory does not grow while a window goes on, and is freed after a burst."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest
from cases import STRUCTURES
from patience import ONE_ALLOCATOR, finished

PROGRAM = Path(__file__).with_name("growing.py")
KINDS = [s.__name__ for s in STRUCTURES]
TREES = ["FingerTree", "ClassicTree"]

STEADY = {
    "windows": [f"window:{kind}" for kind in KINDS if kind != "Recalc"],
    "others": [
        *[f"tree:{kind}" for kind in TREES],
        *[f"{what}:{kind}" for what in ("operator", "rolling") for kind in ("native", "objects")],
    ],
}
BURSTS = {
    "windows": [f"window:{kind}" for kind in KINDS],
    "others": [*[f"tree:{kind}" for kind in TREES], "timed:DabaLite", "operator:native"],
}


def run(how: str, what: list[str]) -> None:
    done = finished([sys.executable, PROGRAM, how, *what], **ONE_ALLOCATOR)
    assert (done.returncode, done.stdout.split()) == (0, what), done.stderr[-1500:]


counted = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="asks malloc of glibc")


@counted
@pytest.mark.parametrize("what", STEADY)
def test_rounds_take_no_more_memory(what: str) -> None:
    run("steady", STEADY[what])


@counted
@pytest.mark.parametrize("what", BURSTS)
def test_a_burst_gives_its_memory_back(what: str) -> None:
    run("burst", BURSTS[what])
