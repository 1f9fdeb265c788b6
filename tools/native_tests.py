"""Build and run the native tests, plainly or under sanitizers.

They are the programs of cpp/tests, and the fuzz targets of cpp/fuzz over the inputs that fuzzing
has found worth keeping (cpp/fuzz/corpus).
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
CPP = ROOT / "cpp"
TARGETS = ("structures", "operator")
"""The fuzz targets: each a file in cpp/fuzz."""
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1", "-O1"]


@dataclass(frozen=True)
class Program:
    """What is compiled and run."""

    name: str
    sources: list[Path]
    arguments: list[str] = field(default_factory=list)
    flags: tuple[str, ...] = ("-O2",)


def target_program(name: str, main: str, flags: tuple[str, ...]) -> Program:
    """Return a fuzz target with a main program of cpp/fuzz."""
    sources = [CPP / "fuzz" / f"{name}.cpp", CPP / "fuzz" / f"{main}.cpp"]
    return Program(f"{main}-{name}", sources, flags=flags)


def compiled(program: Program, folder: Path, compiler: str) -> Path:
    """Return the program's binary, made anew if anything it is made of has changed."""
    binary = folder / program.name
    parts = ("include", "tests", "fuzz")
    headers = [p.stat().st_mtime for part in parts for p in (CPP / part).rglob("*.hpp")]
    newest = max([*headers, *(source.stat().st_mtime for source in program.sources)])
    if not binary.exists() or binary.stat().st_mtime < newest:
        folder.mkdir(parents=True, exist_ok=True)
        command = [compiler, "-std=c++20", "-Wall", "-Wextra", *program.flags]
        command += ["-I", str(CPP / "include"), *map(str, program.sources), "-o", str(binary)]
        subprocess.run(command, check=True)
    return binary


def _programs() -> list[Program]:
    tests = [Program(s.stem, [s]) for s in sorted((CPP / "tests").glob("*.cpp"))]
    replays = []
    for name in TARGETS:
        inputs = [str(p) for p in sorted((CPP / "fuzz" / "corpus" / name).iterdir())]
        program = target_program(name, "replay", ("-O0",))  # compiling is most of the time
        replays.append(Program(program.name, program.sources, inputs, program.flags))
    return tests + replays


def main() -> int:
    """Compile what changed, run all of it, and say how it went."""
    sanitize = "--sanitize" in sys.argv[1:]
    folder = ROOT / "build" / ("native-sanitized" if sanitize else "native")
    failed = 0
    programs = _programs()
    for program in programs:
        flags = tuple(SANITIZE) if sanitize else program.flags
        made = Program(program.name, program.sources, program.arguments, flags)
        binary = compiled(made, folder, os.environ.get("CXX", "g++"))
        result = subprocess.run([binary, *program.arguments], check=False)
        failed += result.returncode != 0
    print(f"native tests: {len(programs) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
