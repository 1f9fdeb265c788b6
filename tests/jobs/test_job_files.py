"""Job files: good ones load, and each broken one is told about as its comments say.

A broken file begins with what has to be told of each mistake: `expect` is the line and how the
paragraph begins, `at` is what stands in that line, `remedy` is said in the paragraph too.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from sash import jobs
from sash.jobs import _model

HERE = Path(__file__).parent
BROKEN = sorted((HERE / "broken").glob("*.toml"))
GOOD = sorted((HERE / "good").glob("*.toml"))
MACHINERY = re.compile(
    r"Traceback|Error\b|Exception|Input should|Extra inputs|Field required|valid dictionary|"
    r"\bdict\b|\bNone\b|_type\b|pydantic|union|literal|validat|input_value|<class|"
    r"positional argument|alias\(\)|\.\.\.\.|\?\.|\?;|;;|: \.$|[^.]\.\.$"
)


@dataclass
class Expected:
    line: int
    beginning: str
    at: str | None = None
    remedy: str = ""


def comments(text: str) -> list[tuple[str, str]]:
    """Return what the first lines say, as pairs."""
    found = []
    for line in text.splitlines():
        key, colon, value = line.removeprefix("# ").partition(": ")
        if not line.startswith("# ") or not colon:
            break
        found.append((key, value))
    return found


def expected_of(text: str) -> list[Expected]:
    found: list[Expected] = []
    for key, value in comments(text):
        if key == "expect":
            line, _, words = value.removeprefix("line ").partition(": ")
            found.append(Expected(int(line), words))
        elif key in ("at", "remedy"):
            setattr(found[-1], key, value)
    return found


def problems_of(path: Path, **options: Any) -> list[tuple[int | None, str]]:
    with pytest.raises(jobs.JobError) as caught:
        jobs.load(path, **options)
    paragraphs = str(caught.value).split("\n")
    assert len([p for p in paragraphs if not p.startswith("  ")]) == len(caught.value.problems)
    return caught.value.problems


def test_there_are_many_broken_files() -> None:
    assert len(BROKEN) > 180


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_a_broken_file_is_told_about(path: Path) -> None:
    text = path.read_text()
    wanted = expected_of(text)
    allowed = ("with", "--allow-python") in comments(text)
    problems = problems_of(path, allow_python=allowed)
    assert len(wanted) == len(problems) > 0, problems
    for one, (line, words) in zip(wanted, problems, strict=True):
        assert line == one.line, words
        assert words.startswith(one.beginning)
        assert one.remedy
        assert one.remedy in words
        assert MACHINERY.search(words) is None, words
        here = text.split("\n")[one.line - 1].strip()
        assert here == one.at if one.at is not None else one.line == 1


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_a_broken_file_is_told_about_in_paragraphs(path: Path) -> None:
    allowed = ("with", "--allow-python") in comments(path.read_text())
    with pytest.raises(jobs.JobError) as caught:
        jobs.load(path, allow_python=allowed)
    for paragraph, (line, words) in zip(
        caught.value.paragraphs(), caught.value.problems, strict=True
    ):
        assert paragraph == f"{path.name}, line {line}: {words}"
        first, *example = words.split("\n")
        assert all(row.startswith("    ") for row in example)
        assert first.endswith("such as" if example else (".", "?"))
    assert str(caught.value) == "\n".join(caught.value.paragraphs())


# ---- files that are none ------------------------------------------------------------------------


def test_there_is_no_such_file() -> None:
    (problem,) = problems_of(HERE / "good" / "csv_hurly.toml")
    assert problem[0] is None
    assert problem[1].startswith("there is no such file; did you mean 'csv_hourly.toml'")


def test_there_is_no_such_folder(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path / "none" / "job.toml")
    assert problem == (None, "there is no such file.")


def test_a_folder_is_no_job_file() -> None:
    (problem,) = problems_of(HERE / "good")
    assert problem == (None, "this is a folder: name the job file in it.")


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_bytes('# fine\nname = "Käufe"\n'.encode("latin-1"))
    (problem,) = problems_of(path)
    assert problem == (2, "this is not text in UTF-8: save the file in that encoding.")


def test_huge_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_text(GOOD[0].read_text() + "#" * 2**20)
    (problem,) = problems_of(path)
    assert problem == (None, "over a megabyte is no job file.")


def test_an_empty_file_lacks_everything(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_text("")
    words = [words for _, words in problems_of(path)]
    assert [w.split(":")[0] for w in words] == [
        f"the job has no {name}" for name in ("source", "time", "aggregates", "sinks", "windows")
    ]


def test_modules_that_cannot_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "module_with_a_mistake.py").write_text("raise ZeroDivisionError('of its own')\n")
    monkeypatch.syspath_prepend(tmp_path)
    text = (HERE / "good" / "python_aggregate.toml").read_text()
    path = tmp_path / "job.toml"
    path.write_text(
        text.replace("aggregates_of_jobs:", "module_with_a_mistake:").replace(
            '"data/', f'"{HERE / "good" / "data"}/'
        )
    )
    ((_, words),) = problems_of(path, allow_python=True)
    assert "ZeroDivisionError: of its own" in words


# ---- what only data tell ------------------------------------------------------------------------

STREAM = """
source = {format = "parquet", path = "in", stream = true}
time = {column = "ts", watermark = "1m"}
windows = [{kind = "tumbling", size = "1h"}]
aggregates = [{function = "count"}]
sinks = [{format = "console"}]
"""


def stream_of(folder: Path, kind: pa.DataType) -> Path:
    (folder / "in").mkdir()
    pq.write_table(pa.table({"ts": pa.array([0], kind)}), folder / "in" / "a.parquet")
    path = folder / "job.toml"
    path.write_text(STREAM)
    return path


def test_the_columns_of_a_stream_may_be_those_of_its_first_files(tmp_path: Path) -> None:
    assert jobs.load(stream_of(tmp_path, pa.timestamp("us", "UTC"))).name == "job"


def test_a_stream_needs_times_with_a_zone(tmp_path: Path) -> None:
    ((line, words),) = problems_of(stream_of(tmp_path, pa.timestamp("us")))
    assert line == 3
    assert words.startswith("[time] column: 'ts' does not hold moments, but timestamp[us]")
    assert "[source.columns]" in words


@pytest.fixture
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """What good job files ask for: a password, and a module of the user's."""
    monkeypatch.setenv("SASH_TEST_PASSWORD", "secret")
    monkeypatch.syspath_prepend(HERE / "good" / "data")


