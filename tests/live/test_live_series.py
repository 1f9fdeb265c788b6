"""A series at any zoom is what all its points say, however it was brought up to date."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import histories as h
from hypothesis import given
from hypothesis import strategies as st

from sash.live import History
from sash.live._reader import REMEMBERED
from sash.live._series import Column, Series, SeriesCache, column_edges


def brute_force(model: h.Model, t_from: int, t_to: int, number: int) -> list[Column]:
    """Work out the columns from all windows."""
    points: dict[int, tuple[float | None, int]] = {}
    for window in reversed(model.windows("a", "hour")):
        text = window["values"][0]
        points[window["end"]] = (None if text is None else float(text), window["corrections"])
    edges = [t_from + (t_to - t_from) * i // number for i in range(number + 1)]
    found = []
    for place in range(number):
        inside = {t: p for t, p in points.items() if edges[place] <= t < edges[place + 1]}
        line = [
            (t, v) for t, (v, _) in sorted(inside.items()) if v is not None and not math.isnan(v)
        ]
        nans = sum(v is not None and math.isnan(v) for v, _ in inside.values())
        corrected = [t for t, (_, c) in inside.items() if c]
        if line or nans or corrected:
            found.append(
                Column(
                    place,
                    line[0] if line else None,
                    line[-1] if line else None,
                    min(line, key=lambda p: p[1]) if line else None,
                    max(line, key=lambda p: p[1]) if line else None,
                    len(line),
                    nans,
                    sum(c for _, c in inside.values()),
                    max(corrected, default=None),
                )
            )
    return found


def comparable(columns: list[Column]) -> list[Any]:
    """Of equal values either time may be that of the least and the greatest."""
    return [
        column._replace(
            min=column.min and (0, column.min[1]),
            max=column.max and (0, column.max[1]),
        )
        for column in columns
    ]


looks = st.tuples(st.integers(-8, 44), st.integers(1, 60), st.integers(1, 70))


@given(
    h.steps(h.rows_of("a", ("hour",))),
    st.lists(st.booleans(), min_size=8, max_size=8),
    st.lists(looks, min_size=1, max_size=4),
    st.sampled_from([3, 12, 10**6]),
)
def test_equals_brute_force(
    steps: list[h.Step], looked: list[bool], looks: list[tuple[int, int, int]], most: int
) -> None:
    """Also after corrections, removals, pruning, and micro-batches that were not looked at."""
    model = h.Model(most)
    with h.folder() as folder:
        path = Path(folder) / "live.sqlite"
        with History.create_or_open(path, h.ABOUT, most_windows=most) as history:
            cache, batch = SeriesCache(), -1
            for step, look_now in zip(steps, [*looked[: len(steps) - 1], True], strict=False):
                batch += step.ahead
                model.record(batch, step.rows)
                history.record(batch, h.results(step.rows), h.late(("a", 1)))  # so 'a' stays
                if not look_now:
                    continue
                key = history.key_number('["a"]')
                assert key is not None
                series = cache.get(history, key, 0, 0)
                for t_from, span, number in looks:
                    stretch = (t_from, t_from + span)
                    expected = brute_force(model, *stretch, number)
                    assert comparable(series.columns(*stretch, number)) == comparable(expected)
                    check_neighbours(series, model, *stretch)


def check_neighbours(series: Series, model: h.Model, t_from: int, t_to: int) -> None:
    everything = brute_force(model, -100, 200, 300)
    before = [c.last for c in everything if c.last and c.last[0] < t_from]
    after = [c.first for c in everything if c.first and c.first[0] >= t_to]
    expected = (before[-1] if before else None, after[0] if after else None)
    assert series.neighbours(t_from, t_to) == expected


def test_a_line_of_columns_is_that_of_all_points(tmp_path: Path) -> None:
    values = [math.sin(i / 7) * (i % 13) for i in range(1000)]
    path = h.written(tmp_path / "live.sqlite", h.hourly("a", list(values)))
    with History.open(path) as history:
        series = SeriesCache().get(history, 1, 0, 0)
        assert len(series) == 1000
        columns = series.columns(0, 1001 * h.HOUR, 20)
    assert sum(column.points for column in columns) == 1000
    line = [point for column in columns for point in column.line()]
    assert line == sorted(line)
    assert len(line) <= 80
    assert min(v for _, v in line) == min(values)
    assert max(v for _, v in line) == max(values)


def test_ends_are_half_open(tmp_path: Path) -> None:
    path = h.written(tmp_path / "live.sqlite", h.hourly("a", [1.0, 2.0, 3.0]))
    with History.open(path) as history:
        series = SeriesCache().get(history, 1, 0, 0)
    assert series.extent == (h.HOUR, 3 * h.HOUR)
    assert [c.points for c in series.columns(h.HOUR, 3 * h.HOUR, 1)] == [2]
    assert [c.points for c in series.columns(h.HOUR + 1, 3 * h.HOUR + 1, 1)] == [2]


def test_more_columns_than_microseconds() -> None:
    edges = column_edges(10, 13, 7).tolist()
    assert edges == sorted(edges)
    assert (edges[0], edges[-1], len(edges)) == (10, 13, 8)


def test_several_windows_with_one_end(tmp_path: Path) -> None:
    """The one that starts last counts, and when it goes, the other one."""
    long, short = h.Row("a", "hour", 0, 10, 1.0), h.Row("a", "hour", 5, 10, 2.0)
    gone = h.Row("a", "hour", 5, 10, 2.0, change="withdrawn")
    with History.create_or_open(tmp_path / "live.sqlite", h.ABOUT) as history:
        history.record(0, h.results([short, long]), None)
        series = Series(1, 0, 0)
        series.catch_up(history)
        assert series.columns(0, 11, 1)[0].line() == [(10, 2.0)]
        history.record(1, h.results([gone]), None)
        series.catch_up(history)
        assert series.columns(0, 11, 1)[0].line() == [(10, 1.0)]


def test_a_series_not_looked_at_for_long(tmp_path: Path) -> None:
    """What was removed meanwhile is not remembered any more: it is read anew."""
    rows = h.hourly("a", [1.0, 2.0, 3.0])
    with History.create_or_open(tmp_path / "live.sqlite", h.ABOUT) as history:
        history.record(0, h.results(rows), None)
        series = Series(1, 0, 0)
        series.catch_up(history)
        history.record(1, h.results([replace(rows[1], change="withdrawn")]), None)
        history.record(1 + REMEMBERED, h.results([]), None)
        series.catch_up(history)
        assert series.columns(0, 4 * h.HOUR, 1)[0].line() == [(h.HOUR, 1.0), (3 * h.HOUR, 3.0)]
        assert len(series) == 2


def test_a_window_older_than_those_pruned_before_goes_too(tmp_path: Path) -> None:
    def row(end: int, change: str = "complete") -> h.Row:
        return h.Row("a", "hour", 0, end, float(end), change=change)

    batches = [[row(10), row(20), row(30), row(40)], [row(40, "withdrawn")], [row(5)], [row(50)]]
    seen = []
    with History.create_or_open(tmp_path / "live.sqlite", h.ABOUT, most_windows=2) as history:
        series = Series(1, 0, 0)
        for batch, rows in enumerate(batches):
            history.record(batch, h.results(rows), None)
            series.catch_up(history)
            seen.append([c.first[0] for c in series.columns(0, 100, 100) if c.first])
    assert seen == [[30, 40], [30], [5, 30], [30, 50]]


def test_only_news_are_read(tmp_path: Path) -> None:
    read: list[int] = []

    class Watched(History):
        def points(self, *args: Any, **more: Any) -> Any:
            found = super().points(*args, **more)
            read.append(len(found))
            return found

    with Watched.create_or_open(tmp_path / "live.sqlite", h.ABOUT) as history:
        history.record(0, h.results(h.hourly("a", [1.0] * 5000)), None)
        series = Series(1, 0, 0)
        series.catch_up(history)
        history.record(1, h.results(h.hourly("a", [2.0] * 3, first=4999, revision=1)), None)
        series.catch_up(history)
        series.catch_up(history)
        assert len(series) == 5002
    assert read == [5000, 3]


def test_the_cache_is_bounded_and_knows_another_file(tmp_path: Path) -> None:
    cache = SeriesCache(most_bytes=1)
    for name in ("one", "two"):
        value = {"one": 1.0, "two": 2.0}[name]
        path = h.written(tmp_path / name, [*h.hourly("a", [value]), *h.hourly("b", [value])])
        with History.open(path) as history:
            for key in (1, 2):
                series = cache.get(history, key, 0, 0)
                assert series.columns(0, 2 * h.HOUR, 1)[0].line() == [(h.HOUR, value)]
                assert len(cache) == 1
