"""The cost model as a part of the report: its page, and its plots beside those of experiments."""

from __future__ import annotations

from pathlib import Path

from benchmarks.experiment import Experiment, Plan, Verdict
from benchmarks.report.content import Entry
from benchmarks.results import Result
from benchmarks.scaling import model

GROUP = "predictions"


def _not_run(_: Plan) -> Result:
    raise NotImplementedError("the model is computed from the results of experiments")


def _judge(result: Result) -> Verdict:
    """The model says itself how well it foretold what it was not fitted on."""
    error = result.parameters["usual error"]
    return Verdict(
        "yes" if error < 0.2 else "partly" if error < 0.5 else "no", f"{result.checks[0]}."
    )


def _experiment(name: str, title: str, claim: str) -> Experiment:
    return Experiment(name, GROUP, title, claim, _not_run, _judge)


EXPERIMENTS = {
    "model_window": _experiment(
        "model_window",
        "A window of a billion entries",
        "Memory, fill, snapshot and recovery of a big window follow from those of small ones.",
    ),
    "model_cluster": _experiment(
        "model_cluster",
        "A cluster of a thousand cores",
        "Rows per second grow with the cores until one key or the micro-batch's fixed part limits.",
    ),
}


def write(results: dict[str, Result], raw: Path, output: Path) -> list[Entry]:
    """Write the page and the raw predictions of the model; return them as parts of the report."""
    model.write(results, output)
    found = model.predictions(results)
    for result in found:
        result.machine = next(iter(results.values())).machine
        result.save(raw)
    return entries({result.name: result for result in found})


def entries(results: dict[str, Result]) -> list[Entry]:
    """Return what the model predicted, where it is among the results."""
    return [
        Entry(experiment, results[name], experiment.judge(results[name]))
        for name, experiment in EXPERIMENTS.items()
        if name in results
    ]
