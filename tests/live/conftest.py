"""For all tests of the page: a browser, a history and its server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import histories as h
import pytest
from browsers import ARGUMENTS, chromium
from patience import PATIENCE
from playwright.sync_api import Browser, Page, expect, sync_playwright
from serving import served

from sash.live import History, Server

expect.set_options(timeout=1000 * PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def errors() -> list[str]:
    return []


@pytest.fixture
def allowed() -> list[str]:
    """Words of what may go wrong in a test: a browser may tell of it at any time until its end."""
    return []


@pytest.fixture
def page(browser: Browser, errors: list[str], allowed: list[str]) -> Iterator[Page]:
    """A page of its own for each test, on which nothing may go wrong but what is allowed."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.on("console", lambda m: errors.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_default_timeout(1000 * PATIENCE)
    yield page
    context.close()
    assert [error for error in errors if not any(words in error for words in allowed)] == []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "live.sqlite"


@pytest.fixture
def told(path: Path) -> Path:
    """A history with a bit of everything."""
    values: list[float | None] = [1.0, None, float("nan"), float("inf"), -2.5]
    rows = [*h.hourly("a", values), *h.hourly("b", [3.0])]
    again = h.hourly("a", [4.0], revision=1, change="correction")
    opened = h.hourly("a", [9.0], first=5, change="update")
    with History.create_or_open(path, h.ABOUT) as history:
        history.record(0, h.results(rows), None)
        history.record(1, h.results(again + opened), h.late(("a", 7), ("a", 7), ("a", None)))
        history.record_progress(h.progress(1, at=time.time() + PATIENCE))
    return path


@pytest.fixture
def server(told: Path) -> Iterator[Server]:
    with served(told) as server:
        yield server
