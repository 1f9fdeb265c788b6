"""Streams whose later files lack a column: refused, and gone on with when the file is right."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from depth import sampled

from sash import jobs
from sash.cli._exits import in_words

JOB = """
[source]
format = "FORMAT"
path = "in"
stream = true
columns = { ts = "timestamp", x = "double" }
[time]
column = "ts"
watermark = "0s"
[[windows]]
kind = "tumbling"
size = "1h"
[[aggregates]]
function = "count"
column = "x"
[[sinks]]
format = "parquet"
path = "out"
"""


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def write_json(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    times = [datetime.fromisoformat(row["ts"]) for row in rows]
    table = pa.table({"ts": pa.array(times, pa.timestamp("us", "UTC"))})
    if "x" in rows[0]:
        table = table.append_column("x", pa.array([row["x"] for row in rows], pa.float64()))
    pq.write_table(table, path)


@pytest.mark.parametrize(
    ("kind", "write"),
    sampled([("parquet", write_parquet), ("csv", write_csv), ("json", write_json)], 3),
)
def test_a_file_without_a_column_is_refused(
    spark: Any, tmp_path: Path, kind: str, write: Callable[[Path, list[dict[str, Any]]], None]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "job.toml").write_text(JOB.replace("FORMAT", kind))
    job = jobs.load(tmp_path / "job.toml")
    first, second = ([{"ts": f"2026-01-01T{h:02}:00:00Z", "x": 1.0}] for h in (0, 5))
    write(tmp_path / "in" / f"a.{kind}", first)
    jobs.run(job, spark, until_caught_up=True)
    later = tmp_path / "in" / f"b {kind}.{kind}"
    write(later, [{"ts": second[0]["ts"]}])
    with pytest.raises(Exception, match="has no column") as caught:
        jobs.run(job, spark, until_caught_up=True)
    words = in_words(caught.value)
    assert words.startswith(f"{later} has no column 'x', and the source has: its rows would all")
    assert not (tmp_path / "out").exists() or told(tmp_path / "out") == []
    write(later, second)
    jobs.run(job, spark, until_caught_up=True)
    assert told(tmp_path / "out") == [(datetime(2026, 1, 1, tzinfo=UTC), 1)]


def told(folder: Path) -> list[tuple[datetime, int]]:
    files = [str(p) for p in folder.glob("**/*.parquet")]
    if not files:
        return []
    rows = ds.dataset(files).to_table().to_pylist()
    return [(row["window_start"].replace(tzinfo=UTC), row["count_x"]) for row in rows]
