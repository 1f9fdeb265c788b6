"""The results that are in the repository are those that its report and its documentation tell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bench_links import broken

from benchmarks.registry import EXPERIMENTS
from benchmarks.report import blocks, claims, compare, content, markdown, modelled, tracing
from benchmarks.report.__main__ import DOCS, relative
from benchmarks.report.page import page
from benchmarks.results import Result, load_all

RAW = relative(DOCS / "results", DOCS)
NAMES = [experiment.name for experiment in EXPERIMENTS]


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    return load_all(DOCS / "results")


@pytest.fixture(scope="module")
def entries(results: dict[str, Result]) -> list[content.Entry]:
    return [*content.entries(EXPERIMENTS, results), *modelled.entries(results)]


def test_every_experiment_has_a_result_of_a_full_run(results: dict[str, Result]) -> None:
    assert set(results) == {*NAMES, *modelled.EXPERIMENTS}
    assert [name for name, result in results.items() if result.quick] == []
    assert [name for name, result in results.items() if not result.checks] == []


def test_every_experiment_has_its_plots() -> None:
    plots = {path.stem for path in (DOCS / "plots").glob("*.svg")}
    assert plots == {*NAMES, *modelled.EXPERIMENTS}


def test_the_markdown_is_that_of_the_results(entries: list[content.Entry]) -> None:
    """Write it anew with ``python -m benchmarks.report``."""
    for name, text in markdown.pages(entries, RAW, {path.name for path in DOCS.iterdir()}).items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, name


def test_the_page_is_that_of_the_results(entries: list[content.Entry]) -> None:
    """Plots are left out: another Matplotlib draws them a little differently."""
    kept = (DOCS / "report.html").read_text(encoding="utf-8")
    assert kept.count("<svg") == 2 * len(entries)
    without = re.sub("<svg.*?</svg>", "", kept, flags=re.DOTALL)
    assert without == page(entries, RAW, lambda *_: "")


def test_the_model_is_that_of_the_results(results: dict[str, Result], tmp_path: Path) -> None:
    modelled.write(results, tmp_path, tmp_path)
    assert (tmp_path / "model.md").read_text() == (DOCS / "model.md").read_text()


def test_the_documentation_says_what_the_report_saw(entries: list[content.Entry]) -> None:
    """Write it anew with ``python -m benchmarks.report``."""
    named = {entry.name: entry for entry in entries}
    for page_, report in blocks.PAGES.items():
        text = (claims.ROOT / page_).read_text(encoding="utf-8")
        assert blocks.fill(text, named, report) == text, page_


def test_links_of_the_report_lead_somewhere() -> None:
    pages = sorted(DOCS.glob("*.md"))
    assert {path.name: broken(path) for path in pages} == {path.name: [] for path in pages}


def test_the_documentation_states_what_was_measured(results: dict[str, Result]) -> None:
    found = claims.traced(results)
    assert found, "there are no claims"
    assert {one.claim.text: one.problem for one in found if one.problem} == {}
    kept = (DOCS / "claims.md").read_text(encoding="utf-8")
    assert kept == tracing.page(found, claims.ROOT, DOCS, RAW)


def test_no_figure_is_stated_without_a_claim() -> None:
    assert claims.unclaimed() == []


def test_what_is_said_to_be_no_measurement_is_there() -> None:
    for where, fragment in claims.NOT_MEASURED:
        words = " ".join(Path(claims.ROOT / where).read_text(encoding="utf-8").split())
        assert " ".join(fragment.split()) in words, (where, fragment)


def test_a_second_run_says_the_same(results: dict[str, Result]) -> None:
    """Measure it anew with ``make bench-again``."""
    again = load_all(DOCS / "again")
    assert set(again) == set(NAMES)
    found = compare.compare(EXPERIMENTS, results, again)
    assert compare.problems(found, []) == []
    assert (DOCS / "repeat.md").read_text(encoding="utf-8") == compare.table(found)
