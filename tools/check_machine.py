"""Say clearly what this machine lacks before the build fails in a less clear way."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys

PROBLEMS = []
if not sys.version_info >= (3, 11):
    PROBLEMS.append(
        f"Python 3.11 or newer (this is {sys.version.split()[0]}): set PYTHON=python3.11"
    )
if not any(shutil.which(c) for c in (os.environ.get("CXX", ""), "c++", "g++", "clang++") if c):
    PROBLEMS.append("a C++20 compiler: on Debian or Ubuntu, apt-get install g++")
if importlib.util.find_spec("venv") is None:
    PROBLEMS.append("Python's venv module: on Debian or Ubuntu, apt-get install python3-venv")

if PROBLEMS:
    print("Sash cannot be set up here. Missing:", file=sys.stderr)
    for problem in PROBLEMS:
        print(f"  - {problem}", file=sys.stderr)
    sys.exit(1)
if not shutil.which("java"):
    print("note: no Java found; Spark needs Java 17 (apt-get install openjdk-17-jre-headless)")
