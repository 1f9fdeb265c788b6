"""The regression guard: what is on record, how it is compared, and that it finds what it should."""

from __future__ import annotations

import os
import platform
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import sash
from benchmarks import guard, guard_combines, guard_growth, guard_native
from benchmarks.guard import Record, compare
from benchmarks.guard_combines import Combined
from benchmarks.guard_native import CannotMeasureError, Counted
from sash.structures import Window
from sash.trees import Tree
from tools import debian

ON_RECORD = Record.load(guard.RECORD)
SMALL = Record(
    compiler="gcc 12.2.0",
    machine="x86_64",
    combines={"A: in order": Combined(10, {"insert": 20, "query": 10})},
    instructions={"A: in order": Counted(10, 1000), "B: late": Counted(5, 1000)},
)


def counted(instructions: int) -> Record:
    return replace(
        SMALL, instructions=SMALL.instructions | {"A: in order": Counted(10, instructions)}
    )


def combined(**combines: int) -> Record:
    return replace(SMALL, combines={"A: in order": Combined(10, combines)})


@pytest.mark.parametrize("name", guard_combines.WORKLOADS)
def test_combines_are_those_on_record(name: str) -> None:
    """After a change that is meant: python -m benchmarks.guard --write."""
    assert guard_combines.WORKLOADS[name]() == ON_RECORD.combines[name]


def test_the_record_is_complete() -> None:
    assert ON_RECORD.combines.keys() == guard_combines.WORKLOADS.keys()
    sources = [(guard_native.SOURCES / f"{p}.cpp").read_text() for p in guard_native.PROGRAMS]
    native = re.findall(r'"(\w+: [^"]+)"', "".join(sources))
    assert len(native) == len(set(native)) > 20
    assert ON_RECORD.instructions.keys() == set(native)
    assert ON_RECORD.instructions.keys() <= ON_RECORD.combines.keys()
    for name, one in ON_RECORD.instructions.items():
        assert one.operations == ON_RECORD.combines[name].operations, name
        assert one.instructions > 10 * one.operations, name


def test_in_order_the_core_combines_as_often_as_with_a_monoid_of_python() -> None:
    counted = {
        name: one.combines for name, one in ON_RECORD.instructions.items() if one.combines != 0
    }
    in_order = {name: n for name, n in counted.items() if "Tree" not in name}  # not of one shape
    assert len(in_order) == len(counted) - 2 == 9
    for name, combines in in_order.items():
        calls = ON_RECORD.combines[name].combines
        assert combines == sum(n for what, n in calls.items() if what != "fill"), name


def test_all_programs_are_built() -> None:
    there = {path.stem for path in guard_native.SOURCES.glob("*.cpp")}
    assert there == {"main", *guard_growth.PROGRAMS, *guard_native.PROGRAMS}


def test_every_structure_is_on_record() -> None:
    classes = [one for one in vars(sash).values() if isinstance(one, type)]
    other = (sash.FlatFat, sash.TimedWindow, sash.WindowOperator)
    structures = [one for one in classes if issubclass(one, (Window, Tree, *other))]
    assert len(structures) == 14
    recorded = {name.split(":")[0] for name in ON_RECORD.combines}
    assert {one.__name__ for one in structures} | {"rolling"} == recorded


def test_the_core_and_the_guard_are_compiled_alike() -> None:
    build = (guard_native.ROOT / "CMakeLists.txt").read_text()
    assert "set(CMAKE_CXX_STANDARD 20)" in build
    for flag in guard_native.FLAGS[1:]:
        assert flag in build


def test_what_has_not_changed_passes() -> None:
    assert compare(SMALL, SMALL) == guard.Findings([], [])


@pytest.mark.parametrize(("now", "found"), [(1049, 0), (951, 0), (1051, 1), (5000, 1)])
def test_five_percent_with_the_same_compiler(now: int, found: int) -> None:
    findings = compare(SMALL, counted(now))
    assert len(findings.problems) == found
    assert not findings.better
    assert all("A: in order" in problem for problem in findings.problems)


@pytest.mark.parametrize("other", [{"compiler": "clang 16.0.6"}, {"machine": "aarch64"}])
def test_fifty_percent_with_another_compiler(other: dict[str, str]) -> None:
    assert not compare(SMALL, replace(counted(1490), **other)).problems  # type: ignore[arg-type]
    (problem,) = compare(SMALL, replace(counted(1510), **other)).problems  # type: ignore[arg-type]
    assert problem == "A: in order: +51.0% instructions, of which 50% are allowed"


