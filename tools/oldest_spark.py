"""Run the Spark tests with the oldest PySpark that is supported, and the pandas it knows.

Both are installed beside the environment's own, in .venv/oldest-spark, on the first run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PACKAGES = ("pyspark==4.0.0", "py4j==0.10.9.9", "pandas==2.3.3", "pytz==2026.6")
TESTS = (
    "rolling.py",
    "windows.py",
    "operator.py",
    "streams.py::test_rolling_of_a_stream",
    "streams.py::test_equals_one_operator",
)
ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".venv" / "oldest-spark"


def main() -> None:
    """Install what is missing, then run the tests."""
    done = FOLDER / "done"
    if not done.exists() or done.read_text() != str(PACKAGES):
        print(f"installing {PACKAGES[0]} beside the newest ...", flush=True)
        quiet = ["--quiet", "--disable-pip-version-check", "--no-deps", "--upgrade"]
        pip = [sys.executable, "-m", "pip", "install", *quiet, "--target", str(FOLDER)]
        subprocess.run([*pip, *PACKAGES], check=True)
        done.write_text(str(PACKAGES))
    path = os.pathsep.join([str(FOLDER), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
    tests = [str(ROOT / "tests" / "spark" / f"test_spark_{name}") for name in TESTS]
    environment = {**os.environ, "PYTHONPATH": path}
    own = ["-o", "filterwarnings=ignore"]  # it leaves sockets open, and more of the kind
    own += ["-k", "not test_equals_the_operator"]  # many, and the workers are the same
    command = [sys.executable, "-m", "pytest", *own, *tests, *sys.argv[1:]]
    raise SystemExit(subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
