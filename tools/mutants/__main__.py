"""The mutation test: ``python -m tools.mutants``.

Builds the native tests and the package with all chosen mutants in them, runs the tests for one
mutant after the other, and writes docs/mutants.md. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from . import build, report
from .native import Program
from .places import Mutant
from .results import Results
from .sample import ROOT, choose, every

OUT = ROOT / "build" / "mutants"
SAMPLE = ROOT / "build" / "mutants-sample"
ANSWERS = "[!a]*_test.cpp"  # without those of failing allocations
TESTED = ("sash/slicing/", "sash/tree/", "sash/finger_tree")
"""What these test; headers of other files are tested from Python."""


def main() -> int:
    """Runs what is asked for; 1 when a survivor has no explanation."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="how many mutants (300)")
    parser.add_argument("--all", action="store_true", help="all mutants, which takes days")
    parser.add_argument("--list", action="store_true", help="print the chosen mutants only")
    parser.add_argument("--again", action="store_true", help="survivors meet all tests again")
    parser.add_argument("--examples", type=int, default=100, help="of a Hypothesis test (100)")
    parser.add_argument("--longest", type=float, help="leave out Python tests of more seconds")
    parser.add_argument("--report", action="store_true", help="write the page only")
    parser.add_argument("--sample", action="store_true", help="swapped sides, native tests only")
    given = parser.parse_args()
    possible = every()
    if given.sample:
        return run_sample([m for m in possible if m.kind == "sides" and m.file.startswith(TESTED)])
    mutants = possible if given.all else choose(possible, given.count)
    if given.list:
        print("\n".join(f"{n} {m.kind}, line {m.line}: {m.key}" for n, m in _numbered(mutants)))
        return 0
    results = Results(OUT / "results.json")
    if not given.report:
        if build.write_sources(OUT, mutants) or given.again:
            (OUT / "reached.jsonl").unlink(missing_ok=True)
        run_native(mutants, results)
        os.environ.update(SASH_EXAMPLES=str(given.examples), SASH_TESTS="all")
        if given.longest is not None:
            os.environ["SASH_LONGEST"] = str(given.longest)
        run_python(mutants, results, given.again)
    return report.write(mutants, results, len(possible))


def _numbered(mutants: list[Mutant]) -> list[tuple[int, Mutant]]:
    return list(enumerate(mutants, 1))


def run_native(mutants: list[Mutant], results: Results) -> None:
    """The native tests, for each mutant without a result."""
    work = [(n, m) for n, m in _numbered(mutants) if results.is_open(m, python=False)]
    if not work:
        return
    programs = [Program.measure(path) for path in build.native_tests(OUT)]
    for number, mutant in work:
        by = how = ""
        for program in programs:
            if not how and program.reaches(number):
                how = program.notices(number)
                by = program.path.name if how else ""
        results.put(mutant, by, how, python=False)
        _say(number, mutant, by, how or "not seen by the native tests")


def run_sample(mutants: list[Mutant]) -> int:
    """Minutes instead of hours: swapped sides of combine, against the native tests of answers.

    1 when one of these executes a mutant that has no explanation, and none notices it.
    """
    build.write_sources(SAMPLE, mutants)
    programs = [Program.measure(path) for path in build.native_tests(SAMPLE, ANSWERS)]
    explained = report.explanations()
    reached = survivors = 0
    for number, mutant in _numbered(mutants):
        by = [program for program in programs if program.reaches(number)]
        if not by or mutant.key in explained:
            continue
        reached += 1
        if not any(program.notices(number) for program in by):
            survivors += 1
            _say(number, mutant, "", "not noticed by the native tests")
    print(f"mutants of a sample: {reached - survivors} of {reached} noticed by the native tests")
    return int(survivors > 0 or reached == 0)


def run_python(mutants: list[Mutant], results: Results, again: bool) -> None:
    """The Python tests, for each mutant that the native ones leave."""
    open_ = [(n, m) for n, m in _numbered(mutants) if results.is_open(m, python=True)]
    if again:
        open_ = [(n, m) for n, m in _numbered(mutants) if not getattr(results.get(m), "by", "")]
    if not open_:
        return
    package = build.package(OUT)
    work, answers = OUT / "work.json", OUT / "answers.jsonl"
    work.write_text(json.dumps([(n, m.file) for n, m in open_]))
    answers.unlink(missing_ok=True)
    answers.touch()
    command = [sys.executable, "-m", "tools.mutants.python_tests"]
    command += [str(package), str(work), str(answers)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as server:
        _follow(server, answers, dict(open_), results)
    if server.returncode != 0:
        raise SystemExit("the Python tests did not run: see above")


def _follow(
    server: subprocess.Popen[bytes], answers: Path, work: dict[int, Mutant], results: Results
) -> None:
    """Keeps each answer as it comes; a survivor of some tests has still to meet all."""
    all_tests = "SASH_LONGEST" not in os.environ
    with answers.open() as lines:
        while True:
            ended = server.poll() is not None
            for line in lines:
                answer = json.loads(line)
                mutant = work[answer["mutant"]]
                results.put(mutant, answer["by"], answer["how"], python=all_tests)
                _say(answer["mutant"], mutant, answer["by"], answer["how"] or "survives")
            if ended:
                return
            try:
                server.wait(timeout=1)
            except subprocess.TimeoutExpired:
                continue


def _say(number: int, mutant: Mutant, by: str, how: str) -> None:
    print(f"{number} {mutant.key}: {how}{' in ' + by if by else ''}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
