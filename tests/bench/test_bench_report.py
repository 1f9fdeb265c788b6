"""The report says what the results say, needs nothing else, and is the same every time."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bench_links import broken, links
from bench_results import EXPERIMENTS, RESULTS, peers_result, sizes_result

from benchmarks.report import content, markdown, plots
from benchmarks.report.__main__ import write
from benchmarks.report.page import page


@pytest.fixture(scope="module")
def entries() -> list[content.Entry]:
    return content.entries(EXPERIMENTS, RESULTS)


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory, entries: list[content.Entry]) -> Path:
    folder = tmp_path_factory.mktemp("report")
    for result in RESULTS.values():
        result.save(folder / "results")
    write(entries, folder / "results", folder)
    return folder


def test_the_page_has_every_experiment_its_verdict_and_its_plot(output: Path) -> None:
    text = (output / "report.html").read_text()
    for name, holds in {
        "sizes_of_it": "holds",
        "latency_of_it": "holds partly",
        "tables_of_it": "does not hold",
    }.items():
        article = text[text.index(f'<article id="{name}">') :]
        article = article[: article.index("</article>")]
        assert f"Title of {name} &amp; more" in article
        assert f">{holds}</span> Seen in {name}: 14 &lt; 39." in article
        assert article.count("<svg") == 2, "one for wide screens, one for narrow ones"
        assert f'href="results/{name}.json"' in article
    assert "not_run" not in text
    assert "3 experiments, 2 of them after figures of papers" in text
    assert "1 were seen here, 1 in part, 0 not" in text


def test_the_page_needs_nothing_from_elsewhere(output: Path) -> None:
    text = (output / "report.html").read_text()
    addresses = set(re.findall(r"\w+:" + r"//[^\s\"'<>)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "<script" not in text
    assert "<link" not in text
    assert "@import" not in text
    inside = set(re.findall(r'id="([^"]+)"', text))
    assert len(inside) == len(re.findall(r'id="([^"]+)"', text)), "two parts have one name"
    for target in re.findall(r'href="#([^"]+)"', text) + re.findall(r"url\(#([^)]+)\)", text):
        assert target in inside


def test_the_page_has_costs_and_their_spread(output: Path) -> None:
    text = (output / "report.html").read_text()
    assert "<td>2<sup>20</sup></td><td>14.0 <small>(15.0, 20.0)</small></td>" in text
    assert "<td>Daba</td><td>60.0</td><td>65.0</td><td>70.0</td><td>4,100</td>" in text
    assert "n = 4,194,304, rounds = sum 5,000; 61 s" in text
    assert "Notes (9)" in text, "many notes are folded"


def test_plots_are_svg_and_png(output: Path) -> None:
    for name in RESULTS:
        drawn = output / "plots" / f"{name}.svg"
        ElementTree.parse(drawn)
        assert "<text" in drawn.read_text(), "text is text"
        assert (output / "plots" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    words = (output / "plots" / "sizes_of_it.svg").read_text()
    assert "2²⁰" in words
    assert "1048576" not in words
    assert "bloom &lt;2¹⁴&gt;" in words


def test_links_of_the_markdown_lead_somewhere(output: Path) -> None:
    pages = sorted(output.glob("*.md"))
    assert [p.name for p in pages] == ["README.md", "daba.md", "fiba.md", "peers.md"]
    assert {p.name: broken(p) for p in pages} == {p.name: [] for p in pages}
    assert "plots/sizes_of_it.svg" in links(output / "fiba.md")
    assert "results/sizes_of_it.json" in links(output / "fiba.md")
    assert "fiba.md#sizes_of_it" in links(output / "README.md")


def test_the_overview_leads_to_other_pages_that_are_there(entries: list[content.Entry]) -> None:
    overview = markdown.pages(entries, "results", ["repeat.md", "x.md"])["README.md"]
    assert "- [Two runs compared](repeat.md)" in overview
    assert "claims.md" not in overview


def test_the_markdown_says_what_the_page_says(output: Path) -> None:
    overview = (output / "README.md").read_text()
    assert "| FiBA 2019 | [figure 11](fiba.md#sizes_of_it) | sizes_of_it is \\| quick |" in overview
    part = (output / "fiba.md").read_text()
    assert "Here it **holds**. Seen in sizes_of_it: 14 &lt; 39." in part
    assert "| 2^20 | 14.0 (15.0, 20.0) | 90.0 (95.0, 99.0) | - |" in part


def test_losses_are_told(entries: list[content.Entry]) -> None:
    losses = content.behind(entries)
    assert [(x.peer, x.place, x.ours, x.theirs) for x in losses] == [
        ("bottleneck", "sum, 10^3 rows", "4.00", "2.00")
    ]
    assert (
        "| sum, 10^3 rows | 4.00 | bottleneck 2.00 | 2.0 times |"
        in markdown.pages(entries, "results")["README.md"]
    )


def test_losses_of_throughput_are_the_other_way_round() -> None:
    result = peers_result()
    result.lower_is_better = False
    found = content.behind(content.entries(EXPERIMENTS, {result.name: result}))
    assert [(x.peer, x.place) for x in found] == [
        ("pandas", "sum, 10^3 rows"),
        ("pandas", "max, 10^3 rows"),
    ]


def test_floors_and_parts_of_sash_are_no_peers() -> None:
    result = peers_result()
    result.lines.clear()
    for name, cost in {
        "Flink, HOP": 9.0, "WindowOperator": 3.0, "Flink, floor": 1.0, "state store": 1.0,
        "Flink, sliding windows": 2.0,
    }.items():  # fmt: skip
        result.add(name, "1", [cost])
    entries = content.entries(EXPERIMENTS, {result.name: result})
    assert [(x.peer, x.ours, x.theirs) for x in content.behind(entries)] == [
        ("Flink, sliding windows", "3.00", "2.00")
    ]
    del result.lines[1]
    assert content.behind(entries) == []


def test_the_report_is_the_same_every_time(entries: list[content.Entry]) -> None:
    for result in RESULTS.values():
        assert plots.inline(result, True) == plots.inline(result, True)
    raw = "results"
    assert page(entries, raw, lambda *_: "") == page(entries, raw, lambda *_: "")


def test_facts_that_changed_are_all_told() -> None:
    one, other = sizes_result(), peers_result()
    other.machine |= {"cpu": "a slow one", "load before": 2.5}
    there = content.entries(EXPERIMENTS, {r.name: r for r in (one, other)})
    facts = content.facts(there)
    assert facts["cpu"] == "a fast one, a slow one"
    assert facts["load before"] == "0.5 to 2.5"
    assert facts["time taken"] == "2 minutes"
