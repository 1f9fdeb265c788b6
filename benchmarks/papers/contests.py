"""Unlike runs of the native program in turns, with answers checked apart from times.

Where one competitor is a thousand times slower than the other, equally many rounds would be too few
for the one or take too long with the other. Where lines differ by what they do, their answers
differ. So each line has rounds of its own here, and `agree` compares answers of like runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from benchmarks import native
from benchmarks.experiment import Plan
from benchmarks.measure import in_turns
from benchmarks.papers.sweeps import Arguments, Found, runs, undisturbed
from benchmarks.results import Result


class Run(NamedTuple):
    """A mode of the native program and its arguments."""

    mode: str
    arguments: Arguments


def contest(
    result: Result, plan: Plan, x: float | str, lines: Mapping[str, Run], panel: str = ""
) -> None:
    """Run all lines in turns and add a point to each."""
    found: dict[str, list[Found]] = {name: [] for name in lines}

    def work(name: str) -> float:
        found[name].append(native.run(lines[name].mode, **lines[name].arguments))
        return float(found[name][-1]["ns"][0])

    in_turns({name: partial(work, name) for name in lines}, plan.repeat, plan.tries)
    for name, several in found.items():
        answers = {one["checksum"] for one in several}
        if len(answers) != 1:
            raise AssertionError(f"{name} gave {sorted(answers)} in runs that are the same")
        result.add(name, x, undisturbed(several, plan.tries), panel)


def agree(
    result: Result, plan: Plan, mode: str, structures: list[str], words: str, **arguments: Any
) -> None:
    """Check that structures give the same answers in few rounds, and note in words what was."""
    lines = {name: {**arguments, "structure": name} for name in structures}
    runs(plan, mode, lines, turns=1)
    if words not in result.checks:
        result.checks.append(words)
