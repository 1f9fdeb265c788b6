"""Every row of the tables of bad inputs: its error, its words, and that nothing has changed."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from bad_inputs import of_aggregates, of_jobs, of_rolling, of_structures, of_windows
from bad_inputs.row import Bad

import sash

AREAS = {
    "aggregates": of_aggregates.ROWS,
    "structures": of_structures.ROWS,
    "windows": of_windows.ROWS,
    "rolling": of_rolling.ROWS,
    "jobs": of_jobs.ROWS,
}
TABLE = [(area, row) for area, rows in AREAS.items() for row in rows]


def state_of(given: Any) -> Any:
    """All that can be seen of an object."""
    if isinstance(given, pa.Table):
        return given.to_pydict()
    if isinstance(given, sash.WindowOperator):
        counts = given.rows, given.late_rows, given.keys, given.slices, given.watermark
        return counts, repr(given)
    if isinstance(given, sash.FlatFat):
        return len(given), given.aggregate(), given.prefix(0)
    given.check_invariants()
    return len(given), given.query()


def told(error: BaseException) -> str:
    return str(error.args[0]) if isinstance(error, KeyError) else str(error)


@pytest.mark.parametrize(
    ("area", "row"), TABLE, ids=[f"{area}: {row.name}".replace(" ", "_") for area, row in TABLE]
)
def test_a_bad_input(area: str, row: Bad) -> None:
    given = [] if row.given is None else [row.given()]
    before = [state_of(one) for one in given]
    with pytest.raises(Exception) as caught:  # which one is looked at below
        row.call(*given)
    assert type(caught.value) is row.error, repr(caught.value)
    assert row.words in told(caught.value)
    assert "incompatible function arguments" not in told(caught.value)  # nanobind's own words
    assert [state_of(one) for one in given] == before


def test_the_table_is_long_and_tells_its_rows_apart() -> None:
    assert len(TABLE) >= 200
    names = [(area, row.name) for area, row in TABLE]
    assert len(set(names)) == len(names)
