"""Compare two runs: are the ratios between competitors the same, and the verdicts?"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.experiment import Experiment
from benchmarks.report.numbers import cost, sizes
from benchmarks.report.panels import panels
from benchmarks.results import Result, Violin, load_all

NEAR, ENOUGH = 1.2, 0.95


@dataclass(frozen=True)
class Ratio:
    """A competitor over the first of its panel, at one place, in both runs."""

    where: str
    first: float
    second: float

    @property
    def apart(self) -> float:
        """How far the runs are apart: 1 if they are the same."""
        low, high = sorted((self.first, self.second))
        return high / low if low else math.inf if high else 1.0


@dataclass(frozen=True)
class Compared:
    """One experiment of two runs."""

    name: str
    title: str
    ratios: list[Ratio]
    verdicts: tuple[str, str]
    began: tuple[str, str]

    @property
    def agree(self) -> int:
        """How many ratios are within 20%."""
        return sum(ratio.apart <= NEAR for ratio in self.ratios)

    @property
    def worst(self) -> str:
        """The ratio that differs most, in words."""
        if not self.ratios:
            return "one competitor, no ratios"
        ratio = max(self.ratios, key=lambda ratio: ratio.apart)
        return f"{cost(ratio.first)} and {cost(ratio.second)}, {ratio.where}"


def compare(
    experiments: Iterable[Experiment], first: dict[str, Result], second: dict[str, Result]
) -> list[Compared]:
    """Compare the experiments that both runs have."""
    return [
        Compared(
            e.name,
            e.title,
            list(_ratios(first[e.name], second[e.name])),
            (e.judge(first[e.name]).holds, e.judge(second[e.name]).holds),
            (first[e.name].began, second[e.name].began),
        )
        for e in experiments
        if e.name in first and e.name in second
    ]


def _ratios(first: Result, second: Result) -> Iterator[Ratio]:
    one, other = _to_first(first), _to_first(second)
    for where, ratio in one.items():
        if where in other:
            yield Ratio(where, ratio, other[where])


def _to_first(result: Result) -> dict[str, float]:
    """Return each cost over that of the panel's first line, or violin, at the same place."""
    found = {}
    for panel in panels(result):
        words = sizes(panel.places)
        for line in panel.lines[1:]:
            for point in line.points:
                if panel.lines[0].has(point.x) and panel.lines[0].at(point.x):
                    where = _where(line.name, words[point.x], panel.title)
                    found[where] = point.cost / panel.lines[0].at(point.x)
        for violin in (v for v in panel.violins[1:] if _told_finely(v, panel.violins[0])):
            where = _where(violin.name, "the median latency", panel.title)
            found[where] = violin.quantiles["0.5"] / panel.violins[0].quantiles["0.5"]
    return found


def _told_finely(*violins: Violin) -> bool:
    """Return whether medians are many steps of the clock, which goes in steps of 10 ns."""
    return all(v.quantiles["0.5"] >= 100 for v in violins)


def _where(name: str, place: str, panel: str) -> str:
    return f"{name} at {place}" + (f" ({panel})" if panel else "")


def problems(found: Sequence[Compared], missing: Sequence[str]) -> list[str]:
    """Return why the runs do not agree; nothing if they do."""
    said = [f"only one of the runs has {name}" for name in missing]
    said += [
        f"{x.name}: the verdicts differ, {x.verdicts[0]} and {x.verdicts[1]}"
        for x in found
        if x.verdicts[0] != x.verdicts[1]
    ]
    agree, total = sum(x.agree for x in found), sum(len(x.ratios) for x in found)
    if not total:
        return [*said, "the runs have no ratio in common"]
    if agree < ENOUGH * total:
        said.append(f"only {agree:,} of {total:,} ratios agree within 20%; 95% are to")
    return said


def summary(found: Sequence[Compared]) -> str:
    """Return how many ratios agree, in a sentence."""
    agree, total = sum(x.agree for x in found), sum(len(x.ratios) for x in found)
    same = sum(x.verdicts[0] == x.verdicts[1] for x in found)
    share = f" ({agree / total:.1%})" if total else ""
    return (
        f"{agree:,} of {total:,} ratios{share} agree within 20%; {same} of {len(found)} verdicts "
        "are the same."
    )


def table(found: Sequence[Compared]) -> str:
    """Return the comparison as a page of markdown."""
    lines = [
        "# Two runs compared",
        "",
        "Times differ from run to run with the load of the machine; ratios between competitors "
        "that ran in turns should not. Each cost is divided by that of its panel's first line "
        "at the same place, in both runs: the one that the report is made of (`make bench`), and "
        "one more, whose raw results are in `again` (`make bench-again`). It takes a machine that "
        "has nothing else to do.",
        "",
        summary(found),
        "",
        "| experiment | ratios | agree within 20% | furthest apart | verdicts | measured (UTC) |",
        "| --- | --: | --: | --- | --- | --- |",
    ]
    for x in found:
        cells = (x.title, len(x.ratios), x.agree, x.worst, _both(x), _when(x))
        lines.append(f"| {' | '.join(map(str, cells))} |".replace("<", "&lt;"))
    return "\n".join(lines) + "\n"


def _both(x: Compared) -> str:
    return x.verdicts[0] if x.verdicts[0] == x.verdicts[1] else " and ".join(x.verdicts)


def _when(x: Compared) -> str:
    return " and ".join(began[: len("2026-11-17 22:56")] for began in x.began)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare two folders of results; returns 1 if they do not agree."""
    from benchmarks.registry import EXPERIMENTS  # imports all peers, which readers may not have

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.report.compare", description=__doc__
    )
    parser.add_argument("first", type=Path, help="a folder of raw results")
    parser.add_argument("second", type=Path, help="another one")
    parser.add_argument("--output", type=Path, help="write a table here, as markdown")
    args = parser.parse_args(arguments)
    return run(EXPERIMENTS, args.first, args.second, args.output)


def run(
    experiments: Sequence[Experiment], first: Path, second: Path, output: Path | None = None
) -> int:
    """Compare, tell and write; returns 1 if the runs do not agree."""
    one, other = load_all(first), load_all(second)
    found = compare(experiments, one, other)
    for x in found:
        print(f"{x.name}: {x.agree} of {len(x.ratios)} within 20%; worst {x.worst}; {_both(x)}")
    print(summary(found))
    if output:
        output.write_text(table(found), encoding="utf-8")
    missing = [e.name for e in experiments if (e.name in one) != (e.name in other)]
    said = problems(found, missing)
    for problem in said:
        print(f"not the same: {problem}")
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main())
