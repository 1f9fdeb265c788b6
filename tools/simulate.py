"""Simulate streaming queries, with faults, without Spark.

    simulate.py --seed N [N ...]   run these seeds; one that fails is made smaller and printed
    simulate.py --minutes M        run seeds from --first on for some minutes, on one core

What is simulated is said in tests/spark/simulator.py. Prints, as a line of JSON:
``{"what": str, "amount": str, "seconds": float, "findings": int}``.
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
    said = {"what": WHAT, "amount": f"{done:,} seeds", "seconds": round(seconds, 1)}
    print(json.dumps({**said, "findings": failed}))
    return failed


def main() -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, nargs="+", help="run these seeds")
    parser.add_argument("--minutes", type=float, default=1.0, help="run seeds for so long")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    given = parser.parse_args()
    if given.seed:
        return int(run(given.seed, None) > 0)
    return int(run(itertools.count(given.first), given.minutes) > 0)


if __name__ == "__main__":
    sys.exit(main())
