"""Rules that the code base itself keeps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = [
    path
    for folder, suffixes in [("src", {".py"}), ("cpp", {".hpp", ".cpp"}), ("tests", {".py"})]
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in suffixes
]
MOST_LINES = 500


def test_the_stub_is_that_of_the_core(tmp_path: Path) -> None:
    """Write it anew with ``make stubs``."""
    fresh = tmp_path / "_core.pyi"
    command = [
        sys.executable,
        "-m",
        "nanobind.stubgen",
        "-q",
        "-P",
        "-p",
        str(ROOT / "cpp/bindings/stubs.txt"),
        "-m",
        "sash._core",
        "-o",
        str(fresh),
    ]
    subprocess.run(command, check=True, capture_output=True)
    assert (ROOT / "src/sash/_core.pyi").read_text() == fresh.read_text()


def test_no_file_is_too_long() -> None:
    assert len(SOURCES) > 50
    lines = {path: len(path.read_text().splitlines()) for path in SOURCES}
    assert {p.name: n for p, n in lines.items() if n > MOST_LINES} == {}


def test_headers_know_nothing_of_python() -> None:
    for path in (ROOT / "cpp/include").rglob("*.hpp"):
        text = path.read_text()
        assert "Python.h" not in text, path
        assert "nanobind" not in text, path


def test_the_package_is_typed() -> None:
    assert (ROOT / "src/sash/py.typed").exists()