# ---- mistakes at random -------------------------------------------------------------------------

VALUES = [
    "0", "-1", "99999999999999", "1.5", "inf", "true", "1979-05-27", "07:00:00", "nonsense",
    '""', '"x"', '"1h"', '"0s"', '"shop"', '"ts"', '"csv"', '"rate"', '"delta"', '"a\\nb"',
    "[]", "[1]", '["a", "a"]', "{}", "{a = 1}", "[{}]", "[[]]",
]  # fmt: skip
KEYS = ["rows", "size", "name", "columns", "path", "format", "by", "options", "column", "other"]
LINES = {path: path.read_text(encoding="utf-8-sig").split("\n") for path in GOOD}


@st.composite
def spoiled(draw: st.DrawFn) -> str:
    """Return a good job file with a line or two changed."""
    lines = list(LINES[draw(st.sampled_from(GOOD))])
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(lines) - 1))
        key, equals, _ = lines[at].partition("=")
        if draw(st.booleans()) or not equals:
            key, equals = draw(st.sampled_from(KEYS)), "="
            lines.insert(at, "")
        lines[at] = f"{key}{equals} {draw(st.sampled_from(VALUES))}"
        if draw(st.integers(0, 4)) == 0:
            del lines[draw(st.integers(0, len(lines) - 1))]
    return "\n".join(lines)


@given(spoiled())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.usefixtures("surroundings")
def test_whatever_is_wrong_is_told_in_words(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.toml"
        (path.parent / "data").symlink_to(HERE / "good" / "data")
        path.write_text(text)
        try:
            jobs.load(path)
        except jobs.JobError as error:
            assert error.problems
            for line, words in error.problems:
                assert 1 <= (line or 0) <= text.count("\n") + 1
                assert MACHINERY.search(words) is None, words


# ---- good files ---------------------------------------------------------------------------------


def load_good(path: Path) -> jobs.Job:
    allowed = ("with", "--allow-python") in comments(path.read_text(encoding="utf-8-sig"))
    return jobs.load(path, allow_python=allowed)


@pytest.mark.usefixtures("surroundings")
@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_file_loads(path: Path) -> None:
    job = load_good(path)
    assert job.path == path
    assert job.name == (job.said.name or path.stem)
    assert len(job.windows) == len(job.said.windows)
    assert len(job.aggregates) == len(job.said.aggregates)


@pytest.mark.usefixtures("surroundings")
def test_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    raw = (HERE / "good" / "windows_line_ends.toml").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    assert raw.count(b"\r\n") == raw.count(b"\n") > 0
    other = load_good(HERE / "good" / "windows_line_ends.toml")
    assert other.said == load_good(HERE / "good" / "csv_hourly.toml").said


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_lines_are_counted_with_either_end(tmp_path: Path, ends: str) -> None:
    path = tmp_path / "job.toml"
    lines = ["", "name = 'a'", "", "[time]", "column = 3", *STREAM.splitlines()[1:2]]
    path.write_bytes(b"\xef\xbb\xbf" + ends.join(lines).encode())
    assert (5, 'put it in quotes: "3"') in [
        (line, words.split("; ")[-1].rstrip(".")) for line, words in problems_of(path)
    ]


def test_the_name_of_a_job_is_in_its_places() -> None:
    job = load_good(HERE / "good" / "rate_in_one_line_each.toml")
    folder = HERE / "good"
    assert job.checkpoint == str(folder / "heartbeat.checkpoint")
    assert job.history == folder / "heartbeat.live.sqlite"
    assert job.place("s3://bucket/x") == "s3://bucket/x"
    assert job.place("results") == str(folder / "results")


def parts_of(part: BaseModel) -> list[BaseModel]:
    """Return a table and all tables in it."""
    found = [part]
    for name in type(part).model_fields:
        value = getattr(part, name)
        for one in value if isinstance(value, list) else [value]:
            found += parts_of(one) if isinstance(one, BaseModel) else []
    return found


@pytest.mark.usefixtures("surroundings")
def test_good_files_use_every_key() -> None:
    used: dict[str, set[str]] = {}
    for path in GOOD:
        for part in parts_of(load_good(path).said):
            used.setdefault(type(part).__name__, set()).update(part.model_fields_set)
    known = {
        name: set(kind.model_fields)
        for name, kind in vars(_model).items()
        if isinstance(kind, type) and issubclass(kind, _model.Part)
    }
    del known["Part"], known["Files"]  # what others have in common
    assert {name: keys - used.get(name, set()) for name, keys in known.items()} == {
        name: set() for name in known
    }


def test_jobs_are_read_without_spark() -> None:
    program = (
        "import sys; from sash import jobs; jobs.load(sys.argv[1]); print('pyspark' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(HERE / "good" / "csv_hourly.toml")]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "False\n"
