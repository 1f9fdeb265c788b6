"""Rules that the code base itself keeps."""

from __future__ import annotations

from pathlib import Path

from tools import stubs

ROOT = Path(__file__).parent.parent
SOURCES = [
    path
    for folder, suffixes in [("src", {".py"}), ("cpp", {".hpp", ".cpp"}), ("tests", {".py"})]
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in suffixes
]
MOST_LINES = 500


def test_the_stub_is_that_of_the_core() -> None:
    """Write it anew with ``make stubs``."""
    kept, fresh = (set(stubs.declared(s)) for s in (stubs.STUB.read_text(), stubs.generated()))
    assert kept - fresh == set(), "the core no longer has these: run `make stubs`"
    assert fresh - kept == set(), "the stub does not have these: run `make stubs`"


def test_the_stub_leaves_no_type_out() -> None:
    """Else ``mypy --strict`` fails on whatever nanobind writes without a type."""
    assert stubs.annotated(stubs.STUB.read_text()) == stubs.STUB.read_text()
    written = "class Stop:\n    def __exit__(self, *args, \u03c0: int = 3, **more) -> None: ...\n"
    wanted = written.replace("args", "args: object").replace("more", "more: object")
    assert stubs.annotated(written) == wanted
    assert stubs.annotated("def f(a, /, b=1) -> int: ...\n") == (
        "def f(a: object, /, b: object=1) -> int: ...\n"
    )


def test_stubs_are_compared_by_what_they_declare() -> None:
    one = "import numpy\n\nclass A:\n    x: int\n    def f(self, a: int) -> int: ...\n"
    other = "'''Docs.'''\nclass A:\n    def f(self, a: int) -> int:\n        'More.'\n    x: int\n"
    assert stubs.declared(one) == stubs.declared(other)
    assert stubs.declared(one) != stubs.declared(other.replace("a: int", "a: str"))
    assert stubs.declared(one) != stubs.declared(other.replace("class A", "class B"))


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
