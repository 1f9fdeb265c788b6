"""What makes a run, and what runs make together."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_results import latency_result, sizes_result

from benchmarks.measure import in_turns, least_of
from benchmarks.papers.sweeps import undisturbed
from benchmarks.results import Point, Result, Told


def test_a_run_is_the_least_of_its_tries() -> None:
    costs = {"a": iter([5.0, 3.0, 4.0, 9.0]), "b": iter([1.0, 2.0, 8.0, 7.0])}
    calls: list[str] = []

    def cost(name: str) -> float:
        calls.append(name)
        return next(costs[name])

    found = in_turns({name: lambda n=name: cost(n) for name in costs}, 2, tries=2)
    assert found == {"a": [3.0, 4.0], "b": [1.0, 7.0]}
    assert calls == ["a", "b", "b", "a", "a", "b", "b", "a"], "each is the first of a turn"


def test_a_group_that_is_not_full() -> None:
    assert least_of([3.0, 1.0, 2.0], 2) == [1.0, 2.0]


def test_parts_are_as_in_their_best_try() -> None:
    """A part that is dear in every try stays dear: that is the work, not other load."""
    tries = [{"ns": [1.0, 9.0, 100.0]}, {"ns": [5.0, 2.0, 101.0]}]
    assert undisturbed(tries, 2) == [(1.0 + 2.0 + 100.0) / 3]
    assert undisturbed([*tries, *tries], 2) == [(1.0 + 2.0 + 100.0) / 3] * 2


def test_tries_that_differ_in_their_parts_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="zip"):
        undisturbed([{"ns": [1.0, 2.0]}, {"ns": [1.0]}], 2)


@pytest.mark.parametrize(("told", "cost"), [("least", 1.0), ("greatest", 9.0), ("median", 2.0)])
def test_what_a_point_tells(told: Told, cost: float) -> None:
    result = Result("x", told=told)
    result.add("a", 1, [9.0, 1.0, 2.0])
    assert result.line("a").points == [Point(1, [9.0, 1.0, 2.0], cost)]


def test_passes_are_put_together(tmp_path: Path) -> None:
    first, second = sizes_result(), sizes_result(0.5)
    second.add("FingerTree", 7, [1.0], "sum")
    second.joined(Result.load(first.save(tmp_path)))
    point = second.line("ClassicTree", "sum").points[0]
    assert point.runs == [90.0, 95.0, 99.0, 45.0, 47.5, 49.5]
    assert point.cost == 45.0
    assert second.line("FingerTree", "sum").points[-1] == Point(7, [1.0], 1.0)
    assert second.seconds == 122.0


def test_latencies_of_passes_are_put_together() -> None:
    first, second = latency_result(), latency_result()
    second.violins[0].quantiles |= {"0.5": 60.0, "0.999": 90.0, "max": 9000.0}
    second.violins[0].bins["50"] = 3
    second.joined(first)
    daba = second.violins[0]
    assert (daba.quantiles["0.5"], daba.quantiles["0.999"]) == (60.0, 70.0)
    assert daba.quantiles["max"] == 9000.0
    assert daba.bins == {"50": 3, "60": 600, "64": 1800, "68": 200, "4096": 2}
