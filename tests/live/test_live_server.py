"""The server answers what is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import histories as h
import pytest
from serving import request, served

from sash.live import History, Server

LINE = {"key": '["a"]', "window": "hour", "aggregate": "total", "columns": 100}


def test_health(server: Server) -> None:
    health = request(server, "/api/health").json
    assert health["state"] == "running"
    assert health["windows"] == 7
    assert health["open"] == 1
    assert health["corrections"] == 1
    assert health["late_rows"] == 3
    assert health["lag"] == h.HOUR
    assert health["last"]["rows_total"] == 1234
    assert len(health["recent"]) == 1
    assert isinstance(health["seconds"], float)


@pytest.mark.parametrize(
    ("more", "state"),
    [({"at": 0.0}, "silent"), ({"at": 0.0, "running": False}, "stopped")],
)
def test_states(path: Path, server: Server, more: dict[str, Any], state: str) -> None:
    with History.create_or_open(path, h.ABOUT) as history:
        history.record_progress(h.progress(2, **more))
    assert request(server, "/api/health").json["state"] == state


def test_no_open_windows_are_known_unless_they_are_told(tmp_path: Path) -> None:
    path = tmp_path / "live.sqlite"
    History.create_or_open(path, {**h.ABOUT, "emit": "complete"}).close()
    with served(path) as server:
        health = request(server, "/api/health").json
    assert health["open"] is None
    assert health["state"] == "starting"


def test_about_and_keys(server: Server) -> None:
    assert request(server, "/api/about").json == h.ABOUT
    keys = request(server, "/api/keys").json
    assert keys == {
        "keys": [{"key": '["a"]', "label": "a"}, {"key": '["b"]', "label": "b"}],
        "total": 2,
    }
    assert request(server, "/api/keys", {"search": "B"}).json["total"] == 1


def test_keys_are_bounded(tmp_path: Path) -> None:
    rows = [row for i in range(300) for row in h.hourly(f"user {i:03}", [1.0])]
    with served(h.written(tmp_path / "live.sqlite", rows)) as server:
        keys = request(server, "/api/keys").json
        assert (len(keys["keys"]), keys["total"]) == (200, 300)
        found = request(server, "/api/keys", {"search": "299"}).json
        assert [one["label"] for one in found["keys"]] == ["user 299"]


def test_series(server: Server) -> None:
    line = request(server, "/api/series", LINE).json
    assert line["extent"] == [h.HOUR, 6 * h.HOUR]
    assert (line["from"], line["to"]) == (h.HOUR, 6 * h.HOUR + 1)
    assert line["points"] == [
        [h.HOUR, 4.0],
        [4 * h.HOUR, "inf"],
        [5 * h.HOUR, -2.5],
        [6 * h.HOUR, 9.0],
    ]
    assert (line["windows"], line["nans"]) == (4, 1)
    assert line["corrections"] == [[h.HOUR, 1]]
    assert line["late"] == []
    assert line["open_from"] == 6 * h.HOUR


def test_series_of_a_stretch(server: Server) -> None:
    stretch = {"from": 0, "to": 5 * h.HOUR, "columns": 1}
    line = request(server, "/api/series", {**LINE, **stretch}).json
    assert line["points"] == [[h.HOUR, 4.0], [4 * h.HOUR, "inf"]]
    assert line["before"] is None
    assert line["after"] == [5 * h.HOUR, -2.5]
    assert line["late"] == [[7, 2]]
    newest = request(server, "/api/series", {**LINE, "span": h.HOUR}).json
    assert (newest["from"], newest["to"]) == (5 * h.HOUR + 1, 6 * h.HOUR + 1)
    assert newest["before"] == [5 * h.HOUR, -2.5]


def test_marks_are_thinned(tmp_path: Path) -> None:
    rows = h.hourly("a", [1.0] * 500)
    again = h.hourly("a", [2.0] * 500, revision=1, change="correction")
    path = tmp_path / "live.sqlite"
    with History.create_or_open(path, h.ABOUT) as history:
        history.record(0, h.results(rows + again), h.late(*[("a", i * h.HOUR) for i in range(500)]))
    with served(path) as server:
        line = request(server, "/api/series", {**LINE, "columns": 10}).json
    assert len(line["corrections"]) == 10
    assert sum(count for _, count in line["corrections"]) == 500
    assert len(line["late"]) == 10
    assert sum(count for _, count in line["late"]) == 499  # the first is before the first end


def test_the_newest_stretch_goes_on_to_a_watermark_that_is_near(path: Path, server: Server) -> None:
    with History.create_or_open(path, h.ABOUT) as history:
        history.record_progress(h.progress(2, at=0, watermark=7 * h.HOUR))
        assert request(server, "/api/series", LINE).json["to"] == 7 * h.HOUR + 1
        history.record_progress(h.progress(3, at=0, watermark=700 * h.HOUR))
        assert request(server, "/api/series", LINE).json["to"] == 6 * h.HOUR + 1


def test_table(server: Server) -> None:
    asked = {"key": '["a"]', "window": "hour"}
    rows = request(server, "/api/table", {**asked, "rows": 3}).json["rows"]
    assert [row["end"] for row in rows] == [6 * h.HOUR, 5 * h.HOUR, 4 * h.HOUR]
    assert [row["values"][0] for row in rows] == ["9.0", "-2.5", "inf"]
    assert [row["complete"] for row in rows] == [False, True, True]
    (first,) = request(server, "/api/table", {**asked, "at": h.HOUR}).json["rows"]
    assert (first["values"], first["corrections"], first["revision"]) == (["4.0", None], 1, 1)


def test_an_unknown_key_has_nothing(server: Server) -> None:
    assert request(server, "/api/series", {**LINE, "key": '["zz"]'}).json["extent"] is None
    asked = {"key": '["zz"]', "window": "hour"}
    assert request(server, "/api/table", asked).json == {"rows": []}


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("series", {"key": None}, "key is missing"),
        ("series", {"key": "a"}, "key must be a JSON list"),
        ("series", {"key": "[1]"}, "key must be a JSON list"),
        ("series", {"key": "[" * 2000}, "key must be a JSON list"),
        ("series", {"window": "x"}, "window must be one of hour, session"),
        ("series", {"aggregate": "x"}, "aggregate must be one of total, label"),
        ("series", {"aggregate": "label"}, "label holds text"),
        ("series", {"columns": 0}, "columns must be from 1 to 4000, not 0"),
        ("series", {"columns": 4001}, "columns must be from 1 to 4000"),
        ("series", {"columns": "many"}, "columns must be a whole number"),
        ("series", {"columns": "²"}, "columns must be a whole number"),
        ("series", {"columns": "9" * 500}, "columns must be a whole number"),
        ("series", {"from": 5}, "to is missing"),
        ("series", {"from": 5, "to": 5}, "from must be before to"),
        ("series", {"from": -(2**63), "to": 5}, "from must be from"),
        ("series", {"span": 0}, "span must be from 1"),
        ("table", {"rows": 201}, "rows must be from 1 to 200"),
        ("table", {"at": "now"}, "at must be a whole number"),
    ],
)
def test_bad_parameters(server: Server, name: str, change: dict[str, Any], words: str) -> None:
    params = {k: v for k, v in {**LINE, **change}.items() if v is not None}
    reply = request(server, f"/api/{name}", params)
    assert reply.status == 400
    assert words in reply.json["error"]
    assert "\n" not in reply.body.decode()


@pytest.mark.parametrize(
    "target",
    [
        *("/nothing", "/api/", "/api/nothing", "/api", "/health", "/api/x/health", "/api/health/"),
        *("/_server.py", "/../_server.py", "/%2e%2e/pyproject.toml", "/x//page.js", "/page.html"),
    ],
)
def test_unknown_paths(server: Server, target: str) -> None:
    reply = request(server, target)
    assert (reply.status, reply.json) == (404, {"error": "there is nothing here"})


def test_before_there_is_a_history(tmp_path: Path) -> None:
    path = tmp_path / "later" / "live.sqlite"
    with served(path) as server:
        for name in ("health", "about", "keys", "series", "table"):
            missing = request(server, f"/api/{name}", LINE).json["missing"]
            assert missing.startswith("no pipeline has written here yet")
        assert request(server, "/").status == 200
        path.parent.mkdir()
        h.written(path, h.hourly("a", [1.0]))
        assert request(server, "/api/series", LINE).json["windows"] == 1
        path.unlink()
        h.written(path, h.hourly("a", [7.0, 8.0]))  # another history at the same place
        assert [v for _, v in request(server, "/api/series", LINE).json["points"]] == [7.0, 8.0]
        path.write_text("something else" * 100)
        assert "cannot be used" in request(server, "/api/health").json["broken"]
