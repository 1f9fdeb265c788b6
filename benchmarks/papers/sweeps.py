"""The native program in turns: lines over a swept argument, and distributions of latency."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks import native
from benchmarks.experiment import Plan
from benchmarks.measure import in_turns
from benchmarks.results import Result, Violin

Arguments = Mapping[str, Any]
Found = dict[str, Any]
"""What the native program wrote: "ns", "checksum", "bytes", "latency" and so on."""

SAME = "all competitors of a point gave the same checksum of all their answers"


def sweep(
    result: Result,
    plan: Plan,
    mode: str,
    lines: Mapping[str, Arguments],
    x: str | Callable[[Any], Arguments],
    xs: Sequence[Any],
    *,
    panel: str = "",
    last: Mapping[str, float] | None = None,
    turns: int | None = None,
    **common: Any,
) -> dict[tuple[str, Any], list[Found]]:
    """Run all lines in turns at each of ``xs``; check that they agree, then add their points.

    ``x`` is the argument that is swept, or makes the arguments of a place. A line is a name and its
    own arguments; ``common`` are those of all lines. ``last`` has the greatest place that a line is
    measured at. A point has ``plan.repeat`` runs, or ``turns``. Returns what the program wrote.
    """
    all_found: dict[tuple[str, Any], list[Found]] = {}
    for place in xs:
        there = {
            name: {**common, **({x: place} if isinstance(x, str) else x(place)), **arguments}
            for name, arguments in lines.items()
            if place <= (last or {}).get(name, math.inf)
        }
        for name, found in runs(plan, mode, there, turns).items():
            result.add(name, place, undisturbed(found, plan.tries), panel)
            all_found[name, place] = found
    _note_check(result)
    return all_found


def violins(
    result: Result,
    plan: Plan,
    mode: str,
    lines: Mapping[str, Arguments],
    *,
    panel: str = "",
    turns: int | None = None,
    **common: Any,
) -> None:
    """Run all lines in turns and add how their single operations' times are distributed.

    The bins of all turns are added up. A quantile is the median of the turns' quantiles, so that
    what the machine did in one turn does not make it.
    """
    there = {name: {"latency": 1, **common, **arguments} for name, arguments in lines.items()}
    for name, found in runs(plan, mode, there, turns).items():
        latencies = [one["latency"] for one in found]
        bins: Counter[str] = Counter()
        for one in latencies:
            bins.update(one["bins"])
        quantiles = {
            at: statistics.median(one["quantiles"][at] for one in latencies)
            for at in latencies[0]["quantiles"]
        }
        ordered = dict(sorted(bins.items(), key=lambda item: float(item[0])))
        result.violins.append(Violin(name, ordered, quantiles, panel))
    _note_check(result)


def runs(
    plan: Plan, mode: str, lines: Mapping[str, Arguments], turns: int | None = None
) -> dict[str, list[Found]]:
    """Run each line ``plan.repeat`` times, or ``turns``, of ``plan.tries`` each; all must agree."""
    found: dict[str, list[Found]] = {name: [] for name in lines}

    def work(name: str) -> float:
        found[name].append(native.run(mode, **lines[name]))
        return statistics.fmean(found[name][-1]["ns"])

    in_turns({name: partial(work, name) for name in lines}, turns or plan.repeat, plan.tries)
    _check_equal(mode, lines, found)
    return found


def undisturbed(found: Sequence[Found], tries: int) -> list[float]:
    """Return the cost of each run: every part of its rounds as in the best of its tries.

    All tries do the same, part by part.
    """
    return [
        statistics.fmean(min(part) for part in zip(*(one["ns"] for one in run), strict=True))
        for run in (found[i : i + tries] for i in range(0, len(found), tries))
    ]


def _check_equal(
    mode: str, lines: Mapping[str, Arguments], found: Mapping[str, list[Found]]
) -> None:
    first = next(iter(found))
    expected = found[first][0]["checksum"]
    for name, several in found.items():
        for one in several:
            if not _agree(one["checksum"], expected):
                raise AssertionError(
                    f"{mode}: {name} gave {one['checksum']} but {first} gave {expected}, "
                    f"with {dict(lines[name])}"
                )


def _agree(one: str, other: str) -> bool:
    """Return whether checksums are equal; those of floats may differ by their last digit."""
    if one == other:
        return True
    try:
        return math.isclose(float(one), float(other), rel_tol=2e-5)
    except ValueError:
        return False


def _note_check(result: Result) -> None:
    if SAME not in result.checks:
        result.checks.append(SAME)
