"""The page in a real browser: restarts, tokens and hostile names do it no harm."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import histories as h
from looking import cells, served_to, state, until
from patience import PATIENCE
from playwright.sync_api import Browser, Page, expect
from serving import fixed_port, served

from sash.live import History

HOSTILE = [
    "<img src=x onerror=\"document.title='broken'\">",
    "\"><script>document.title='broken'</script>",
    "🛩️ emoji \u202e right-to-left אבג",
    "&lt;b&gt; &amp; \x00 \\ ' %27 #hash&key=",
]


def test_the_pipeline_starts_again(page: Page, path: Path) -> None:
    now = time.time() + PATIENCE  # so that no machine is too slow for it
    with served_to(page, path) as server:
        page.goto(server.url)
        expect(page.locator("#empty-title")).to_have_text("No pipeline has written here yet")
        expect(page.locator("#empty-text")).to_contain_text(str(path))
        expect(page.locator("#state")).to_have_text("waiting")
        with History.create_or_open(path, h.ABOUT) as history:
            expect(page.locator("#nothing")).to_have_text("No window has been told yet.")
            history.record(0, h.results(h.hourly("ann", [1.0])), None)
            history.record_progress(h.progress(0, at=now, rows_total=10))
            expect(page.locator("#state")).to_have_text("running")
            expect(page.locator("#tile-rows")).to_have_text("10")
            expect(page.locator("#caption")).to_contain_text("last 1")
            history.record_progress(h.progress(0, at=now, rows_total=10, running=False))
        expect(page.locator("#state")).to_have_text("stopped")
        with History.create_or_open(path, h.ABOUT) as history:
            history.record(0, h.results(h.hourly("ann", [1.0])), None)  # the same one again
            history.record(1, h.results(h.hourly("ann", [2.5], first=1)), None)
            history.record_progress(h.progress(1, at=now, rows_total=25))
        expect(page.locator("#state")).to_have_text("running")
        expect(page.locator("#tile-rows")).to_have_text("25")
        expect(page.locator("#caption")).to_contain_text("2 windows")
        assert cells(page, 1)[2] == "2.5"
        with History.create_or_open(path, h.ABOUT) as history:
            history.record_progress(h.progress(2, at=time.time() - 90))
        expect(page.locator("#state")).to_have_text(re.compile(r"^no news for \d+ min \d+ s$"))


def test_the_server_starts_again(
    page: Page, path: Path, errors: list[str], allowed: list[str]
) -> None:
    h.written(path, h.hourly("ann", [1.0]))
    port = fixed_port()
    with served(path, port=port) as server:
        page.goto(server.url)
        expect(page.locator("#caption")).to_contain_text("last 1")
        assert errors == []
        allowed.append("ERR_")
    expect(page.locator("#state")).to_have_text("connection lost, trying again")
    expect(page.locator("#caption")).to_contain_text("last 1")
    with History.create_or_open(path, h.ABOUT) as history:
        history.record(1, h.results(h.hourly("ann", [5.0], first=1)), None)
    with served_to(page, path, port=port):
        expect(page.locator("#caption")).to_contain_text("last 5")
        expect(page.locator("#state")).to_have_text("starting")


def test_a_server_with_another_token(page: Page, path: Path, allowed: list[str]) -> None:
    h.written(path, h.hourly("ann", [1.0]))
    port = fixed_port()
    with served(path, port=port, token="first-token") as server:
        page.goto(server.url)
        expect(page.locator("#caption")).to_contain_text("last 1")
        allowed.extend(["ERR_", "401"])
    with served_to(page, path, port=port, token="second-token"):
        expect(page.locator("#state")).to_contain_text("needs its token")


def test_the_token(page: Page, browser: Browser, path: Path) -> None:
    h.written(path, h.hourly("ann", [1.0]))
    with served_to(page, path, host="0.0.0.0") as server:
        stranger = browser.new_page()  # its browser tells of every 401, the icon's too
        refused = stranger.goto(f"http://127.0.0.1:{server.port}/")
        assert refused is not None
        assert refused.status == 401
        assert "ann" not in stranger.content()
        stranger.close()
        page.goto(server.url)
        assert server.token is not None
        assert server.token not in page.url
        expect(page.locator("#caption")).to_contain_text("last 1")
        assert "sash_live" not in page.evaluate("document.cookie")
        page.reload()
        expect(page.locator("#caption")).to_contain_text("last 1")


def test_hostile_names(page: Page, path: Path) -> None:
    about = {**h.ABOUT, "name": HOSTILE[0], "lateness": HOSTILE[1]}
    rows = [row for key in HOSTILE for row in h.hourly(key, [1.0], label=key)]
    with History.create_or_open(path, about) as history:
        history.record(0, h.results(rows), None)
    with served_to(page, path) as server:
        page.goto(server.url)
        expect(page.locator("#name")).to_have_text(HOSTILE[0])
        for key in HOSTILE:
            page.goto("about:blank")
            page.goto(server.url)
            page.locator("#key").click()
            option = page.locator("#key-list li", has_text=key.split(" ")[0])
            expect(option).to_have_count(1)
            assert option.evaluate("item => item.textContent") == key
            option.click()
            until(page, "key => document.querySelector('td.text')?.textContent === key", key)
            assert json.loads(state(page)["key"]) == [key]
            page.reload()
            until(page, "key => document.querySelector('td.text')?.textContent === key", key)
            assert page.evaluate("document.title") == f"{HOSTILE[0]} · Sash live"
            assert page.locator("img, body script, iframe").count() == 0
