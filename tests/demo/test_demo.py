"""The demo runs as its reader would run it, and its report is right in a browser."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from browsers import ARGUMENTS, chromium
from patience import finished
from playwright.sync_api import sync_playwright

from sash.demo._charts import thinned
from sash.demo._replay import Replay
from sash.demo.flights import DAY, load


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the short demo leaves behind."""
    folder = tmp_path_factory.mktemp("demo")
    ran = finished([sys.executable, "-m", "sash", "demo", "--quick", "--output", folder / "out"])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "The stream ended with the batch answer" in ran.stdout
    assert "WARN" not in ran.stdout + ran.stderr
    (folder / "out" / "said.txt").write_text(ran.stdout)
    return folder / "out"


def test_the_flights_are_those_of_the_year() -> None:
    flights = load(diverted=True)
    elapsed = flights.arrival() - flights.departure
    assert len(flights) == 328_063
    assert elapsed.min() > 25
    assert np.percentile(elapsed, 99.9) < 11 * 60
    assert elapsed.max() < DAY
    order = np.argsort(flights.arrival(), kind="stable")
    replay = Replay(Path(), flights.departure[order], flights.arrival()[order], 1)
    overtaken = replay.overtaken()
    assert round(float(np.mean(overtaken > 0)), 2) == 0.90
    some = [0, 1, 1000, 20_000, 40_000]
    assert [int(overtaken[i]) for i in some] == [
        int(np.sum(replay.departed[:i] > replay.departed[i])) for i in some
    ]


def test_thinned_lines_keep_their_extremes() -> None:
    rng = np.random.default_rng(0)
    times = np.cumsum(rng.integers(1, 1000, 5000))
    values = rng.normal(size=5000)
    when, shown = thinned(times, values, 50)
    assert len(shown) <= 200
    assert shown.max() == values.max()
    assert shown.min() == values.min()
    assert when[0].astype(np.int64) == times[0]
    assert when[-1].astype(np.int64) == times[-1]


@pytest.mark.full
def test_what_it_says(output: Path) -> None:
    said = " ".join((output / "said.txt").read_text().split())
    assert "open windows" in said
    assert re.search(r"[1-9][\d,]* corrections on the way, [1-9]\d* flights too late", said)
    assert (output / "flights.toml").exists()


@pytest.mark.full
@pytest.mark.parametrize(("width", "shown"), [(1280, "wide"), (390, "narrow")])
def test_the_report_in_a_browser(output: Path, width: int, shown: str) -> None:
    page_errors: list[str] = []
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on("pageerror", lambda error: page_errors.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto((output / "report.html").as_uri())
        assert "same as those computed at once" in page.inner_text("div.verdict")
        charts = page.locator(f"div.chart.{shown}")
        assert charts.count() == 5
        assert all(charts.nth(i).is_visible() for i in range(5))
        tiles = dict(
            zip(
                page.locator("dt").all_inner_texts(),
                page.locator("dd").all_inner_texts(),
                strict=True,
            )
        )
        assert tiles["flights"] == "65,616"
        room = page.evaluate("document.documentElement.scrollWidth")
        assert room <= width
        browser.close()
    assert page_errors == []
    assert asked == [(output / "report.html").as_uri()]
