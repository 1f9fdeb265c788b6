"""Whether the figures with Flink hold here; without Flink nothing can be said of it."""

from __future__ import annotations

from benchmarks.experiment import Verdict
from benchmarks.papers.flink_cases import FINGER, OPERATOR, SMALL
from benchmarks.papers.judging import costs, places, time, times, verdict
from benchmarks.results import Result

WINDOWS, ROWS = "Flink, sliding windows", "Flink, OVER ROWS"
RANGE, HOP = "Flink, OVER RANGE", "Flink, HOP"
FLOOR = "Flink, floor"


def _has_flink(result: Result) -> bool:
    return any(line.name == FLOOR for line in result.lines)


def _alone(result: Result, name: str) -> Verdict:
    line = result.line(name)
    low, high = min(costs(line)), max(costs(line))
    return Verdict("partly", f"Flink was not measured; {name} takes {time(low)} to {time(high)}.")


def distance(result: Result) -> Verdict:
    """Flink does not depend on the distance, and is orders of magnitude behind."""
    if not _has_flink(result):
        return _alone(result, FINGER)
    tree, over, copied = (result.line(name) for name in (FINGER, ROWS, WINDOWS))
    near, far = places(tree)[0], places(tree)[-1]
    ours = result.line(OPERATOR)
    parts = [
        max(costs(over)) < 2 * min(costs(over)),
        min(costs(over)) > 50 * max(costs(tree)),
        min(costs(over)) > 3 * max(costs(ours)),
        copied.at(near) > 10 * over.at(near),
    ]
    return verdict(
        parts,
        f"From d = {near:g} to {far:g} Flink's OVER takes {time(min(costs(over)))} to "
        f"{time(max(costs(over)))} a row, its sliding windows {time(copied.at(near))}; FingerTree "
        f"{time(tree.at(near))} to {time(tree.at(far))}, WindowOperator, which waits for the "
        f"watermark as Flink does, {time(ours.at(far))}, in batches of 200 rows "
        f"{time(result.line(SMALL).at(far))}.",
    )


def fifo(result: Result) -> Verdict:
    """Flink grows with the window, linearly, and the tree does not."""
    if not _has_flink(result):
        return _alone(result, FINGER)
    tree, over, copied = (result.line(name) for name in (FINGER, ROWS, WINDOWS))
    (first, *_, last), wide = places(copied), places(over)[-1]
    growth = copied.at(last) / copied.at(first)
    parts = [
        growth > 0.3 * last / first,
        max(costs(tree)) < 3 * min(costs(tree)),
        over.at(wide) > 50 * tree.at(wide),
        over.at(wide) > 2 * over.at(places(over)[0]),
    ]
    return verdict(
        parts,
        f"Flink's sliding windows take {time(copied.at(first))} a row at n = {first:g} and "
        f"{time(copied.at(last))} at {last:g}, {times(growth)}; its OVER {time(costs(over)[0])} to "
        f"{time(over.at(wide))}. FingerTree takes {time(min(costs(tree)))} to "
        f"{time(max(costs(tree)))} at any, WindowOperator {time(result.line(OPERATOR).at(wide))}, "
        f"in batches of 200 rows {time(result.line(SMALL).at(wide))}.",
    )


def windows(result: Result) -> Verdict:
    """Sash is ahead of Flink's windows at any overlap."""
    if not _has_flink(result):
        return _alone(result, OPERATOR)
    ours, hop, copied = (result.line(name) for name in (OPERATOR, HOP, WINDOWS))
    wide, most = places(hop)[-1], places(copied)[-1]
    parts = [all(hop.at(x) > ours.at(x) for x in places(hop)), copied.at(most) > 10 * ours.at(wide)]
    return verdict(
        parts,
        f"WindowOperator takes {time(min(costs(ours)))} to {time(max(costs(ours)))} a row; Flink's "
        f"HOP {time(costs(hop)[0])} at size / slide {places(hop)[0]:g} and {time(hop.at(wide))} at "
        f"{wide:g}, its DataStream windows {time(copied.at(most))} at {most:g}.",
    )
