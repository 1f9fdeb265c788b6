"""Run the core's Python tests on a core built with AddressSanitizer and UBSan.

The sanitized core has an environment of its own, build/asan/venv, that finds everything else in the
one that runs this. Any report of a sanitizer ends the test run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "asan"
LEFT_OUT = {
    "test_audit.py": "reads sources",
    "test_codebase.py": "reads sources",
    "test_depth.py": "tests how tests are run",
    "test_docs.py": "runs Spark",
    "test_elf.py": "reads how the core is built",
    "test_examples.py": "runs Spark",
    "test_limits.py": "limits memory, of which sanitizers reserve terabytes",
    "test_memory.py": "measures memory, of which sanitizers take more",
    "test_mutants.py": "reads sources",
    "test_names.py": "is about names, which are Python's",
    "test_out_of_memory.py": "limits memory, of which sanitizers reserve terabytes",
    "test_steady_memory.py": "measures memory, of which sanitizers take more",
    "test_testing.py": "is about aggregates that are Python's",
    "test_tree_memory.py": "measures memory, of which sanitizers take more",
}
DESELECTED = [
    # It interrupts Python code; calls that are interrupted in the core are other tests.
    "tests/test_operator_interrupts.py::test_an_interruption_in_any_line_loses_nothing",
    # These limit a process's memory, too.
    "tests/test_damaged_snapshots.py::test_a_few_bytes_do_not_become_many",
    "tests/test_hostile_operators.py::test_any_number_or_time",
    "tests/test_hostile_snapshots.py::test_a_lie_claims_no_memory",
    "tests/test_parameters.py::test_states_that_no_memory_can_hold",
]


def interpreter(folder: Path) -> Path:
    """Return an interpreter that imports the package in folder/site, and all else from here."""
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "venv", symlinks=True)
        own = sysconfig.get_path("purelib", vars={"base": str(folder / "venv")})
        # A plain path: the editable install of this environment does not come along.
        Path(own, "sash.pth").write_text(f"{folder / 'site'}\n{sysconfig.get_path('purelib')}\n")
    return python


def sanitized_python() -> Path:
    """Return the interpreter that imports the sanitized core, which is built if need be."""
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    pip += ["--no-build-isolation", "--no-deps", "--no-compile", "--upgrade"]
    pip += ["--target", str(BUILD / "site")]
    pip += ["-C", f"build-dir={BUILD}/cmake", "-C", "cmake.define.SASH_SANITIZE=ON", str(ROOT)]
    subprocess.run(pip, check=True)
    return interpreter(BUILD)


def environment() -> dict[str, str]:
    """Return what a process with the sanitized core needs.

    Leaks are looked for in the native tests only: an interpreter gives back little when it ends.
    """
    libraries = [
        subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libstdc++.so")  # the latter for exceptions to be intercepted
    ]
    return {
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0:strict_string_checks=1:detect_stack_use_after_return=1"
        ":allocator_may_return_null=1",  # a list of 10^15 is a MemoryError, as without sanitizers
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",  # so that objects freed too early are seen
    }


def main() -> int:
    """Build, test, and say how it went."""
    python = sanitized_python()
    tests = [p for p in sorted((ROOT / "tests").glob("test_*.py")) if p.name not in LEFT_OUT]
    command = [str(python), "-m", "pytest", "-x", *map(str, tests), *sys.argv[1:]]
    command += ["--capture=sys", *(f"--deselect={name}" for name in DESELECTED)]  # reports pass
    return subprocess.run(
        command, check=False, cwd=ROOT, env={"SASH_TESTS": "all", **os.environ, **environment()}
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
