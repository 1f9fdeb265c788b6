"""Fuzz the core and the bytes it reads; or check random operations, by the hundred million.

    fuzz.py SECONDS [fuzzer ...]   guided by coverage: structures and operator by libFuzzer, bytes
                                   (snapshots, checkpoints, job files) by atheris
    fuzz.py --random OPERATIONS    the operations of structures and operator, chosen by seed

Everything is compared with brute force on the way. Inputs that reach something new are kept in
build/fuzz/corpus, what fails in build/fuzz/findings. Each run writes build/fuzz/*.json:
``{"what": str, "amount": str, "seconds": float, "findings": int}``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from native_tests import CPP, ROOT, TARGETS, compiled, target_program

BUILD = ROOT / "build" / "fuzz"
FINDINGS = BUILD / "findings"
SITE = BUILD / "site"
"""Where atheris is installed, which nothing else needs, beside a copy of the package."""
BYTES = "bytes"
_CLANGS = [*(f"clang++-{version}" for version in range(22, 13, -1)), "clang++"]
_FUZZ_FLAGS = (
    "-O1", "-g1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all",
    "-Wno-deprecated-declarations",  # libstdc++ uses some of its own
)  # fmt: skip
_SHARE_OF_OPERATOR = 20
"""One in so many random operations is one of the window operator, whose oracle is slow."""


def _clang() -> str:
    for name in _CLANGS:
        if shutil.which(name):
            return name
    raise SystemExit("fuzzing needs clang and its compiler-rt: apt-get install clang-19")


def _record(what: str, amount: str, seconds: float, findings: int) -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    said = {"what": what, "amount": amount, "seconds": round(seconds, 1), "findings": findings}
    path = BUILD / f"{re.sub(r'[^a-z]+', '-', what.lower())}-{time.time_ns() // 10**6}.json"
    path.write_text(json.dumps(said) + "\n")


def _command(name: str) -> tuple[list[str], dict[str, str]]:
    """Return how a fuzzer is called, and with what environment."""
    if name == BYTES:
        return _bytes_command()
    binary = compiled(target_program(name, "fuzzer", _FUZZ_FLAGS), BUILD, _clang())
    return [str(binary)], {}


def _bytes_command() -> tuple[list[str], dict[str, str]]:
    """Return the same for atheris, which sees neither an editable install nor past ASan's hooks."""
    from asan import interpreter

    if not (SITE / "atheris").exists():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "--target", str(SITE), "atheris"], check=True)
    package = SITE / "sash"
    shutil.copytree(ROOT / "src" / "sash", package, dirs_exist_ok=True)
    shutil.copy(importlib.import_module("sash._core").__file__ or "", package)
    return [str(interpreter(BUILD)), str(ROOT / "tools" / "fuzz_bytes.py")], {}


def fuzz(name: str, seconds: float) -> int:
    """Run one fuzzer for a time; return how many findings there are."""
    command, environment = _command(name)
    corpus, kept = BUILD / "corpus" / name, CPP / "fuzz" / "corpus" / name
    for folder in (corpus, FINDINGS):
        folder.mkdir(parents=True, exist_ok=True)
    command += [str(corpus), *([str(kept)] if kept.exists() else [])]
    command += [f"-max_total_time={max(1, round(seconds))}", f"-artifact_prefix={FINDINGS}/{name}-"]
    command += [
        "-print_final_stats=1",
        "-max_len=2000",
        "-len_control=10",
        "-timeout=60",
        "-rss_limit_mb=3000",
    ]
    before, begun = _found(name), time.monotonic()
    log = BUILD / f"{name}.log"
    with log.open("w") as out:
        done = subprocess.run(
            command,
            check=False,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
        )
    took = time.monotonic() - begun
    said = log.read_text(errors="replace")
    found = sorted(_found(name) - before)
    findings = max(len(found), int(done.returncode != 0))
    runs = _last(r"stat::number_of_executed_units:\s*(\d+)", said)
    edges, inputs = _last(r" cov: ([0-9]+)", said), len(list(corpus.iterdir()))
    amount = f"{runs} executions, {edges} edges, {inputs:,} inputs"
    print(f"{name}: {amount}, {took:.0f} s, {findings} findings", flush=True)
    for path in found:
        print(f"  reproduce: {' '.join(command[:2] if name == BYTES else command[:1])} {path}")
    if findings:
        print(f"  log: {log}")
    _record(f"fuzzing of {name}", amount, took, findings)
    return findings


def _found(name: str) -> set[Path]:
    """Return what a fuzzer has found; what was merely slow, on a busy machine, is nothing."""
    return {p for p in FINDINGS.glob(f"{name}-*") if "slow-unit" not in p.name}


def _last(pattern: str, text: str) -> str:
    found = re.findall(pattern, text)
    return f"{int(found[-1]):,}" if found else "0"


def check_random(operations: int, seed: int) -> int:
    """Check random operations; return how many programs failed."""
    failed = 0
    few = operations // _SHARE_OF_OPERATOR
    for name, share in zip(TARGETS, (operations - few, few), strict=True):
        binary = compiled(
            target_program(name, "random", ("-O2",)), BUILD, os.environ.get("CXX", "g++")
        )
        begun = time.monotonic()
        done = subprocess.run(
            [binary, str(share), str(seed)], check=False, stdout=subprocess.PIPE, text=True
        )
        took = time.monotonic() - begun
        findings = int(done.returncode != 0)
        failed += findings
        total = _tell(done.stdout)
        print(f"{name}: {total:,} random operations in {took:.0f} s, {findings} findings")
        _record(f"random operations of {name}", f"{total:,} operations", took, findings)
    return failed


def _tell(lines: str) -> int:
    """Print what was done with each structure; return how much that is in all."""
    total = 0
    for line in lines.splitlines():
        what, *numbers = line.split("\t")
        made, compared, undone = map(int, numbers)
        total += made
        print(f"{what:24} {made:>12,} operations {compared:>12,} comparisons {undone:>11,} undone")
    return total


def main() -> int:
    """Do what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("seconds", type=float, nargs="?", default=600, help="in all")
    parser.add_argument("fuzzers", nargs="*", help="which; all by default")
    parser.add_argument("--random", type=int, metavar="OPERATIONS", help="without coverage")
    parser.add_argument("--seed", type=int, default=1, help="of the random operations")
    given = parser.parse_args()
    if given.random is not None:
        return 1 if check_random(given.random, given.seed) else 0
    names = given.fuzzers or [*TARGETS, BYTES]
    return 1 if sum([fuzz(name, given.seconds / len(names)) for name in names]) else 0


if __name__ == "__main__":
    sys.exit(main())
