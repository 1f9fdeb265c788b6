"""The page on job files names everything that a job file may say."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sash import cli, jobs
from sash.jobs import _model as model

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "jobs.md").read_text()
PARTS = [
    part
    for part in vars(model).values()
    if isinstance(part, type) and issubclass(part, model.Part) and part is not model.Part
]


@pytest.mark.parametrize("part", PARTS, ids=lambda p: p.__name__)
def test_every_key_is_documented(part: type[model.Part]) -> None:
    names = [n for n in part.model_fields if f"`{n}`" not in PAGE and f"[{n}]" not in PAGE]
    assert names == []


def test_the_example_of_the_page_is_a_job(tmp_path: Path) -> None:
    text = PAGE.split("```toml\n", 1)[1].split("```", 1)[0]
    (tmp_path / "incoming").mkdir()
    (tmp_path / "payments.toml").write_text(text)
    job = jobs.load(tmp_path / "payments.toml")
    assert [w.name for w in job.windows] == ["sliding_1h_1m"]
    assert tomllib.loads(text)["by"] == "card"


def test_the_example_of_the_readme_is_a_job(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text().split("```toml\n", 1)[1].split("```", 1)[0]
    (tmp_path / "trades").mkdir()
    (tmp_path / "bars.toml").write_text(text)
    with pytest.raises(jobs.JobError, match="has no files yet"):
        jobs.load(tmp_path / "bars.toml")
    kinds = {"symbol": pa.string(), "at": pa.timestamp("us", "UTC")}
    kinds |= {"price": pa.float64(), "size": pa.int64()}
    pq.write_table(pa.schema(list(kinds.items())).empty_table(), tmp_path / "trades" / "a.parquet")
    assert [a.output for a in jobs.load(tmp_path / "bars.toml").aggregates] == ["vwap"]


def test_the_errors_of_the_page_are_those_of_its_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PAGE.split("```toml\n", 1)[1].split("```", 1)[0]
    shown = PAGE.split("`sash check payments.toml` prints:\n\n```\n", 1)[1].split("```", 1)[0]
    assert text.count('size = "1h"') == text.count('column = "amount"') == 1
    text = text.replace('size = "1h"', 'size = "1 hur"')
    text = text.replace('column = "amount"', 'column = "amuont"')
    (tmp_path / "incoming").mkdir()
    (tmp_path / "payments.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["check", "payments.toml"]) == 2
    assert capsys.readouterr().err == shown
