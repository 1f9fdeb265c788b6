"""What is shown runs: the doctests of all modules, and the code blocks of README and docs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import sash

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```(?:python|py)\n(.*?)^```", re.MULTILINE | re.DOTALL)
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


def blocks(page: Path) -> list[tuple[int, str]]:
    text = page.read_text()
    return [(text.count("\n", 0, m.start(1)), m.group(1)) for m in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_code_blocks(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Blocks of one page run in order in one namespace; ``>>>`` blocks are doctests."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for line, code in blocks(page):
        if code.lstrip().startswith(">>>"):
            parsed = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            runner.run(parsed, clear_globs=False)
            assert runner.failures == 0
            names.update(parsed.globs)
        else:
            exec(compile("\n" * line + code, page, "exec"), names)


def test_the_readme_has_an_example_that_uses_sash() -> None:
    code = "".join(code for _, code in blocks(ROOT / "README.md"))
    assert "import sash" in code or "from sash" in code
