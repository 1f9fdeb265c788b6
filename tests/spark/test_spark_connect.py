"""Spark Connect, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("connect_check.py")


def test_connect() -> None:
    command = [sys.executable, "-W", "ignore", str(SCRIPT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert "Connect agrees" in done.stdout, done.stderr[-3000:]