def test_fewer_instructions_are_no_problem() -> None:
    findings = compare(SMALL, counted(900))
    assert findings == guard.Findings([], ["A: in order: -10.0% instructions"])
    assert guard.report(findings, "gcc") == 0


@pytest.mark.parametrize(
    ("now", "problem"),
    [
        ({"insert": 21, "query": 10}, "A: in order: insert combines 21 times, not 20"),
        ({"insert": 20, "query": 9}, "A: in order: query combines 9 times, not 10"),
        ({"insert": 20}, "A: in order: query combines 0 times, not 10"),
        ({"evict": 1, "insert": 20, "query": 10}, "A: in order: evict combines 1 times, not 0"),
    ],
)
def test_any_other_number_of_combines_is_a_problem(now: dict[str, int], problem: str) -> None:
    assert compare(SMALL, combined(**now)).problems == [problem]


def test_other_combines_in_the_core_are_a_problem() -> None:
    now = replace(SMALL, instructions=SMALL.instructions | {"B: late": Counted(5, 1000, 7)})
    assert compare(SMALL, now).problems == ["B: late: combines 7 times, not 0"]


def test_workloads_that_came_went_or_changed_are_problems() -> None:
    more = replace(SMALL, instructions=SMALL.instructions | {"C": Counted(1, 1)})
    (problem,) = compare(SMALL, more).problems
    assert problem == "C: its instructions are counted, but not on record"
    (problem,) = compare(more, SMALL).problems
    assert problem == "C: its instructions are on record, but not counted any more"
    other = replace(SMALL, combines={"A: in order": Combined(11, {"insert": 20, "query": 10})})
    (problem,) = compare(SMALL, other).problems
    assert problem == "A: in order: it has 11 operations, and 10 on record"


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = SMALL
    growth = {name: {10: 5.0, 1000: 5.0} for name in guard_growth.MOST}
    monkeypatch.setattr(guard, "RECORD", tmp_path / "guard.json")
    monkeypatch.setattr(guard, "measure", lambda include: now)
    monkeypatch.setattr(guard_growth, "measure", lambda include: dict(growth))
    assert guard.main([]) == 2
    assert "nothing on record" in capsys.readouterr().err
    assert guard.main(["--write"]) == 0
    assert Record.load(guard.RECORD) == SMALL
    assert guard.main([]) == 0
    now = counted(1200)
    capsys.readouterr()
    assert guard.main([]) == 1
    told = capsys.readouterr()
    assert re.search(r"A: in order +3.000 +3.000 +100.0 +120.0 +\+20.0%\n", told.out)
    assert "A: in order: +20.0% instructions, of which 5% are allowed" in told.err
    assert guard.main(["--write"]) == 0
    assert guard.main([]) == 0
    growth = {name: {10: 5.0, 1000: 500.0} for name in guard_growth.MOST}
    capsys.readouterr()
    assert guard.main([]) == guard.main(["--write"]) == 1
    assert "cost grows as n^1.00, and may grow as n^0.25" in capsys.readouterr().err


def test_what_is_missing_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(guard_native, "install", lambda package, purpose: False)
    monkeypatch.setattr(guard_combines, "measure", dict)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(guard_native, "compiler", lambda: "gcc 12.2.0")
    assert guard.main([]) == 2
    assert "apt-get install valgrind" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert guard.main([]) == 2
    assert "no compiler 'no-such-compiler'" in capsys.readouterr().err


