"""Snapshots of every released format are read for ever, and answer as they did."""

from __future__ import annotations

import golden_files
import pytest
from golden_cases import CASES, OperatorCase, WindowCase

from sash import _snapshot

PAIRS = golden_files.pairs("snapshots")


def test_every_format_has_its_files() -> None:
    golden_files.check_is_complete("snapshots", _snapshot.FORMAT, CASES)


def test_a_new_format_needs_new_files() -> None:
    with pytest.raises(AssertionError, match=r"keep the folders .* tools/make_golden.py"):
        golden_files.check_is_complete("snapshots", _snapshot.FORMAT + 1, CASES)


def test_files_that_are_there_are_not_written_again() -> None:
    with pytest.raises(FileExistsError):
        golden_files.write("snapshots", _snapshot.FORMAT, CASES)


def test_they_are_small() -> None:
    files = [path for path in golden_files.ROOT.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1_000_000
    for number in golden_files.formats("snapshots"):
        cases = golden_files.manifest("snapshots", number)["cases"].values()
        named = [name for case in cases for name in case["files"]]
        there = [path.name for path in golden_files.folder("snapshots", number).iterdir()]
        assert sorted([*named, "manifest.json"]) == sorted(there)


@pytest.mark.parametrize(("number", "name"), PAIRS, ids=str)
def test_they_are_read(number: int, name: str) -> None:
    golden_files.check("snapshots", number, name, CASES)


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if isinstance(c, WindowCase)])
def test_what_was_restored_is_saved_as_it_was(name: str) -> None:
    case = CASES[name]
    saved = case.save(case.make())
    once = case.restore(saved)
    twice = case.restore(case.save(once))
    assert case.save(twice) == case.save(once)
    assert list(case.ask(twice)) == list(case.ask(once))


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if isinstance(c, OperatorCase)])
def test_an_operator_that_was_restored_goes_on_as_it_was(name: str) -> None:
    case = CASES[name]
    op = case.make()
    saved = case.save(op)
    once = case.restore(saved)
    twice = case.restore([*saved, once.changes()])
    thrice = case.restore([twice.snapshot()])
    answers = list(case.ask(op))
    for restored in (once, twice, thrice):
        assert list(case.ask(restored)) == answers
