"""Aggregates and windows as JSON and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sash
from sash import agg
from sash._recipe import aggregate_of, aggregate_recipe, window_of, window_recipe

MADE: dict[str, sash.Aggregate] = {
    "all": agg.all("x"), "any": agg.any("x"), "argmax": agg.argmax("x", "y"),
    "argmin": agg.argmin("x", "y", dtype=int), "bloom": agg.bloom("x"),
    "collect": agg.collect("x"), "concat": agg.concat("x", separator=","), "count": agg.count(),
    "count_distinct": agg.count_distinct("x"), "countmin": agg.countmin("x"),
    "distinct": agg.distinct("x"), "first": agg.first("x"), "geomean": agg.geomean("x"),
    "histogram": agg.histogram([0, 1, 2.5], "x"), "hll": agg.hll("x", sketch=True),
    "last": agg.last("x"), "m4": agg.m4("x", "t"),
    "weighted_mean": agg.weighted_mean("x", "y"), "max": agg.max("x", dtype=int),
    "maxcount": agg.maxcount("x"), "mean": agg.mean("x").alias("average"),
    "median": agg.median("x"), "min": agg.min("x").on("y"), "mincount": agg.mincount("x"),
    "mode": agg.mode("x"), "nth_youngest": agg.nth_youngest(3, "x"),
    "product": agg.product("x"), "quantile": agg.quantile(0.3, "x"),
    "quantiles": agg.quantiles([0.1, 0.9], "x"), "range": agg.range("x"), "rank": agg.rank("x"),
    "relative_variation": agg.relative_variation("x"), "stddev": agg.stddev("x", ddof=0),
    "sum": agg.sum("x", dtype=int), "topk": agg.topk(4, "x"), "variance": agg.variance("x"),
}  # fmt: skip


def test_all_are_here() -> None:
    assert sorted(MADE) == sorted(agg.__all__)


@pytest.mark.parametrize("name", MADE)
def test_an_aggregate_is_made_again(name: str) -> None:
    recipe = aggregate_recipe(MADE[name])
    assert recipe is not None
    again = aggregate_of(recipe)
    parts = ("signature", "output", "columns", "laws", "dtype", "ints", "doubles", "named")

    def told(one: sash.Aggregate) -> list[Any]:
        found = [getattr(one, part) for part in parts]
        return [f() if callable(f) else f for f in found]

    assert told(again) == told(MADE[name])


def test_functions_cannot_be_said() -> None:
    assert aggregate_recipe(sash.monoid(max, column="x")) is None
    split = sash.windows.split(lambda times: times > 0)
    assert window_recipe(split, 1, 1, 0) is None


def test_arguments_are_made_plain() -> None:
    edges = np.array([0.0, 1.0])
    recipe = aggregate_recipe(agg.histogram(edges, "x"))
    assert recipe is not None
    assert recipe["args"] == [[0.0, 1.0], "x"]
    wide = aggregate_recipe(agg.sum("x", dtype=np.int32))
    assert wide is not None
    assert wide["kwargs"] == {"dtype": "int"}
    once = agg.histogram((e for e in (0, 1)), "x")  # cannot be said, and is no worse for it
    assert aggregate_recipe(once) is None
    assert once.made is None


def test_names_are_looked_up_among_the_aggregates_only() -> None:
    recipe = aggregate_recipe(agg.sum("x"))
    assert recipe is not None
    with pytest.raises(ValueError, match="no aggregate 'np'"):
        aggregate_of({**recipe, "function": "np"})


@pytest.mark.parametrize(
    "window",
    [
        sash.tumbling("1m"), sash.sliding("1h", "1m", offset="5s"), sash.session("3s"),
        sash.tumbling(rows=3), sash.sliding(rows=4, slide=2, name="own"),
        sash.windows.rolling("1s"), sash.windows.rolling(rows=3), sash.windows.delta("x", 2.5),
        sash.windows.punctuation("x"),
    ],
)  # fmt: skip
def test_a_window_is_made_again(window: sash.windows.Window) -> None:
    recipe = window_recipe(window, 60, 6, 5)
    assert recipe is not None
    lengths = {} if window.by_rows else {"size": 60, "slide": 6, "offset": 5}
    assert window_of(recipe) == replace(window, **lengths)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "split"}, {"kind": "calendar"}, {"kind": "system"}, {"kind": None}, {"rows": 0},
        {"rows": -1}, {"rows": "4"}, {"step": 0}, {"step": 5}, {"name": ""}, {"function": "print"},
        {"more": 1}, {"kind": "delta", "column": "x", "size": -1}, {"kind": "last", "rows": 0},
    ],
    ids=str,
)  # fmt: skip
def test_a_window_that_nobody_could_have_made(change: dict[str, Any]) -> None:
    """A step of no rows would be divided by."""
    recipe = window_recipe(sash.sliding(rows=4, slide=2), 1, 1, 0)
    assert recipe is not None
    with pytest.raises((TypeError, ValueError)):
        window_of({**recipe, **change})
