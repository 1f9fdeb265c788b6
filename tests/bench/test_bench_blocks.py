"""The lists of measured things in the documentation."""

from __future__ import annotations

import pytest
from bench_results import EXPERIMENTS, RESULTS

from benchmarks.report import blocks, content

PAGE = "before 5 ns\n\n<!-- measured: {} -->\nold, 3 ns\n<!-- /measured -->\n\nafter 7 ns\n"


def test_lists_are_written_anew() -> None:
    named = {entry.name: entry for entry in content.entries(EXPERIMENTS, RESULTS)}
    first, second = list(named)[:2]
    text = blocks.fill(PAGE.format(f"{first} {second}"), named, "docs/benchmarks")
    assert "old" not in text
    assert named[first].verdict.seen in text
    assert f"(docs/benchmarks/{named[second].experiment.group}.md#{second})" in text
    assert text.startswith("before") and text.endswith("after 7 ns\n")
    assert blocks.fill(text, named, "docs/benchmarks") == text


def test_an_experiment_that_is_not_there() -> None:
    with pytest.raises(KeyError, match="nothing"):
        blocks.fill(PAGE.format("nothing"), {}, "x")


def test_pages_without_their_lists() -> None:
    text = blocks.without(PAGE.format("one"))
    assert "3 ns" not in text and "5 ns" in text and "7 ns" in text
    assert text.count("\n") == PAGE.count("\n")
