"""What tests look at on the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from patience import PATIENCE
from playwright.sync_api import Page
from serving import served

from sash.live import Server


@contextmanager
def served_to(page: Page, path: Path, **more: Any) -> Iterator[Server]:
    """Serve a history; the page leaves before the server ends, which its next poll would notice."""
    with served(path, **more) as server:
        yield server
        page.goto("about:blank")


def state(page: Page) -> dict[str, str]:
    """Return what the address remembers."""
    return dict(parse_qsl(page.url.partition("#")[2]))


def until(page: Page, check: str, argument: Any = None) -> None:
    page.wait_for_function(check, arg=argument, timeout=1000 * PATIENCE)


def cells(page: Page, row: int) -> list[str]:
    return page.locator(f"#table tbody tr:nth-child({row}) td").all_inner_texts()
