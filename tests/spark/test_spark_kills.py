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
from contextlib import closing, suppress
from itertools import cycle
from pathlib import Path
from typing import Any

import killed
import psutil
import pyarrow as pa
import pytest
from patience import PATIENCE
from streams import expected, rows_of, write
from striking import VARIABLE

import sash

KILLS = int(os.environ.get("SASH_KILLS", "8"))
VICTIMS = ("worker", "jvm", "worker", "before", "worker", "all", "after", "worker", "jvm")
"""In turn: a worker, the JVM or everything at a row, everything before and after a sink's turn."""


def planned(folder: Path, tables: list[pa.Table]) -> None:
    """Write a plan of kills, spread over the micro-batches."""
    (folder / "plan").mkdir(parents=True)
    (folder / "taken").mkdir()
    rng = random.Random(17)
    _, late = expected(named(tables), 1000, operator)
    never = set(late["n"].to_pylist())  # rows that no function sees
    for i, victim in zip(range(KILLS), cycle(VICTIMS), strict=False):
        batch = 1 + i * (len(tables) - 2) // KILLS
        row = rng.choice([n for n in tables[batch]["n"].to_pylist() if n not in never])
        sink = victim in ("before", "after")
        point = f"{victim} {batch}" if sink else f"row {row}"
        (folder / "plan" / point).write_text("all" if sink else victim)


def run(folder: Path) -> int:
    """Run the stream to its end, or until it is killed; return its exit code."""
    program = Path(killed.__file__)
    command = [sys.executable, str(program), str(folder)]
    own = {VARIABLE: str(folder / "strikes"), "PYTHONPATH": str(program.parent)}  # of workers too
    with (folder / "stderr").open("w") as errors:
        process = subprocess.Popen(
            command, stderr=errors, start_new_session=True, env={**os.environ, **own}
        )
    try:
        return process.wait(PATIENCE)
    finally:
        end(process.pid)
        process.wait()


def end(session: int) -> None:
    """Make sure that nothing of a session is left."""
    for one in psutil.process_iter():
        with suppress(OSError, psutil.Error):
            if os.getsid(one.pid) == session:
                one.send_signal(signal.SIGKILL)
                one.wait(PATIENCE)


@pytest.mark.full
def test_killed_streams_end_with_the_right_rows(tmp_path: Path) -> None:
    tables = rows_of(11, 24 + KILLS // 2, 60, 5)
    write(tmp_path / "in", tables)
    planned(tmp_path / "strikes", tables)
    starts, code, left = 0, 1, KILLS
    while code != 0:
        starts, before = starts + 1, left
        code = run(tmp_path)
        left = len(list((tmp_path / "strikes" / "plan").iterdir()))
        print(f"start {starts}: ended with {code} after {KILLS - left} kills")
        assert code == 0 or left < before, (tmp_path / "stderr").read_text()[-4000:]
    assert left == 0, f"{left} of {KILLS} kills never happened"
    assert starts > 1
    compare(tmp_path, tables)


def operator(**more: Any) -> sash.WindowOperator:
    return sash.WindowOperator(**killed.ASKED, **more)


def named(tables: list[pa.Table]) -> list[pa.Table]:
    """Return them as SQLite has them, where no two nulls are the same key."""
    return [t.set_column(0, "k", t["k"].fill_null("nobody")) for t in tables]


def compare(folder: Path, tables: list[pa.Table]) -> None:
    told, _ = expected(named(tables), 1000, operator)
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
