"""All problems of a job file are reported at once, and nothing that only follows from them."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from sash import jobs

GOOD = """
by = "card"
emit = "complete"
[source]
format = "csv"
path = "in"
stream = true
files_per_batch = 5
[source.columns]
card = "string"
at = "timestamp"
amount = "double"
fee = "double"
[time]
column = "at"
watermark = "2 minutes"
lateness = "1 hour"
[[windows]]
kind = "sliding"
size = "1h"
slide = "1m"
[[windows]]
kind = "delta"
column = "fee"
size = 1.5
[[aggregates]]
function = "sum"
column = "amount"
[[aggregates]]
function = "max"
column = "fee"
name = "most"
[[sinks]]
format = "parquet"
path = "out"
[[sinks]]
format = "jdbc"
url = "jdbc:h2:mem:x"
table = "t"
[run]
checkpoint = "ck"
shards = 4
[spark]
"spark.driver.memory" = "1g"
"""
MISTAKES = {  # what is in the file, what is there instead, and how the problem begins
    "key": ('by = "card"', 'by = "crad"', "by: there is no column 'crad'"),
    "emit": ('"complete"', '"all"', "emit: 'all' is none of"),
    "files": ("= 5", "= 0", "[source] files_per_batch must be at least 1"),
    "time": ('column = "at"', 'column = "ta"', "[time] column: there is no column 'ta'"),
    "watermark": ('"2 minutes"', '"2 mints"', "[time] watermark: cannot read '2 mints'"),
    "lateness": ('"1 hour"', "3", "[time] lateness must be text in quotes"),
    "size": ('size = "1h"', 'size = "1 hur"', "[[windows]] size: cannot read '1 hur'"),
    "delta": ('"fee"\nsize', '"eef"\nsize', "[[windows]] column: there is no column 'eef'"),
    "sum": ('column = "amount"', 'column = "amuont"', "[[aggregates]] column: there is no column"),
    "max": ('"max"', '"mx"', "there is no aggregate 'mx'"),
    "sink": ('"parquet"', '"parket"', "[[sinks]] format: 'parket' is none of"),
    "address": ("mem:x", "mem:x;INIT=y", "[[sinks]] url: the property 'INIT' may make"),
    "table": ('"t"', '"t; drop"', "[[sinks]] table: 't; drop' is not the name"),
    "shards": ("= 4", "= 0", "[run] shards must be at least 1"),
    "setting": ("spark.driver.memory", "spark.jars", "spark.jars may make Spark load code"),
    "unknown": ("[run]", "[run]\nother = 1", "other is not known in [run]"),
}


def problems_of(folder: Path, text: str) -> list[str]:
    (folder / "in").mkdir(exist_ok=True)
    path = folder / "job.toml"
    path.write_text(text)
    with pytest.raises(jobs.JobError) as caught:
        jobs.load(path)
    lines = [line or 0 for line, _ in caught.value.problems]
    assert lines == sorted(lines)
    return [words for _, words in caught.value.problems]


def spoiled(names: tuple[str, ...]) -> str:
    text = GOOD
    for name in names:
        before, after, _ = MISTAKES[name]
        assert text.count(before) == 1, name
        text = text.replace(before, after)
    return text


def test_nothing_is_wrong_with_it(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "job.toml").write_text(GOOD)
    jobs.load(tmp_path / "job.toml")


@pytest.mark.parametrize(
    "names",
    [*((name,) for name in MISTAKES), *combinations(MISTAKES, 2), tuple(MISTAKES)],
    ids=lambda names: "-".join(names) if len(names) < 3 else "all",
)
def test_every_mistake_is_reported_once(names: tuple[str, ...], tmp_path: Path) -> None:
    found = problems_of(tmp_path, spoiled(names))
    beginnings = [MISTAKES[name][2] for name in names]
    assert [sum(words.startswith(one) for words in found) for one in beginnings] == [1] * len(names)
    assert len(found) == len(names), found


FOLLOWING = {  # a mistake in the source or time, after which other checks would say what is not so
    "format": ('format = "csv"', 'format = "cvs"', "[source] format: 'cvs' is none of"),
    "stream": ("stream = true", 'stream = "yes"', "[source] stream must be true or false"),
    "columns": ("[source.columns]", "[source.colums]", "colums is not known in [source]"),
    "time": ('column = "at"', "column = 1", "[time] column must be text in quotes"),
    "no time": ('column = "at"\n', "", "[time] has no column"),
    "no windows": ("[[windows]]", "[[window]]", "window is not known at the top of a job"),
}


@pytest.mark.parametrize("name", FOLLOWING)
def test_what_follows_from_a_mistake_is_not_reported(name: str, tmp_path: Path) -> None:
    before, after, words = FOLLOWING[name]
    (found,) = problems_of(tmp_path, GOOD.replace(before, after))
    assert found.startswith(words)


@pytest.mark.parametrize("name", FOLLOWING)
def test_what_does_not_follow_from_it_is(name: str, tmp_path: Path) -> None:
    before, after, words = FOLLOWING[name]
    text = spoiled(("max", "address", "shards")).replace(before, after)
    found = problems_of(tmp_path, text)
    assert [w for w in found if w.startswith(words)]
    assert len(found) == 4, found
