"""Python files of the folder that a job is run in, or beside the job file, are not run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = ("numpy", "pyarrow", "pandas", "json", "pyspark", "sash")
JOB = """
by = "k"
[source]
format = "csv"
path = "in"
stream = true
columns = { k = "string", ts = "timestamp", x = "double" }
[time]
column = "ts"
watermark = "0s"
[[windows]]
kind = "tumbling"
size = "1h"
[[aggregates]]
function = "sum"
column = "x"
[[sinks]]
format = "json"
path = "out"
[live]
[run]
until_caught_up = true
"""
AGGREGATE = """
import sash


def add(a, b):
    return a + b


total = sash.monoid(add, returns=float, column="x")
"""


def hostile(folder: Path, names: tuple[str, ...] = NAMES) -> Path:
    """Fill a folder with modules that leave a file when they are imported."""
    folder.mkdir(exist_ok=True)
    for name in names:
        text = f"open({str(folder / 'ran')!r}, 'a').write({name!r})\nraise ImportError('hostile')\n"
        (folder / f"{name}.py").write_text(text)
    return folder / "ran"


def job_in(folder: Path, text: str = JOB) -> Path:
    (folder / "in").mkdir(parents=True)
    rows = "k,ts,x\na,2026-01-01 00:10:00,1\na,2026-01-01 00:20:00,2\na,2026-01-01 02:00:00,4\n"
    (folder / "in" / "a.csv").write_text(rows)
    (folder / "job.toml").write_text(text)
    return folder / "job.toml"


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYSPARK"))}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip


def written(folder: Path) -> str:
    return "".join(sorted(p.read_text() for p in (folder / "out").glob("*/part-*")))


def test_neither_driver_nor_workers_run_them(tmp_path: Path) -> None:
    job = job_in(tmp_path / "jobs")
    ran = [hostile(tmp_path / "here"), hostile(tmp_path / "jobs")]
    command = [str(Path(sys.executable).parent / "sash"), "run", str(job)]
    done = run(command, tmp_path / "here")
    assert [p.read_text() for p in ran if p.exists()] == []
    assert done.returncode == 0, done.stderr
    assert '"sum_x":3.0' in written(tmp_path / "jobs")


def test_the_module_does_not_run_them_either(tmp_path: Path) -> None:
    """But for a sash.py, which Python takes for Sash itself: that is before Sash can do a thing."""
    job = job_in(tmp_path / "jobs")
    ran = hostile(tmp_path / "here", NAMES[:-1])
    done = run([sys.executable, "-m", "sash", "check", str(job)], tmp_path / "here")
    assert done.returncode == 0, done.stderr
    assert not ran.exists()


@pytest.mark.parametrize("flag", [[], ["-P"]])
def test_the_files_would_be_run(tmp_path: Path, flag: list[str]) -> None:
    """The test can fail: this is what Python does with them."""
    ran = hostile(tmp_path)
    run([sys.executable, *flag, "-m", "numpy"], tmp_path)
    assert ran.exists() == (not flag)


@pytest.mark.full
def test_a_trusted_job_imports_from_the_folder(tmp_path: Path) -> None:
    """On the driver and on workers, where functions of a module are imported by its name."""
    (tmp_path / "totals_of_mine.py").write_text(AGGREGATE)
    old = 'function = "sum"\ncolumn = "x"'
    assert old in JOB
    text = JOB.replace(old, 'python = "totals_of_mine:total"\nname = "total"')
    job_in(tmp_path, text)
    command = [sys.executable, "-m", "sash", "run", "job.toml"]
    refused = run(command, tmp_path)
    assert refused.returncode == 2
    assert "--allow-python" in refused.stderr
    done = run([*command, "--allow-python"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert '"total":3.0' in written(tmp_path)
