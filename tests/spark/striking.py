"""Kills at points of a stream that are chosen beforehand, each once.

A plan is a folder of files: the name of each is a point, its text the victim. Whoever comes to a
point takes the file away and kills: so every kill happens, at its place, however fast anything is.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

VARIABLE = "SASH_STRIKES"
"""Names the folder with the plan; without it nothing is killed."""


def strike(point: str) -> None:
    """Kill whom the plan names at this point, if it does and that was not done before."""
    folder = os.environ.get(VARIABLE)
    if folder is None:
        return
    taken = Path(folder, "taken", point)
    try:
        Path(folder, "plan", point).rename(taken)
    except FileNotFoundError:
        return
    victim = taken.read_text()
    if victim == "jvm":
        for pid in _ancestors():
            if Path(f"/proc/{pid}/comm").read_text().strip() == "java":
                os.kill(pid, signal.SIGKILL)
    if victim == "all":
        os.killpg(os.getsid(0), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def _ancestors() -> list[int]:
    """Return the processes above this one in its session."""
    found: list[int] = []
    pid = os.getppid()
    while pid > 1 and os.getsid(pid) == os.getsid(0):
        found.append(pid)
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return found
