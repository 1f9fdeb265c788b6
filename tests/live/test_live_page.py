"""The page in a real browser: what it shows is what the pipeline told."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import histories as h
import pytest
from looking import cells, served_to, state, until
from patience import PATIENCE
from playwright.sync_api import Page, expect

from sash.live import History

DASH = "\u2013"


def test_the_right_numbers(page: Page, path: Path) -> None:
    about = {**h.ABOUT, "name": "orders <b>live</b>", "lateness": "1 day"}
    with History.create_or_open(path, about) as history:
        values: list[float | None] = [10.0, 20.5, None, float("nan"), 5.25]
        history.record(0, h.results(h.hourly("ann", values, label="fine")), None)
        corrected = h.hourly("ann", [11.0], revision=1, change="correction")
        opened = h.hourly("ann", [7.0], first=5, change="update")
        history.record(1, h.results(corrected + opened), h.late(("ann", 3 * h.HOUR), ("bob", 1)))
        told = {"rows_per_second": 1234.4, "rows_total": 98765, "rows": 42}
        history.record_progress(h.progress(1, at=time.time() + PATIENCE, **told))
    with served_to(page, path) as server:
        page.goto(server.url)
        expect(page.locator("#name")).to_have_text("orders <b>live</b>")
        expect(page.locator("#state")).to_have_text("running")
        for tile, text in {
            "rate": "1,234",
            "rows": "98,765",
            "rows-more": "+42",
            "watermark": "1970-01-01 09:00",
            "lag": "1 h behind the rows",
            "open": "1",
            "open-more": "of 6",
            "corrections": "1",
            "late": "2",
            "bytes": "2.5 MB",
        }.items():
            expect(page.locator(f"#tile-{tile}")).to_have_text(text)
        expect(page.locator("#facts")).to_have_text(
            "emits updates · watermark 1 hour · lateness 1 day"
        )
        expect(page.locator("#caption")).to_have_text(
            "4 windows, 1970-01-01 01:00 to 1970-01-01 06:00 UTC · least 5.25, greatest 20.5, "
            "last 7 · 1 not a number · 1 correction · 1 row too late"
        )
        expect(page.locator("#spoken")).to_have_text(re.compile("^ann hour total: 4 windows"))
        heads = page.locator("#table th").all_inner_texts()
        assert heads == ["from (UTC)", "to (UTC)", "total", "label", "revision", "state"]
        assert cells(page, 1)[1:] == ["1970-01-01 06:00", "7.0", DASH, "0", "open"]
        assert cells(page, 3)[2] == "nan"
        assert cells(page, 4)[2] == DASH
        assert cells(page, 6) == [
            *("1970-01-01 00:00", "1970-01-01 01:00", "11.0", DASH, "1"),
            "complete corrected once",
        ]
        options = page.locator("#aggregate option")
        assert options.all_inner_texts() == ["total", "label (text)"]
        box = page.locator("#chart").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 60, box["y"] + 100)  # the first point
        expect(page.locator("#tip b")).to_have_text("11.0")
        expect(page.locator("#tip")).to_contain_text("1970-01-01 00:00 to 1970-01-01 01:00 UTC")
        expect(page.locator("#tip")).to_contain_text("complete, revision 1, corrected once")
        page.mouse.move(5, 5)
        expect(page.locator("#tip")).to_be_hidden()


def test_pickers(page: Page, path: Path) -> None:
    session = h.Row("bob", "session", 0, 90_000_000, 3.5)
    h.written(path, [*h.hourly("ann", [1.0]), *h.hourly("bob", [2.0]), session])
    with served_to(page, path) as server:
        page.goto(server.url)
        expect(page.locator("#key")).to_have_value("ann")
        page.locator("#key").click()
        expect(page.locator("#key-list li")).to_have_text(["ann", "bob"])
        page.keyboard.type("BO")
        expect(page.locator("#key-list li")).to_have_text(["bob"])
        page.keyboard.press("Enter")
        expect(page.locator("#caption")).to_contain_text("last 2")
        page.locator("#window").select_option("session")
        expect(page.locator("#caption")).to_contain_text("1970-01-01 00:01:30 UTC")
        assert cells(page, 1)[2] == "3.5"
        assert state(page) == {"key": '["bob"]', "window": "session", "aggregate": "total"}
        page.locator("#key").click()
        page.keyboard.type("zz")
        expect(page.locator("#key-list li")).to_have_text(["nothing found"])
        page.keyboard.press("Escape")
        expect(page.locator("#key")).to_have_value("bob")


SPIKE = """() => {
    const chart = document.getElementById("chart");
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [chart.width, Math.round(chart.height / 4)];
    const pen = copy.getContext("2d", { willReadFrequently: true });
    pen.drawImage(chart, 0, 0);
    const { data, width } = pen.getImageData(0, 0, copy.width, copy.height);
    const places = [];
    for (let i = 0; i < data.length; i += 4) {
        const [red, green, blue, there] = data.slice(i, i + 4);
        if (there > 100 && blue > red + 60 && blue > green + 30) places.push((i / 4) % width);
    }
    return places.length ? [Math.min(...places), Math.max(...places)] : null;
}"""


def spike(page: Page) -> tuple[float, float]:
    """Return where the line is in the upper fourth of the chart: from where to where."""
    until(page, SPIKE)
    first, last = page.evaluate(SPIKE)
    return first, last


def zoomed_in(page: Page) -> None:
    """Turn the wheel, and wait for the chart of what is in view then."""
    caption = page.locator("#caption")
    before = caption.inner_text()
    page.mouse.wheel(0, -300)
    expect(caption).not_to_have_text(before)


def test_a_spike_is_seen_at_any_zoom(page: Page, path: Path) -> None:
    values: list[float | None] = [float(i % 7) for i in range(30_000)]
    values[15_000] = 999.0
    values[9_000] = -55.0
    h.written(path, h.hourly("ann", values))
    with served_to(page, path) as server:
        page.goto(server.url)
        expect(page.locator("#caption")).to_contain_text("30,000 windows")
        expect(page.locator("#caption")).to_contain_text("least -55, greatest 999")
        box = page.locator("#chart").bounding_box()
        assert box is not None
        wide = page.evaluate("document.getElementById('chart').width / window.devicePixelRatio")
        for _ in range(5):
            first, last = spike(page)
            assert abs((first + last) / 2 - wide / 2) < 40  # in the middle, and nowhere else
            page.mouse.move(box["x"] + (first + last) / 2, box["y"] + 150)
            zoomed_in(page)
        expect(page.locator("#caption")).to_contain_text("least 0, greatest 999")
        zoomed = state(page)
        assert int(zoomed["from"]) < 15_001 * h.HOUR < int(zoomed["to"])
        assert int(zoomed["to"]) - int(zoomed["from"]) < 2000 * h.HOUR


def test_zoom_and_move(page: Page, path: Path) -> None:
    h.written(path, h.hourly("ann", [float(i) for i in range(1000)]))
    with served_to(page, path) as server:
        page.goto(server.url)
        expect(page.locator("#caption")).to_contain_text("1,000 windows")
        follow = page.locator("#follow")
        expect(follow).to_have_attribute("aria-pressed", "true")
        page.locator("#in").click()
        expect(page.locator("#caption")).to_contain_text("greatest 999, last 999")
        expect(page.locator("#caption")).to_contain_text("500 windows")
        assert set(state(page)) == {"key", "window", "aggregate", "span"}
        page.locator("#chart").focus()
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#caption")).to_contain_text("last 899")
        expect(follow).to_have_attribute("aria-pressed", "false")
        page.keyboard.press("+")
        expect(page.locator("#caption")).to_contain_text(re.compile("^2[45]. windows"))
        page.keyboard.press("-")
        expect(page.locator("#caption")).to_contain_text(re.compile("^(499|500) windows"))
        follow.click()
        expect(page.locator("#caption")).to_contain_text("last 999")
        box = page.locator("#chart").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 400, box["y"] + 100)
        page.mouse.down()
        page.mouse.move(box["x"] + 700, box["y"] + 100, steps=5)
        page.mouse.up()
        expect(page.locator("#caption")).to_contain_text(re.compile("last 8[67]."))
        kept = state(page)
        page.reload()
        expect(page.locator("#caption")).to_contain_text(re.compile("last 8[67]."))
        assert state(page) == kept
        page.locator("#chart").dblclick(position={"x": 300, "y": 100})
        expect(page.locator("#caption")).to_contain_text("1,000 windows")


def test_the_newest_stays_in_view(page: Page, path: Path) -> None:
    h.written(path, h.hourly("ann", [float(i) for i in range(100)]))
    with served_to(page, path) as server, History.create_or_open(path, h.ABOUT) as history:
        page.goto(server.url)
        page.locator("#in").click()
        expect(page.locator("#caption")).to_contain_text("last 99")
        history.record(1, h.results(h.hourly("ann", [123.0], first=100)), None)
        expect(page.locator("#caption")).to_contain_text("last 123")
        page.locator("#follow").click()
        expect(page.locator("#follow")).to_have_attribute("aria-pressed", "false")
        history.record(2, h.results(h.hourly("ann", [456.0], first=101)), None)
        expect(page.locator("#table tbody tr").first).to_contain_text("456.0")
        expect(page.locator("#caption")).to_contain_text("last 123")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(page: Page, path: Path, scheme: Any) -> None:
    h.written(path, h.hourly("a key with a name that is rather long " * 3, [1.0, 2.0]))
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme=scheme)
    with served_to(page, path) as server:
        page.goto(server.url)
        expect(page.locator("#caption")).to_contain_text("last 2")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        dark = sum(map(int, re.findall(r"\d+", ground)[:3])) < 384
        assert dark == (scheme == "dark")


def test_only_texts_and_no_keys(page: Page, path: Path) -> None:
    table = h.results(h.hourly("", [1.0], label="words")).drop_columns(["user", "total"])
    with History.create_or_open(path, {**h.ABOUT, "keys": [], "aggregates": ["label"]}) as history:
        history.record(0, table, None)
    with served_to(page, path) as server:
        page.goto(server.url)
        expect(page.locator("#nothing")).to_contain_text("All aggregates are texts")
        expect(page.locator("#table td.text")).to_have_text("words")
        expect(page.locator("#key")).to_be_hidden()


def test_a_file_that_is_no_history(page: Page, path: Path) -> None:
    path.write_text("something else" * 100)
    with served_to(page, path) as server:
        page.goto(server.url)
        expect(page.locator("#empty-title")).to_have_text("This history cannot be shown")
        expect(page.locator("#state")).to_have_text("cannot be read")
