"""Local links of a markdown page, and whether they lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path


def links(page: Path) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))


def broken(page: Path) -> list[str]:
    """Return the links of a page to files, or to places in them, that are not there."""
    wrong = []
    for link in links(page):
        file, _, place = link.partition("#")
        target = page.parent / file
        if not target.exists() or (place and f'<a id="{place}"></a>' not in target.read_text()):
            wrong.append(link)
    return wrong
