"""What a cluster of 1,000 cores and a window of a billion entries would need.

Constants come from the raw results (`model_fit`), the cluster is a small simulation
(`model_cluster`), the page is a template with the figures filled in (`model.md.in`).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template

import numpy as np

from benchmarks.results import Result
from benchmarks.scaling.model_cluster import (
    KEYS,
    PARTITIONS,
    RANGES,
    SPREAD,
    TASK,
    Job,
    batch_rate,
    stream_rate,
    weights,
)
from benchmarks.scaling.model_fit import Foretold, Model, Results, fit
from benchmarks.scaling.sizes_memory import TREE

BILLION = 10**9
CORES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
MANY = 1024
SKEWS = {"even keys": 0.0, "skew 0.8": 0.8, "skew 1.2": 1.2}
SPLIT = "skew 1.2, split"
INTERVALS = (1.0, 10.0, 60.0)
STREAM = 10.0
"""Seconds between the micro-batches of the stream that is drawn."""
PARTS = {
    "memory, GB": ("bytes of a tree of sums", "scaling_memory", TREE),
    "fill, s": ("fill of a tree", "scaling_recovery", "fill"),
    "snapshot, s": ("snapshot of a tree", "scaling_recovery", "snapshot"),
    "restore, s": ("restore of a tree", "scaling_recovery", "restore"),
}
"""Panel of the plot -> fit, result and line; GB are 10^9 bytes, seconds 10^9 ns."""


def write(results: Results, folder: Path) -> str:
    """Write the page `model.md` to a folder, and return it."""
    model = fit(results)
    template = Template(Path(__file__).with_name("model.md.in").read_text(encoding="utf-8"))
    text = template.substitute(_figures(model))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.md").write_text(text, encoding="utf-8")
    return text


def predictions(results: Results) -> list[Result]:
    """Return what the plots show: a window of growing size, and clusters of growing size."""
    model = fit(results)
    return [_window_plot(model, results), _cluster_plot(model)]


# ---- plots -------------------------------------------------------------------------------------


def _window_plot(model: Model, results: Results) -> Result:
    found = Result("model_window", "entries", "GB, or seconds", told="median")
    for panel, (name, source, line) in PARTS.items():
        for point in results[source].line(line).points:
            total = [r * float(point.x) / BILLION for r in point.runs]
            found.add("measured", point.x, total, panel)
        for power in range(4, 10):
            found.add("predicted", 10**power, [model.straights[name].at(10**power) / 1e9], panel)
    found.notes = ["lines are fitted on all that was measured, and go on to a billion entries"]
    found.checks = [_held(model.foretold)]
    found.parameters["usual error"] = _usual_error(model.foretold)
    return found


def _cluster_plot(model: Model) -> Result:
    found = Result(
        "model_cluster", "cores", "million rows per second", lower_is_better=False, told="median",
        parameters={"rows": BILLION, "keys": KEYS, "partitions of a core": PARTITIONS},
    )  # fmt: skip
    for name, job in _jobs(model).items():
        for cores in CORES:
            found.add(name, cores, [batch_rate(job, cores) / 1e6], "batch")
    for name, skew in SKEWS.items():
        for cores in CORES:
            rate = _stream(model, skew, cores, STREAM)
            found.add(name, cores, [rate / 1e6], f"stream, every {STREAM:.0f} s")
    found.notes = ["nothing here is measured: a simulation with constants that are"]
    found.checks = [_held(model.foretold)]
    found.parameters["usual error"] = _usual_error(model.foretold)
    return found


# ---- figures -----------------------------------------------------------------------------------


def _row(model: Model) -> float:
    """Microseconds of CPU of a row in a batch query."""
    way = model.value("shuffle and sort") + model.value("to Python and back")
    return way + model.value("kernel, max") / 1000


def _jobs(model: Model) -> dict[str, Job]:
    cost = _row(model) / 1e6
    jobs = {name: Job(BILLION, cost, skew) for name, skew in SKEWS.items()}
    more = model.value("a row of a split query costs")
    return {**jobs, SPLIT: Job(BILLION, cost * more, 1.2, RANGES)}


def _stream(model: Model, skew: float, cores: int, interval: float) -> float:
    job = Job(BILLION, model.value("a row of a stream") / 1e6, skew)
    return stream_rate(job, cores, model.value("a micro-batch, without its rows"), interval)


def _round(model: Model, distance: float) -> float:
    """Nanoseconds of a round in a window of a billion entries."""
    cost = model.value("round, in order")
    cost += model.value("round, for each doubling of d") * np.log2(1 + distance)
    slower = model.value("slower for each doubling of n") * np.log2(BILLION / 2**20)
    return float(cost * (1 + slower))


def _figures(model: Model) -> dict[str, str]:
    totals = {panel: model.straights[name].at(BILLION) / 1e9 for panel, (name, *_) in PARTS.items()}
    saved = model.value("an entry in a snapshot")
    parts = [(name, model.value(name)) for name in ("shuffle and sort", "to Python and back")]
    parts.append(("the kernel", model.value("kernel, max") / 1000))
    return {
        "task": f"{TASK}",
        "spread": f"{SPREAD}",
        "keys": f"{KEYS:,}",
        "many": f"{MANY:,}",
        "ranges": f"{RANGES:,}",
        "constants": _constants(model),
        "window": _window(model, totals, saved),
        "restart": f"{saved:.0f} GB in {totals['restore, s']:.0f} s on one core",
        "row": f"{_row(model):.1f}",
        "parts": ", ".join(f"{name} {value:.2g}" for name, value in parts),
        "batch": _batch(model),
        "hot": _hot(model),
        "fixed": f"{model.value('a micro-batch, without its rows'):.2g}",
        "stream_row": f"{model.value('a row of a stream'):.2g}",
        "streams": _streams(model),
        "foretold": _foretold(model.foretold),
        "verdict": _held(model.foretold) + ".",
    }


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = ["---", *["--:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def _constants(model: Model) -> str:
    rows = [(c.name, f"{c.value:.3g}", c.unit, c.source) for c in model.constants]
    return _table(("what", "", "unit", "from"), rows)


def _window(model: Model, totals: dict[str, float], saved: float) -> str:
    rows = [
        ("memory", f"{totals['memory, GB']:.1f} GB"),
        ("filled in order, 100,000 at a time", f"{totals['fill, s']:.0f} s"),
        ("a snapshot", f"{saved:.0f} GB, {totals['snapshot, s']:.0f} s"),
        ("loading it", f"{totals['restore, s']:.0f} s"),
        *((f"a round, {name}", f"{_round(model, d):.0f} ns") for name, d in (
            ("in order", 0), ("late by 1,000 entries", 10**3), ("late by a million", 10**6),
            ("in the middle", BILLION / 2),
        )),
    ]  # fmt: skip
    return _table(("a FingerTree of sums", "one core"), rows)


def _batch(model: Model) -> str:
    jobs = _jobs(model)
    rows = []
    for cores in (2, 16, 128, MANY):
        ideal = cores / _row(model) * 1e6
        rates = [batch_rate(job, cores) for job in jobs.values()]
        rows.append([f"{cores:,}", *(f"{r / 1e6:.3g} ({r / ideal:.0%})" for r in rates)])
    table = _table(("cores", *jobs), rows)
    return f"{table}\n\nMillion rows a second, and the part of what so many cores have."


def _hot(model: Model) -> str:
    jobs = _jobs(model)
    whole, split = (batch_rate(jobs[name], MANY) for name in ("skew 1.2", SPLIT))
    largest = weights(1.2)[0]
    return (
        f"With a skew of 1.2 the largest key has {largest:.0%} of the rows, and one core works on "
        f"it while {MANY - 1:,} wait. `split=True` cuts keys into ranges of time: a row costs "
        f"{model.value('a row of a split query costs'):.2f} times as much, and the query is "
        f"{split / whole:.0f} times as fast."
    )


def _streams(model: Model) -> str:
    rows = []
    for interval in INTERVALS:
        rates = [_stream(model, skew, MANY, interval) for skew in SKEWS.values()]
        rows.append([f"{interval:.0f} s", *(f"{rate / 1e6:.3g}" for rate in rates)])
    return _table(("interval", *SKEWS), rows)


def _foretold(several: list[Foretold]) -> str:
    rows = [
        (f.what, f.fitted, f"{f.predicted:.3g}", f"{f.measured:.3g}", f.unit, f"{f.error:+.0%}")
        for f in several
    ]
    return _table(("what", "fitted on", "predicted", "measured", "unit", "error"), rows)


def _usual_error(several: list[Foretold]) -> float:
    """Return the median of how far off the model is, as a part of what was measured."""
    return round(statistics.median(abs(f.error) for f in several), 3)


def _held(several: list[Foretold]) -> str:
    """Say how far off the model is."""
    if not several:
        return "There was nothing to compare the model with"
    worst = max(several, key=lambda f: abs(f.error))
    return (
        f"Of {len(several)} places that it was not fitted on, the model is off by "
        f"{_usual_error(several):.0%} in the middle one, and by {worst.error:+.0%} in the "
        f"worst ({worst.what})"
    )
