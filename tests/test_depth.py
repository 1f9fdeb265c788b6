"""What make test and make test-full run: together everything, and nothing twice but examples."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import depth
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools import stages

TESTS = Path(__file__).parent


class Item:
    """What depth asks of a test."""

    def __init__(self, *markers: str, obj: Any = None) -> None:
        self.markers, self.obj = markers, obj

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.markers else None


@given(st.none())
def by_given(_: None) -> None:
    raise AssertionError("it is never run")


def test_quick_and_rest_are_all() -> None:
    plain, slow, deeper, found = (
        Item(),
        Item("full"),
        Item("deeper"),
        Item(obj=by_given),
    )
    items: list[Any] = [plain, slow, deeper, found]
    assert depth.chosen(items, "quick") == [plain, deeper, found]
    assert depth.chosen(items, "rest") == [slow, deeper, found]
    assert depth.chosen(items, "all") == items


def test_quick_runs_look_at_fewer_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depth, "QUICK", True)
    assert [depth.examples(n) for n in (3, 8, 100)] == [3, 5, 25]
    monkeypatch.setattr(depth, "QUICK", False)
    assert [depth.examples(n) for n in (3, 8, 100)] == [3, 8, 100]


def test_one_in_a_few_cases_is_quick() -> None:
    cases = depth.sampled("abcde", 3)
    assert [c for c in cases if isinstance(c, str)] == ["a", "d"]
    others = [c for c in cases if not isinstance(c, str)]
    assert [(c.values, [m.name for m in c.marks]) for c in others] == [
        ((value,), ["full"]) for value in "bce"
    ]


def test_an_unknown_depth_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(depth.VARIABLE, "deep")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", __file__],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "SASH_TESTS is 'deep': it has to be one of quick, rest, all" in done.stderr


def test_state_machines_are_marked_as_deeper() -> None:
    """They hide in a function, where nobody sees that Hypothesis runs them."""
    calls = 0
    for path in sorted(TESTS.rglob("test_*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef) and _runs_a_machine(function):
                calls += 1
                markers = [ast.unparse(one) for one in function.decorator_list]
                assert {"pytest.mark.deeper", "pytest.mark.full"} & {*markers}, (
                    path,
                    function.name,
                )
    assert calls > 3


def _runs_a_machine(function: ast.FunctionDef) -> bool:
    names = [n.id for n in ast.walk(function) if isinstance(n, ast.Name)]
    return "run_state_machine_as_test" in names


def program(code: str) -> stages.Stage:
    return stages.Stage(f"of {code}", [sys.executable, "-c", code])


def test_all_stages_run_and_failures_are_shown(capfd: pytest.CaptureFixture[str]) -> None:
    bad = program("print('first'); print('last'); raise SystemExit(3)")
    lanes = [[program("print('shown')")], [bad, program("print('hidden'); print('end')")]]
    outcomes = stages.run_all(lanes)
    assert [outcome.code for outcome in outcomes] == [0, 3, 0]
    lines = capfd.readouterr().out.splitlines()
    assert {"shown", "first", "last", "end"} < {*lines}
    assert "hidden" not in lines
    assert any("FAILED with exit code 3" in line for line in lines)


def test_one_failure_fails_all(monkeypatch: pytest.MonkeyPatch) -> None:
    lanes = {"good": [[program("")]], "bad": [[program("")], [program("1 / 0")]]}
    monkeypatch.setattr(stages, "LANES", lanes)
    assert stages.main("good") == 0
    assert stages.main("bad") == 1
