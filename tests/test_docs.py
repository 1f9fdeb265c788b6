"""What is shown runs: the doctests of all modules, and the code blocks of README and docs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import sys
from pathlib import Path
from typing import Any

import pages
import pytest
from patience import finished

import sash

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
MODULES = ["sash", *sorted(m.name for m in pkgutil.walk_packages(sash.__path__, "sash."))]


@pytest.mark.parametrize("name", [m for m in MODULES if not m.endswith(("._core", ".__main__"))])
def test_doctests(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_there_are_doctests() -> None:
    finder = doctest.DocTestFinder()
    for name in ("sash", "sash.agg", "sash.structures", "sash.flat_fat", "sash.testing"):
        found = finder.find(importlib.import_module(name))
        assert any(test.examples for test in found), name


def on_spark(page: Path) -> bool:
    return "local_session" in page.read_text()


def marked(page: Path) -> Any:
    """Pages that start Spark take long; the README is always run."""
    slow = on_spark(page) and page.name != "README.md"
    return pytest.param(page, marks=pytest.mark.full) if slow else page


@pytest.mark.parametrize("page", [*map(marked, PAGES)], ids=lambda p: p.name)
def test_code_blocks(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Blocks of one page run in order in one namespace; ``>>>`` blocks are doctests."""
    if on_spark(page):
        done = finished([sys.executable, pages.__file__, page], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return
    monkeypatch.chdir(tmp_path)
    pages.run(page)


def test_the_readme_has_an_example_that_uses_sash() -> None:
    code = "".join(code for _, code in pages.blocks(ROOT / "README.md"))
    assert "import sash" in code or "from sash" in code
