"""The code blocks of a page of documentation, and running them in order in one namespace.

As a script, ``python pages.py page.md``: a page that starts a Spark session runs by itself.
"""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(?:python|py)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[int, str]]:
    text = page.read_text()
    return [(text.count("\n", 0, m.start(1)), m.group(1)) for m in BLOCK.finditer(text)]


def run(page: Path) -> None:
    """Run the blocks; those of ``>>>`` are doctests."""
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


if __name__ == "__main__":
    run(Path(sys.argv[1]))
