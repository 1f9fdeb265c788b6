"""Run experiments, keep their raw results, and make the report of them."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path

from benchmarks import registry
from benchmarks.experiment import Experiment, Plan
from benchmarks.measure import pin_one_core, unpin
from benchmarks.results import Result, machine, now


def main() -> None:
    """Run what was asked for; each experiment is saved as soon as it is done."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="experiments or groups; all by default")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, ten minutes")
    parser.add_argument("--passes", type=int, default=1, help="how often over all of them; 1")
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="real events")
    parser.add_argument("--output", type=Path, default=Path("build/benchmarks"))
    args = parser.parse_args()
    if args.list:
        for e in registry.EXPERIMENTS:
            print(f"{e.group:10} {e.name:28} {e.title}")
        return
    chosen = registry.choose(args.names)
    if isinstance(chosen, str):
        parser.error(chosen)
    plan = Plan(args.quick, args.data)
    failed: list[str] = []
    steps = [(number, e) for number in range(1, args.passes + 1) for e in chosen]
    for i, (number, experiment) in enumerate(steps, 1):
        print(f"[{i}/{len(steps)}] {experiment.name}: {experiment.title}", flush=True)
        try:
            result = run_one(experiment, replace(plan, number=number))
            if number > 1:  # minutes later: what disturbed the first pass is over
                result.joined(Result.load(args.output / f"{experiment.name}.json"))
        except Exception:  # the others are worth having all the same
            traceback.print_exc()
            failed.append(experiment.name)
            continue
        result.save(args.output)
        verdict = experiment.judge(result)
        print(f"    {result.seconds:.0f} s. {verdict.holds}: {verdict.seen}", flush=True)
    print(f"raw results: {args.output}")
    if failed:
        sys.exit(f"failed: {' '.join(failed)}")


def run_one(experiment: Experiment, plan: Plan) -> Result:
    """Run one experiment on one core, unless it asks for more itself, and note what it ran on."""
    began, facts, start = now(), machine(), time.perf_counter()
    pin_one_core()
    try:
        result = experiment.run(plan)
    finally:
        unpin()
    if not result.checks:
        raise AssertionError(f"{experiment.name} has not checked its answers")
    result.machine, result.quick, result.began = facts, plan.quick, began
    result.seconds = round(time.perf_counter() - start, 1)
    return result


if __name__ == "__main__":
    main()
