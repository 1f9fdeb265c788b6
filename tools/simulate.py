"""Simulate streaming queries, with faults, without Spark.

    simulate.py --seeds A:B     run the seeds from A to B - 1
    simulate.py --minutes M     run seeds from 0 on for some minutes; with --seeds, some of those
    simulate.py --seed N [N ..] run these

Of a seed that fails, the steps until the failure are printed, of a plan made smaller. What
is simulated is described in tests/spark/simulator.py. The last line is JSON, for tools/soak.py:
``{"what": str, "amount": str, "seconds": float, "findings": int}``. One core is used.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "spark")]

WHAT = "streaming queries with simulated faults; everything emitted compared"


def run(seeds: Iterable[int], minutes: float | None) -> int:
    """Run seeds, print what fails, and return how many did."""
    from simulator import simulate

    began = time.monotonic()
    done, failed = 0, 0
    for seed in seeds:
        if minutes is not None and time.monotonic() - began > minutes * 60:
            break
        done += 1
        failure = simulate(seed)
        if failure is not None:
            failed += 1
            print(failure, flush=True)
    seconds = time.monotonic() - began
    print(f"{done} seeds, {failed} of them fail; {done / seconds * 60:.0f} seeds per minute")
    outcome = {"what": WHAT, "amount": f"{done:,} seeds", "seconds": round(seconds, 1)}
    print(json.dumps({**outcome, "findings": failed}))
    return failed


def seeds_of(text: str) -> range:
    """Read ``A:B``."""
    first, colon, end = text.partition(":")
    if not colon or not first.isdigit() or not end.isdigit() or int(first) >= int(end):
        raise argparse.ArgumentTypeError(f"give two numbers that rise, as in 0:500, not {text!r}")
    return range(int(first), int(end))


def main() -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--seed", type=int, nargs="+", help="run these seeds")
    which.add_argument("--seeds", type=seeds_of, help="run a range of seeds, as in 0:500")
    parser.add_argument("--minutes", type=float, help="stop after so long; 1 without any seeds")
    given = parser.parse_args()
    minutes = given.minutes
    if not given.seed and given.seeds is None and minutes is None:
        minutes = 1.0
    return int(run(given.seed or given.seeds or itertools.count(), minutes) > 0)


if __name__ == "__main__":
    sys.exit(main())
