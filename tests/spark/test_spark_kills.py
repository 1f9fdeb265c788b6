"""Workers, the JVM and everything at once are killed in the middle of a stream.

After it is started again it ends with what it would have said undisturbed: nothing lost, nothing
twice. ``SASH_KILLS`` asks for more kills than the usual.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import killed
import psutil
import pyarrow as pa
from streams import expected, rows_of, write

import sash

KILLS = int(os.environ.get("SASH_KILLS", "8"))
FROM_OUTSIDE = max(2, KILLS // 5)
"""How many of them end the JVM or everything, so that the query has to be started again."""


def start(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(Path(killed.__file__)), str(folder)]
    with (folder / "stderr").open("w") as errors:
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
        )


def family(process: subprocess.Popen[str]) -> list[psutil.Process]:
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def is_worker(process: psutil.Process) -> bool:
    try:
        return any("pyspark.daemon" in part for part in process.cmdline())
    except psutil.Error:
        return False


def end(process: subprocess.Popen[str]) -> None:
    """Make sure that nothing of it is left."""
    left = family(process)
    for one in [*left, psutil.Process(process.pid)] if process.poll() is None else left:
        try:
            one.kill()
        except psutil.NoSuchProcess:
            continue
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def kill_workers(process: subprocess.Popen[str], rng: random.Random, most: int) -> int:
    """Kill a worker now and then while the query runs; return how many died."""
    dead = 0
    while dead < most and process.poll() is None:
        time.sleep(rng.uniform(0.3, 1.2))
        workers = [p for p in family(process) if is_worker(p)]
        if workers:
            try:
                rng.choice(workers).kill()
                dead += 1
            except psutil.NoSuchProcess:
                continue
    return dead


def kill_outside(process: subprocess.Popen[str], rng: random.Random) -> int:
    """Kill the JVM, or everything, some time after the query has begun."""
    time.sleep(rng.uniform(2, 12))
    if process.poll() is not None:
        return 0
    if rng.random() < 0.5:
        java = [p for p in family(process) if p.name() == "java"]
        for one in java:
            one.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    return 1


def test_killed_streams_end_with_the_right_rows(tmp_path: Path) -> None:
    rng = random.Random(17)
    tables = rows_of(11, 24 + KILLS // 2, 60, 5)
    write(tmp_path / "in", tables)
    kills = outside = 0
    for attempt in range(3 * KILLS):
        process = start(tmp_path)
        try:
            assert process.stdout is not None
            process.stdout.readline()
            if outside < FROM_OUTSIDE:
                dead = kill_outside(process, rng)
                outside += dead
            else:
                dead = kill_workers(process, rng, KILLS - kills)
            kills += dead
            if dead == 0 or kills >= KILLS:
                process.wait(timeout=240)
        finally:
            end(process)
        print(f"start {attempt}: {kills} kills, {outside} of all or the JVM")
        if process.returncode == 0:
            break
    assert process.returncode == 0, (tmp_path / "stderr").read_text()[-4000:]
    assert kills >= KILLS, f"it was over after {kills} kills: more input is needed"
    compare(tmp_path, tables)


def compare(folder: Path, tables: list[pa.Table]) -> None:
    def make(**more: Any) -> sash.WindowOperator:
        return sash.WindowOperator(**killed.ASKED, **more)

    named = [t.set_column(0, "k", t["k"].fill_null("nobody")) for t in tables]
    told, _ = expected(named, 1000, make)
    wanted = [line(row) for table in told for row in table.to_pylist()]
    with closing(sqlite3.connect(folder / "out.sqlite")) as db:
        names = ", ".join([*killed.COLUMNS, "revision", "change"])
        log = [tuple(row) for row in db.execute(f"select {names} from log")]
        upserts = [tuple(row) for row in db.execute(f"select {names} from windows")]
    assert sorted(log, key=str) == sorted(wanted, key=str)
    last: dict[Any, Any] = {}
    for row in wanted:
        if row[:4] not in last or row[8] >= last[row[:4]][8]:
            last[row[:4]] = row
    assert sorted(upserts, key=str) == sorted(last.values(), key=str)


def line(row: dict[str, Any]) -> tuple[Any, ...]:
    """A row as SQLite has it."""
    times = {n: spark_time(row[n]) for n in ("window_start", "window_end")}
    return tuple({**row, **times}[n] for n in [*killed.COLUMNS, "revision", "change"])


def spark_time(value: Any) -> str:
    text = value.strftime("%Y-%m-%d %H:%M:%S.%f").rstrip("0")
    return str(text).rstrip(".")
