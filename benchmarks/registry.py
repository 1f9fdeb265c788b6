"""All experiments, in the order of the report."""

from __future__ import annotations

from benchmarks.experiment import Experiment
from benchmarks.papers import bulk, daba, fiba, flink, reactive, scotty
from benchmarks.peers import river, spark_batch, spark_streams, tables
from benchmarks.scaling import (
    columns,
    combines,
    cores,
    operator_aggregates,
    operator_state,
    shapes,
    sizes,
)

GROUPS = ("fiba", "bulk", "daba", "reactive", "scotty", "peers", "scaling")
_ALL = [
    experiment
    for module in (
        fiba, flink, bulk, daba, reactive, scotty,
        tables, river, spark_batch, spark_streams,
        columns, combines, sizes, cores, operator_aggregates, operator_state, shapes,
    )
    for experiment in module.EXPERIMENTS
]  # fmt: skip
EXPERIMENTS = sorted(_ALL, key=lambda experiment: GROUPS.index(experiment.group))


def choose(names: list[str]) -> list[Experiment] | str:
    """Return the experiments of these names or groups, or what is wrong with the names."""
    if not names:
        return EXPERIMENTS
    known = {e.name for e in EXPERIMENTS} | {e.group for e in EXPERIMENTS}
    unknown = [name for name in names if name not in known]
    if unknown:
        return f"no experiment or group {unknown[0]!r}; --list says what there is"
    return [e for e in EXPERIMENTS if e.name in names or e.group in names]
