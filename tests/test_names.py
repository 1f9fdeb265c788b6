"""Hostile names in every place that takes one, in this process: tables, operators, structures."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from names import CASES, HOSTILE, NAMES, OWN

import sash
from sash import agg

Columns = dict[str, list[Any]]
LIBRARIES: dict[str, Callable[[Columns], Any]] = {
    "arrow": pa.table,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}
ROLES = ("on", "by", "read", "passed", "alias")
EVERYWHERE = [*NAMES.values(), *OWN.values(), *CASES]


def read(table: Any) -> Columns:
    """The columns of a table of any library."""
    if isinstance(table, pl.LazyFrame):
        table = table.collect()
    if isinstance(table, pd.DataFrame):
        return {name: table[name].tolist() for name in table.columns}
    return pa.table(table).to_pydict()


def with_name(name: str, role: str) -> tuple[Columns, dict[str, str]]:
    """A table with a column of this name in a role, and the names of all roles."""
    roles = {"on": "when", "by": "who", "read": "amount", "passed": "other", "alias": "total"}
    roles[role] = name
    # The first column is one that nobody reads: taking it for another would show.
    columns: Columns = {
        "first": [70, 80, 90],
        roles["on"]: [1, 2, 3],
        roles["by"]: ["a", "b", "a"],
        roles["read"]: [1.0, 2.0, 4.0],
        roles["passed"]: [7, 8, 9],
    }
    return columns, roles


@pytest.mark.parametrize("library", LIBRARIES)
def test_rolling(library: str) -> None:
    for name in EVERYWHERE:
        for role in ROLES:
            columns, roles = with_name(name, role)
            total = agg.sum(roles["read"]).alias(roles["alias"])
            out = sash.rolling(
                LIBRARIES[library](columns), on=roles["on"], by=roles["by"], window=5, aggs=total
            )
            assert read(out) == columns | {roles["alias"]: [1.0, 2.0, 5.0]}, (name, role)


@pytest.mark.parametrize("library", [name for name in LIBRARIES if name != "duckdb"])
def test_a_column_without_a_name(library: str) -> None:
    """DuckDB makes up a name where there is none."""
    for role in ROLES[:-1]:
        columns, roles = with_name("", role)
        total = agg.sum(roles["read"]).alias("total")
        made = LIBRARIES[library](columns)
        out = sash.rolling(made, on=roles["on"], by=roles["by"], window=5, aggs=total)
        assert read(out) == columns | {"total": [1.0, 2.0, 5.0]}, role


def test_names_of_steps() -> None:
    for name in EVERYWHERE:
        if name in ("window_start", "window_end"):
            continue
        for role in ("on", "by", "read", "alias"):
            columns, roles = with_name(name, role)
            total = agg.sum(roles["read"]).alias(roles["alias"])
            out = sash.rolling(
                pa.table(columns), on=roles["on"], by=roles["by"], window=4, every=4, aggs=total
            )
            assert out.column_names == [
                roles["by"], "window_start", "window_end", roles["alias"],
            ], (name, role)  # fmt: skip
            assert out[roles["alias"]].to_pylist() == [5.0, 2.0]


def test_names_of_windows_in_rolling() -> None:
    table = pa.table({"t": [1, 2], "x": [1.0, 2.0]})
    several = {name: i for i, name in enumerate(EVERYWHERE, 1)}
    out = sash.rolling(table, on="t", window=several, aggs=agg.max("x").alias("m"))
    assert out.column_names[2:] == [f"m_{name}" for name in EVERYWHERE]


def operator(roles: dict[str, str], window: str, **others: Any) -> sash.WindowOperator:
    return sash.WindowOperator(
        on=roles["on"],
        by=roles["by"],
        windows=[sash.tumbling(10, name=window), sash.session(5, name="other window")],
        aggs=[agg.sum(roles["read"]).alias(roles["alias"]), agg.count().alias("how many")],
        lateness=100,
        **others,
    )


def test_an_operator() -> None:
    for name in [*NAMES.values(), *CASES]:
        for role in ("on", "by", "read", "alias", "window"):
            columns, roles = with_name(name, role)
            window = name if role == "window" else "a window"
            late: list[pa.Table] = []
            before = operator(roles, window)
            before.process(pa.table(columns))
            op = operator(roles, window, on_late=late.append)
            op.restore(before.snapshot())
            told = op.advance(50).to_pylist()
            found = {(row[roles["by"]], row["window"]): row[roles["alias"]] for row in told}
            assert found["a", window] == 5.0, (name, role)
            assert found["b", window] == 2.0
            assert op.query("a")[roles["alias"]] == 5.0
            assert window in op.windows("a")["window"].to_pylist()
            assert op.key_table().column_names == [roles["by"]]
            assert repr(op)
            assert str(sash.explain(op))
            op.advance(1000)
            op.process(pa.table(columns))
            assert late[0].to_pydict() == columns  # as they were
            op.add(sash.tumbling(20, name=f"{name} again"))
            op.remove(window)


def test_an_operator_refuses_its_own_names() -> None:
    for name in OWN.values():
        for role in ("by", "alias"):
            with pytest.raises(ValueError, match=f"results have a column '{name}' of their own"):
                operator(with_name(name, role)[1], "a window")


def test_structures() -> None:
    for name in EVERYWHERE:
        window = sash.DabaLite([agg.sum(name), agg.max("x")])
        window.insert({name: 1.0, "x": 2.0})
        window.insert_many({name: [3.0], "x": [1.0]})
        assert window.query() == (4.0, 2.0)
        again = sash.DabaLite.restore(window.snapshot(), [agg.sum(name), agg.max("x")])
        assert again.query() == (4.0, 2.0)
        assert f"sum_{name}" in repr(again)


def test_names_that_differ_in_case_are_different() -> None:
    table = pa.table({"t": [1, 2], **{name: [float(i)] * 2 for i, name in enumerate(CASES)}})
    wanted = [agg.sum(name).alias(f"of {name}") for name in CASES]
    for make in (pa.table, pl.from_arrow):
        out = read(sash.rolling(make(table), on="t", window=1, aggs=wanted))
        assert [out[f"of {name}"] for name in CASES] == [[0.0] * 2, [1.0] * 2, [2.0] * 2]


def test_names_that_look_the_same_are_different() -> None:
    composed, combining = HOSTILE["composed"], HOSTILE["combining"]
    table = pa.table({"t": [1], composed: [1.0], combining: [2.0]})
    out = sash.rolling(table, on="t", window=1, aggs=[agg.sum(composed), agg.sum(combining)])
    assert (out[f"sum_{composed}"][0].as_py(), out[f"sum_{combining}"][0].as_py()) == (1.0, 2.0)
    with pytest.raises(KeyError, match="no column"):
        sash.rolling(table.drop_columns([composed]), on="t", window=1, aggs=agg.sum(composed))


# ---- many columns ------------------------------------------------------------------------------

MANY = 1000
WIDE: Columns = {"t": [1, 2, 3], **{f"c{i}": [1.0, 2.0, float(i)] for i in range(MANY)}}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_thousand_columns(library: str) -> None:
    table = LIBRARIES[library](WIDE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = read(sash.rolling(table, on="t", window=2, aggs=agg.sum("c7").alias("sum")))
        all_ = read(
            sash.rolling(table, on="t", window=2, aggs=[agg.sum(f"c{i}") for i in range(MANY)])
        )
    assert one == WIDE | {"sum": [1.0, 3.0, 9.0]}
    assert all_ == WIDE | {f"sum_c{i}": [1.0, 3.0, 2.0 + i] for i in range(MANY)}


def test_fifty_keys() -> None:
    by = [f"c{i}" for i in range(50)]
    out = sash.rolling(pa.table(WIDE), on="t", by=by, window=9, aggs=agg.sum("c99"))
    assert out["sum_c99"].to_pylist() == [1.0, 2.0, 99.0]


def test_a_thousand_aggregates_of_an_operator() -> None:
    def made() -> sash.WindowOperator:
        aggs = [agg.sum(f"c{i}").alias(f"s{i}") for i in range(MANY)]
        others = [agg.topk(2, "c5"), agg.hll("c5"), agg.collect("c5")]
        windows = sash.tumbling(3, offset=1)
        return sash.WindowOperator(on="t", windows=windows, aggs=[*aggs, *others])

    op = made()
    op.process(pa.table(WIDE))
    again = made()
    again.restore(op.snapshot())
    (row,) = again.finish().to_pylist()
    assert [row[f"s{i}"] for i in range(MANY)] == [3.0 + i for i in range(MANY)]
    assert (row["topk_c5"], row["hll_c5"], row["collect_c5"]) == ([5.0, 2.0], 3, [1.0, 2.0, 5.0])


@pytest.mark.parametrize("structure", [sash.DabaLite, sash.TwoStacksLite, sash.FingerTree])
def test_more_columns_than_a_record_reads(structure: Any) -> None:
    """Natively up to 62 inputs, on Python objects beyond: with the same results."""
    for count in (62, 63):
        window = structure([agg.sum(f"c{i}") for i in range(count)])
        rows = {f"c{i}": WIDE[f"c{i}"] for i in range(count)}
        times = ([1, 2, 3],) if structure is sash.FingerTree else ()
        found = window.slide(*times, rows, 2)
        assert [column.tolist() for column in found.values()] == [
            [1.0, 3.0, 2.0 + i] for i in range(count)
        ]


def test_names_are_compared_in_linear_time() -> None:
    """20,000 columns took a minute while every name was counted among all of them."""
    columns = {"t": [1], **{f"c{i}": [1.0] for i in range(20_000)}}
    assert sash.rolling(pa.table(columns), on="t", window=1, aggs=agg.sum("c9")).num_rows == 1
