"""Figures in the documentation are found, and traced to the results they come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.report import tracing
from benchmarks.report.figures import figures
from benchmarks.report.tracing import Claim
from benchmarks.results import Result

PAGE = """# Speed

A round takes 14 ns in order and
  39 ns late. It is **four times as fast**; windows of 60 s by 100 ms.

| d | 0 | 2^20 |
| --- | --: | --: |
| exactly | 14 | 39 |

| kind | what |
| --- | --- |
| one | for 3 things |

```python
took = "5 ms"
```

Not this: `7 ms` <!-- 8 ms -->.
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "docs" / "benchmarks").mkdir(parents=True)
    (tmp_path / "docs" / "speed.md").write_text(PAGE)
    return tmp_path


def results() -> dict[str, Result]:
    result = Result("distance")
    result.add("FingerTree", 0, [14.4, 14.2, 15.0])
    result.add("FingerTree", 1 << 20, [38.9])
    return {"distance": result}


def at(x: float) -> Claim:
    text = "A round takes 14 ns in order and 39 ns late."
    low, high = {0: (13, 15), 1 << 20: (36, 42)}[int(x)]
    return Claim("docs/speed.md", text, lambda r: r["distance"].line("FingerTree").at(x), low, high)


def lines(root: Path, claims: list[Claim], allowed: list[tuple[str, str]]) -> list[str]:
    found = tracing.unclaimed(root, ["docs/speed.md"], claims, allowed)
    return [f"{x.line}: {x.text}" for x in found]


PROSE = [
    "3: A round takes 14 ns in order and",
    "4: 39 ns late. It is **four times as fast**; windows of 60 s by 100 ms.",
]
ROW = "8: | exactly | 14 | 39 |"


def test_figures_are_found_in_prose_and_tables_and_not_in_code(root: Path) -> None:
    assert lines(root, [], []) == [*PROSE, ROW]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("5 to 12 ms for any window", (5, 12)),
        ("14.7 against 13.4 ns", (14.7, 13.4)),
        ("takes 1,300 µs", (1300,)),
        ("8.2 microseconds a row", (8.2,)),
        ("about a third of a microsecond", (1 / 3,)),
        ("1.4 to 3.7 times as fast", (1.4, 3.7)),
        ("ten million rows", (10,)),
        ("78 to 90 million rows/s", (78, 90)),
        ("18.9 bytes for an entry", (18.9,)),
        ("1.9 GB", (1.9,)),
        ("take 0.57 of the time", (0.57,)),
        ("that took 29 s", (29,)),
    ],
)
def test_what_a_figure_looks_like(text: str, stated: tuple[float, ...]) -> None:
    found = figures(f"Say that it is {text}, or so.")
    assert len(found) == 1
    assert set(stated) <= set(found[0].numbers)


@pytest.mark.parametrize("text", ["windows of 60 s", "in microseconds", "3 times", "version 4.3"])
def test_what_is_no_figure(text: str) -> None:
    assert figures(text) == []


def test_each_figure_needs_its_own_claim(root: Path) -> None:
    allowed = [("docs/speed.md", "by 100 ms"), ("docs/speed.md", "| d | 0 |")]
    times = Claim("docs/speed.md", "It is **four times as fast**", lambda r: 4.1, 3.5, 4.5)
    assert lines(root, [at(0), times], allowed) == [PROSE[1]], "39 ns is not claimed"
    assert lines(root, [at(1 << 20), times], allowed) == [PROSE[0]], "14 ns is not claimed"
    assert lines(root, [at(0), at(1 << 20)], allowed) == [PROSE[1]], "the factor is not"
    assert lines(root, [at(0), at(1 << 20), times], allowed) == []
    elsewhere = Claim("docs/other.md", times.text, times.value, 3.5, 4.5)
    assert lines(root, [at(0), at(1 << 20), elsewhere], allowed) == [PROSE[1]]


def test_a_claim_that_holds(root: Path) -> None:
    found = tracing.trace(at(0), results(), root)
    assert (found.value, found.experiments, found.problem) == (14.2, ["distance"], "")


def test_a_claim_whose_text_is_not_there(root: Path) -> None:
    claim = Claim("docs/speed.md", "takes 15 ns in order", lambda r: 15.0, 14, 16)
    assert "does not have this text" in tracing.trace(claim, results(), root).problem
    gone = Claim("docs/gone.md", "takes 15 ns in order", lambda r: 15.0, 14, 16)
    assert "does not have this text" in tracing.trace(gone, results(), root).problem


def test_a_claim_that_is_out_of_range(root: Path) -> None:
    claim = Claim("docs/speed.md", "takes 14 ns", lambda r: 19.0, 13, 15, "ns")
    said = tracing.trace(claim, results(), root).problem
    assert "measured 19.0 ns, which is not between 13 and 15" in said


def test_a_claim_whose_range_is_not_that_of_the_text(root: Path) -> None:
    claim = Claim("docs/speed.md", "takes 14 ns", lambda r: 19.0, 18, 20)
    assert "no number between 18 and 20" in tracing.trace(claim, results(), root).problem


def test_a_claim_without_its_result(root: Path) -> None:
    found = tracing.trace(at(0), {}, root)
    assert found.value is None
    assert "the results lack distance" in found.problem


def test_the_page_of_claims_leads_to_text_and_results(root: Path) -> None:
    there = [tracing.trace(at(x), results(), root) for x in (0, 1 << 20)]
    text = tracing.page(there, root, root / "docs" / "benchmarks", "results")
    assert (
        "| A round takes 14 ns in order and 39 ns late. | [docs/speed.md](../speed.md) | 38.9 | "
        "[distance](results/distance.json) |"
    ) in text
