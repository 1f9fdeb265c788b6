"""Install programs that the tests need and that come with Debian, where that is possible."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys


def install(package: str, purpose: str) -> bool:
    """Install a package of Debian. False: there is no apt-get here, or no right to use it."""
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return False
    print(f"installing {package} for {purpose} ...", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", package]):
        done = subprocess.run(
            ["apt-get", "-qq", *command],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            print(done.stdout, file=sys.stderr)
            return False
    return True