@pytest.mark.parametrize(("code", "calls"), [(0, 2), (100, 1)])
def test_a_package_of_debian(
    code: int, calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt = tmp_path / "apt-get"
    apt.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/log\nexit {code}\n')
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert debian.install("valgrind", "a test") == (code == 0)
    log = (tmp_path / "log").read_text().splitlines()
    assert log == ["-qq update", "-qq install -y --no-install-recommends valgrind"][:calls]
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert not debian.install("valgrind", "a test")
    assert len((tmp_path / "log").read_text().splitlines()) == calls


def test_output_of_callgrind() -> None:
    part = "events: Ir\nfn=(1) f\n3 7\n\ntotals: 455118\n"
    assert guard_native.instructions_in(part) == 455118
    with pytest.raises(CannotMeasureError, match="no line of totals"):
        guard_native.instructions_in("events: Ir\n")


def patch(header: Path, line: str, more: str) -> None:
    text = header.read_text()
    assert text.count(line) == 1, header
    header.write_text(text.replace(line, line + more))


def test_what_got_slower_is_found(tmp_path: Path) -> None:
    """One more combine in one structure, a loop in another: built, counted, and told."""
    include = tmp_path / "include"
    shutil.copytree(guard_native.INCLUDE, include)
    more = "m_.combine(spare_.get(), slot, back_.get());\n"
    patch(include / "sash/daba_lite.hpp", "      m_.append(back_.get(), slot);\n", more)
    more = "for (volatile int i = 0; i < 50; ++i) {}\n"
    patch(include / "sash/two_stacks_lite.hpp", "  void query(Cell* out) const {\n", more)
    found = guard_native.measure(include, tmp_path / "build", ["in_order"])
    now = replace(ON_RECORD, compiler=guard_native.compiler(), machine=platform.machine())
    old = {name: ON_RECORD.instructions[name] for name in found}
    problems, better = guard.compare_instructions(old, found, ON_RECORD.tolerance(now))
    told = "\n".join(problems)
    assert "DabaLite: in order, not commutative: combines 40,944 times, not 32,752" in told
    assert re.search(r"TwoStacksLite: in order: \+\d{3}\.\d% instructions", told)
    assert {problem.split(":")[0] for problem in problems} == {"DabaLite", "TwoStacksLite"}
    assert not better


def test_exponents() -> None:
    sizes = [2**k for k in range(4, 12)]
    assert guard_growth.exponent(dict.fromkeys(sizes, 7.0)) == pytest.approx(0)
    assert guard_growth.exponent({n: 3.0 * n for n in sizes}) == pytest.approx(1)
    assert guard_growth.exponent({n: n**0.5 for n in sizes}) == pytest.approx(0.5)
    counted = {f"A: b at {n}": Counted(10, 30 * n) for n in sizes}
    assert guard_growth.by_size(counted) == {"A: b": {n: 3.0 * n for n in sizes}}
    assert guard_growth.problems({"A: b": {1: 1.0, 2: 2.0}}, {"A: b": 0.9, "C": 1}) == [
        "A: b: cost grows as n^1.00, and may grow as n^0.90",
        "C: it is not measured",
    ]
    assert guard_growth.problems({"A: b": {1: 1.0, 2: 2.0}}, {"A: b": 1.1}) == []
    with pytest.raises(CannotMeasureError, match="at SIZE"):
        guard_growth.by_size({"A: b": Counted(1, 1)})


@pytest.mark.full
def test_costs_grow_as_they_may() -> None:
    assert guard_growth.problems(guard_growth.measure()) == []


def grown(program: str, include: Path, folder: Path) -> list[str]:
    """Return which workloads of a program grow faster than they may with other headers."""
    found = guard_growth.measure(include, folder / "build", [program])
    most = {name: guard_growth.MOST[name] for name in found}
    return [problem.split(": cost grows")[0] for problem in guard_growth.problems(found, most)]


@pytest.mark.full
def test_a_search_that_walks_over_holes_is_found(tmp_path: Path) -> None:
    """A handle that is searched for place by place costs as many steps as there are places."""
    include = tmp_path / "include"
    shutil.copytree(guard_native.INCLUDE, include)
    walk = "    while (low < high && (is_hole(place_of(low)) || ticket_at(low) < ticket)) ++low;\n"
    line = "    std::size_t low = 0, high = span_;\n"
    patch(include / "sash/reactive_aggregator.hpp", line, walk)
    assert grown(guard_growth.STRUCTURES, include, tmp_path) == [
        "ReactiveAggregator: evict by handle among holes"
    ]


@pytest.mark.full
def test_a_late_row_that_moves_all_rows_after_it_is_found(tmp_path: Path) -> None:
    """One block for all rows of a key makes a single late row as dear as the rows are many."""
    include = tmp_path / "include"
    shutil.copytree(guard_native.INCLUDE, include)
    line = "  static std::size_t most(const Form& f) {\n"
    patch(include / "sash/slicing/row_list.hpp", line, "    if (f.bytes() != 0) return 1 << 20;\n")
    assert grown(guard_growth.OPERATOR, include, tmp_path) == [
        "WindowOperator: single late rows of windows by count",
        "WindowOperator: single late rows of windows by delta",
    ]
