"""Spark Connect, in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from patience import finished

SCRIPT = Path(__file__).with_name("connect_check.py")


@pytest.mark.full
def test_connect() -> None:
    command = [sys.executable, "-W", "ignore", str(SCRIPT)]
    done = finished(command)
    assert "Connect agrees" in done.stdout, done.stderr[-3000:]
