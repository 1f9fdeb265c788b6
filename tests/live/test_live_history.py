"""A history keeps what was told last of each window, whatever comes twice."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import histories as h
import pyarrow as pa
import pytest
from hypothesis import given

from sash.live import History, HistoryError, MissingHistoryError
from sash.live._history import MOST_PROGRESS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "live.sqlite"


@given(h.steps(h.rows_of()))
def test_equals_the_model(steps: list[h.Step]) -> None:
    model = h.Model()
    with h.folder() as folder:
        path = Path(folder) / "live.sqlite"
        batch = -1
        for step in steps:
            batch += step.ahead
            model.record(batch, step.rows)
            for _ in range(step.times):  # each time from a process of its own
                with History.create_or_open(path, h.ABOUT) as history:
                    history.record(batch, h.results(step.rows), h.late(("a", 1)))
        with History.open(path) as history:
            for user in "ab":
                for window in h.ABOUT["windows"]:
                    assert h.windows_of(history, user, window) == model.windows(user, window)
            meta = history.meta()
            kept = model.kept.values()
            assert meta["windows"] == len(kept)
            assert meta["open"] == sum(not one["complete"] for one in kept)
            assert meta["corrections"] == model.corrections
            assert meta["late_rows"] == len(steps)
            users = {place[0] for place in model.kept} | {"a"}  # which has late rows
            assert history.keys()[0] == [f'["{user}"]' for user in sorted(users)]


@given(h.steps(h.rows_of("a", ("hour",))))
def test_the_oldest_go(steps: list[h.Step]) -> None:
    model = h.Model(most=5)
    with h.folder() as folder:
        path = Path(folder) / "live.sqlite"
        with History.create_or_open(path, h.ABOUT, most_windows=5) as history:
            for batch, step in enumerate(steps):
                model.record(batch, step.rows)
                history.record(batch, h.results(step.rows), h.late(("late", 1), ("late", 2)))
                assert h.windows_of(history, "a", "hour") == model.windows("a", "hour")
                assert history.meta()["windows"] == len(model.kept) <= 5
                assert history.meta()["late"] == min(5, 2 * batch + 2)
                assert history.meta()["late_rows"] == 2 * batch + 2


def test_keys_go_with_their_last_window(path: Path) -> None:
    with History.create_or_open(path, h.ABOUT, most_windows=3) as history:
        for batch in range(10):
            rows = h.hourly(f"user {batch}", [1.0], first=batch)
            history.record(batch, h.results(rows), None)
        assert history.keys() == (['["user 7"]', '["user 8"]', '["user 9"]'], 3)


@pytest.mark.parametrize("change", ["complete", "insert", "correction"])
def test_an_update_of_a_complete_window_leaves_it_complete(path: Path, change: str) -> None:
    rows = h.hourly("a", [1.0], change=change) + h.hourly("a", [2.0], change="update")
    with History.open(h.written(path, rows)) as history:
        (window,) = h.windows_of(history, "a", "hour")
        assert window["complete"]
        assert window["values"][0] == "2.0"


def test_a_changelog_counts_corrections(path: Path) -> None:
    first = h.hourly("a", [1.0], change="insert")
    second = [replace(first[0], change="retract"), replace(first[0], total=3.0, revision=1)]
    second[1] = replace(second[1], change="insert")
    with History.open(h.written(path, first, second)) as history:
        (window,) = h.windows_of(history, "a", "hour")
        assert (window["values"][0], window["corrections"]) == ("3.0", 1)
        assert history.meta()["corrections"] == 1


def test_windows_without_start_or_end_are_left_out(path: Path) -> None:
    rows = [h.Row("a", "hour", None, 5, 1.0), h.Row("a", "hour", 5, None, 1.0)]
    with History.open(h.written(path, rows)) as history:
        assert history.meta()["windows"] == 0


def test_values_are_exact(path: Path) -> None:
    columns: dict[str, Any] = {
        "big": pa.array([2**63 - 1, -(2**63), 2**53 + 1], pa.int64()),
        "huge": pa.array([2**64 - 1, 0, None], pa.uint64()),
        "float": pa.array([float("nan"), float("-inf"), 0.1], pa.float64()),
        "decimal": pa.array([Decimal("1.10"), None, Decimal("-2.05")]),
        "yes": pa.array([True, False, None]),
        "words": pa.array(["x" * 300, "<b>", None]),
        "list": pa.array([[1, 2], [], None]),
        "when": pa.array([0, 1, None], h.STAMP),
        "none": pa.nulls(3),
    }
    table = h.results(h.hourly("a", [None] * 3)).drop_columns(["total", "label"])
    for name, column in columns.items():
        table = table.append_column(name, column)
    about = {**h.ABOUT, "aggregates": list(columns)}
    with History.create_or_open(path, about) as history:
        history.record(0, table, None)
        shown = [window["values"] for window in reversed(h.windows_of(history, "a", "hour"))]
        kinds = history.meta()["kinds"]
    by_name = dict(zip(columns, zip(*shown, strict=True), strict=True))
    assert by_name["big"] == ("9223372036854775807", "-9223372036854775808", "9007199254740993")
    assert by_name["huge"] == ("18446744073709551615", "0", None)
    assert by_name["float"] == ("nan", "-inf", "0.1")
    assert by_name["decimal"] == ("1.10", None, "-2.05")
    assert by_name["yes"] == ("true", "false", None)
    assert by_name["words"] == ("x" * 199 + "…", "<b>", None)
    assert by_name["list"] == ("[1, 2]", "[]", None)
    assert by_name["when"][0].startswith("1970-01-01 00:00:00")
    assert by_name["none"] == (None, None, None)
    assert [kinds[name] for name in columns] == [
        *["number"] * 4,
        "bool",
        *["text"] * 3,
        None,
    ]


def test_keys_of_several_columns_and_types(path: Path) -> None:
    about = {**h.ABOUT, "keys": ["user", "shop", "open"]}
    table = h.results(h.hourly("ann", [1.0, 2.0]))
    table = table.append_column("shop", pa.array([7, None]))
    table = table.append_column("open", pa.array([True, False]))
    with History.create_or_open(path, about) as history:
        history.record(0, table, None)
        assert history.keys("ANN · 7") == (['["ann", "7", "true"]'], 1)
        assert history.keys("null")[0] == ['["ann", null, "false"]']


def test_no_keys(path: Path) -> None:
    table = h.results(h.hourly("ann", [1.0])).drop_columns(["user"])
    with History.create_or_open(path, {**h.ABOUT, "keys": []}) as history:
        history.record(0, table, pa.table({"time": pa.array([1], h.STAMP)}))
        assert history.keys() == (["[]"], 1)


def test_progress_is_one_row_for_a_batch(path: Path) -> None:
    with History.create_or_open(path, h.ABOUT) as history:
        for batch in (0, 1, 1, 2):
            history.record_progress(h.progress(batch, at=batch, rows_per_second=float("nan")))
        history.record_progress(h.progress(2, at=9, running=False))
        told = history.progress()
    assert [one["batch"] for one in told] == [0, 1, 2]
    assert told[-1]["running"] is False
    assert told[-1]["at"] == 9
    assert told[0]["rows_per_second"] is None


def test_progress_is_bounded(path: Path) -> None:
    with History.create_or_open(path, h.ABOUT) as history:
        for batch in (0, 1, MOST_PROGRESS, MOST_PROGRESS + 1):
            history.record_progress(h.progress(batch, at=batch))
        batches = [one["batch"] for one in history.progress()]
    assert batches == [MOST_PROGRESS, MOST_PROGRESS + 1]


def test_a_batch_that_fails_has_not_happened(path: Path) -> None:
    rows = [*h.hourly("a", [1.0]), h.Row("a", "no such", 0, 1, 1.0)]
    with History.create_or_open(path, h.ABOUT) as history:
        with pytest.raises(HistoryError, match="'no such'; the pipeline has hour, session"):
            history.record(0, h.results(rows), None)
        assert history.meta()["batch"] is None
        assert history.keys() == ([], 0)
        history.record(0, h.results(rows[:1]), None)
        assert history.meta()["windows"] == 1


def test_a_pipeline_that_began_anew_is_refused(path: Path) -> None:
    h.written(path, [], [], [])
    with (
        History.create_or_open(path, h.ABOUT) as history,
        pytest.raises(HistoryError, match="micro-batch 2 already, and this is 1"),
    ):
        history.record(1, h.results([]), None)


@pytest.mark.parametrize("what", ["keys", "windows", "aggregates"])
def test_another_pipeline_is_refused(path: Path, what: str) -> None:
    h.written(path)
    with pytest.raises(HistoryError, match=f"with the {what} .*, this one has other: remove"):
        History.create_or_open(path, {**h.ABOUT, what: ["other"]})


def test_other_words_about_it_are_taken_over(path: Path) -> None:
    h.written(path)
    History.create_or_open(path, {**h.ABOUT, "lateness": "2 days"}).close()
    with History.open(path) as history:
        assert history.about()["lateness"] == "2 days"


def test_an_aggregate_of_another_kind_is_refused(path: Path) -> None:
    h.written(path, h.hourly("a", [1.0]))
    table = h.results(h.hourly("a", [1.0]))
    table = table.set_column(4, "total", pa.array(["text"]))
    with (
        History.create_or_open(path, h.ABOUT) as history,
        pytest.raises(HistoryError, match="has total as number, this pipeline tells it as text"),
    ):
        history.record(1, table, None)


def test_what_is_no_history(path: Path) -> None:
    with pytest.raises(MissingHistoryError, match="no pipeline has written here yet"):
        History.open(path)
    path.touch()
    with pytest.raises(MissingHistoryError, match="is empty"):
        History.open(path)
    path.write_text("not a database, but long enough to be looked at" * 50)
    for open_it in (History.open, lambda p: History.create_or_open(p, h.ABOUT)):
        with pytest.raises(HistoryError, match="cannot be used as a history"):
            open_it(path)
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("create table other (x)")
    db.close()
    for open_it in (History.open, lambda p: History.create_or_open(p, h.ABOUT)):
        with pytest.raises(HistoryError, match="not a history of Sash"):
            open_it(path)


def test_another_format(path: Path) -> None:
    h.written(path)
    with sqlite3.connect(path) as db:
        db.execute("pragma user_version = 99")
    db.close()
    with pytest.raises(HistoryError, match="history of format 99"):
        History.open(path)


def test_wrong_tables_and_progress(path: Path) -> None:
    with History.create_or_open(path, h.ABOUT) as history:
        with pytest.raises(HistoryError, match="results must have a column 'total'"):
            history.record(0, h.results([]).drop_columns(["total"]), None)
        with pytest.raises(HistoryError, match="change 'late'"):
            history.record(0, h.results(h.hourly("a", [1.0], change="late")), None)
        with pytest.raises(HistoryError, match="late must have the keys and then a time"):
            history.record(0, h.results([]), pa.table({"user": ["a"]}))
        with pytest.raises(HistoryError, match="unknown: speed"):
            history.record_progress({"batch": 0, "at": 0, "speed": 1})
        with pytest.raises(HistoryError, match="missing: at"):
            history.record_progress({"batch": 0})
    with pytest.raises(ValueError, match="at least 1, not 0"):
        History.create_or_open(path, h.ABOUT, most_windows=0)


def test_a_reader_sees_one_moment(path: Path) -> None:
    h.written(path, h.hourly("a", [1.0]))
    with History.open(path) as reader, History.create_or_open(path, h.ABOUT) as writer:
        with reader.snapshot():
            assert reader.meta()["batch"] == 0
            writer.record(1, h.results(h.hourly("a", [5.0, 6.0], revision=1)), None)
            assert reader.meta()["batch"] == 0
            assert len(h.windows_of(reader, "a", "hour")) == 1
        assert len(h.windows_of(reader, "a", "hour")) == 2
