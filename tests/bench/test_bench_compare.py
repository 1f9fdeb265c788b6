"""Two runs agree if their ratios do, whatever the machine's speed, and their verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_results import EXPERIMENTS, latency_result, never, sizes_result

from benchmarks.experiment import Experiment, Verdict
from benchmarks.report import compare
from benchmarks.results import Result


def saved(folder: Path, *results: Result) -> Path:
    for result in results:
        result.save(folder)
    return folder


def test_runs_that_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = [sizes_result(), latency_result(), sizes_result(1.15), latency_result()]
    for minute, result in enumerate(results):
        result.began = f"2026-05-01 10:0{minute}:59 UTC"
    first, second = saved(tmp_path / "a", *results[:2]), saved(tmp_path / "b", *results[2:])
    written = tmp_path / "repeat.md"
    assert compare.run(EXPERIMENTS, first, second, written) == 0
    said = capsys.readouterr().out
    assert "sizes_of_it: 10 of 10 within 20%; worst 6.43 and 7.39" in said
    assert "10 of 10 ratios (100.0%) agree within 20%; 2 of 2 verdicts are the same." in said
    table = written.read_text()
    assert "| Title of sizes_of_it & more | 10 | 10 | 6.43 and 7.39" in table
    assert "| 2026-05-01 10:00 and 2026-05-01 10:02 |" in table


def test_runs_whose_ratios_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = saved(tmp_path / "a", sizes_result()), saved(tmp_path / "b", sizes_result(1.4))
    assert compare.run(EXPERIMENTS, first, second) == 1
    assert "only 2 of 10 ratios agree within 20%" in capsys.readouterr().out


def test_a_machine_that_is_slower_for_all_agrees(tmp_path: Path) -> None:
    slower = sizes_result()
    for line in slower.lines:
        for point in line.points:
            point.cost *= 3
    first, second = saved(tmp_path / "a", sizes_result()), saved(tmp_path / "b", slower)
    assert compare.run(EXPERIMENTS, first, second) == 0


def test_runs_whose_verdicts_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def judge(result: Result) -> Verdict:
        quick = result.line("ClassicTree", "sum").at(0) < 95
        return Verdict("yes" if quick else "no", "")

    unsure = Experiment("sizes_of_it", "fiba", "t", "c", never, judge)
    first, second = saved(tmp_path / "a", sizes_result()), saved(tmp_path / "b", sizes_result(1.1))
    assert compare.run([unsure], first, second) == 1
    assert "sizes_of_it: the verdicts differ, yes and no" in capsys.readouterr().out


def test_runs_of_different_experiments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = saved(tmp_path / "a", sizes_result())
    second = saved(tmp_path / "b", latency_result())
    assert compare.run(EXPERIMENTS, first, second) == 1
    said = capsys.readouterr().out
    assert "only one of the runs has latency_of_it" in said
    assert "the runs have no ratio in common" in said
