"""The parts of plots: colours, ticks, dots and violins."""

from __future__ import annotations

import pytest
from bench_results import finished, latency_result
from matplotlib.figure import Figure

from benchmarks.report import axes, dots, looks, numbers, plots, violins
from benchmarks.report.panels import panels
from benchmarks.results import Result


def test_a_competitor_looks_the_same_everywhere() -> None:
    first = looks.looks(["Sash", "pandas", "FingerTree"])
    second = looks.looks(["finger_tree", "Sash on Spark", "Spark"])
    assert first["FingerTree"] == second["finger_tree"]
    assert first["Sash"] == second["Sash on Spark"]
    assert second["Spark"] != second["Sash on Spark"]


def test_lines_of_one_plot_look_different() -> None:
    names = ["FingerTree", "FingerTree 16/8", "FingerTree, bulk", "8 children", "16 children"]
    assert len(set(looks.looks(names).values())) == len(names)
    assert looks.looks(["TwoStacks"]) != looks.looks(["TwoStacksLite"])


def test_sizes_are_powers_where_all_are() -> None:
    assert list(numbers.sizes([0, 1, 16, 4096]).values()) == ["0", "1", "2^4", "2^12"]
    assert list(numbers.sizes([10, 1_000_000]).values()) == ["10^1", "10^6"]
    assert list(numbers.sizes([16, 78, 128]).values()) == ["16", "78", "128"]
    assert list(numbers.sizes([0.5, 3000]).values()) == ["0.5", "3,000"]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (2, 300, [2, 5, 10, 20, 50, 100, 200]),
        (1, 2000, [1, 3, 10, 30, 100, 300, 1000]),
        (0.5, 3e5, [1, 10, 100, 1000, 10_000, 100_000]),
        (7, 31, [8, 12, 16, 20, 24, 28]),
    ],
)
def test_ticks_of_logarithmic_axes(low: float, high: float, ticks: list[float]) -> None:
    assert numbers.log_ticks(low, high) == ticks


@pytest.mark.parametrize(
    ("places", "shown"),
    [
        ([10_000, 100_000, 10_000_000, 30_000_000], [10_000, 100_000, 10_000_000]),
        ([1, 10, 1000, 3000], [1, 10, 1000, 3000]),
    ],
)
def test_long_ticks_that_would_touch_are_left_out(places: list[float], shown: list[float]) -> None:
    axis, at = Figure().add_subplot().xaxis, axes.positions(places, log=True)
    axes.place_axis(axis, at, most=8)
    assert list(axis.get_majorticklocs()) == [at[x] for x in shown]


def test_figures_have_three_digits() -> None:
    found = [numbers.cost(x) for x in (0, 1.07e-13, 0.01234, 4.631, 15, 99.96, 123.4, 402_123)]
    assert found == ["0", "1.07·10^-13", "0.0123", "4.63", "15.0", "100", "123", "402,000"]


def test_dots_that_would_touch_are_in_different_lanes() -> None:
    result = Result("x")
    result.add("Sash", "sum", [10.0, 10.0, 40.0])
    result.add("polars", "sum", [30.0])
    result.add("pandas", "sum", [500.0])
    lanes = dots.lanes(panels(result)[0], True, dots.Room(30, 5.0))
    assert lanes["sum"]["Sash"] != lanes["sum"]["polars"]
    assert lanes["sum"]["Sash"] == lanes["sum"]["pandas"]


def test_violins_are_as_wide_as_their_bins_are_full() -> None:
    times, widths = violins.outline(latency_result().violins[0])
    assert 62 < times[widths.index(max(widths))] < 70, "where most operations are"
    assert max(times) < 200, "one operation in 1,301 is not seen"
    assert widths[0] == widths[-1] == 0


def test_zeros_are_drawn_though_they_have_no_logarithm() -> None:
    result = Result("zeros", "d", "combines")
    for d, runs in {0: 0.0, 8: 1.0, 64: 5.0}.items():
        result.add("FingerTree", d, [runs])
    assert "<svg" in plots.inline(finished(result))
