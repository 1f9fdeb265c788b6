"""One build of the native tests, and one of the Python package, with all chosen mutants in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from .places import Mutant
from .rewrite import rewrite
from .sample import HEADERS, ROOT

_FLAGS = ["-w", "-DNDEBUG"]
NATIVE = ["-O1", *_FLAGS]
PACKAGE = ["-O0", *_FLAGS]  # the tests spend their time in Python, the build its time optimising
SWITCH = Path(__file__).parent / "switch.hpp"


def write_sources(out: Path, mutants: list[Mutant]) -> bool:
    """The sources with mutants 1, 2, ... in them; a file that stays as it was is not touched.

    True when one has changed.
    """
    by_file: dict[str, list[tuple[int, Mutant]]] = defaultdict(list)
    for number, mutant in enumerate(mutants, 1):
        by_file[mutant.file].append((number, mutant))
    changed = False
    for path in sorted((ROOT / "cpp").rglob("*.?pp")):
        text = path.read_text()
        if path.is_relative_to(HEADERS):
            text = rewrite(text, by_file[path.relative_to(HEADERS).as_posix()])
        changed |= _write(out / path.relative_to(ROOT), text)
    count = f"#define SASH_MUTANTS {len(mutants)}\n"
    _write(out / "cpp/include/sash/mutants/switch.hpp", count + SWITCH.read_text())
    _write(out / "CMakeLists.txt", (ROOT / "CMakeLists.txt").read_text())
    (out / "count.json").write_text(str(len(mutants)))
    return changed


def native_tests(out: Path, pattern: str = "*.cpp") -> list[Path]:
    """The native tests as programs; those whose files match a pattern."""
    programs = []
    headers = [path.stat().st_mtime for path in (out / "cpp/include").rglob("*.hpp")]
    for source in sorted((out / "cpp/tests").glob(pattern)):
        program = out / source.stem
        newest = max([source.stat().st_mtime, *headers])
        if not program.exists() or program.stat().st_mtime < newest:
            compiler = os.environ.get("CXX", "g++")
            command = [compiler, "-std=c++20", *NATIVE, "-I", str(out / "cpp/include")]
            subprocess.run([*command, str(source), "-o", str(program)], check=True)
        programs.append(program)
    return programs


def package(out: Path) -> Path:
    """A folder with the package sash in it, whose core has the mutants."""
    import nanobind

    folder = out / "extension"
    configure = ["cmake", "-S", str(out), "-B", str(folder), "-G", "Ninja"]
    configure += ["-DCMAKE_BUILD_TYPE=Mutants", f"-DCMAKE_CXX_FLAGS_MUTANTS={' '.join(PACKAGE)}"]
    configure += [f"-Dnanobind_DIR={nanobind.cmake_dir()}", f"-DPython_EXECUTABLE={sys.executable}"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path}
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", "1")
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL, env=environment)
    build = ["cmake", "--build", str(folder), "-j", jobs, "--", "-k", "0"]
    subprocess.run(build, check=True, env=environment)
    target = out / "package"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(
        ROOT / "src/sash", target / "sash", ignore=shutil.ignore_patterns("__pycache__")
    )
    for library in folder.glob("_core*.so"):
        shutil.copy(library, target / "sash")
    return target


def _write(path: Path, text: str) -> bool:
    if path.exists() and path.read_text() == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return True
