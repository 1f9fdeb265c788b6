"""Job files of strangers: names that hold SQL or codes of terminals, and what needs trust."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bad_inputs import of_jobs
from names import ESCAPE, HOSTILE, INTERNAL, OWN

from sash import cli, jobs
from sash.jobs import _output, _sinks
from sash.jobs._model import JdbcSink

JOB = """
name = {name}
by = [{by}]
[source]
format = "csv"
path = "in"
[source.columns]
{time} = "timestamp"
{columns}
[time]
column = {time}
{windows}
{aggregates}
[[sinks]]
format = "parquet"
path = "out"
"""


def text(name: str) -> str:
    """A name as TOML writes it."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def job_with(folder: Path, names: list[str], time: str = "ts") -> Path:
    """A job in which each of the names is a key, an input, a result and a window."""
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / "a.csv").write_text("x\n")
    windows = (f'[[windows]]\nkind = "tumbling"\nsize = "1m"\nname = {text(n)}\n' for n in names)
    aggregates = (
        f'[[aggregates]]\nfunction = "max"\ncolumn = {text(n)}\nname = {text(f"of {n}")}\n'
        for n in names
    )
    path = folder / "job.toml"
    path.write_text(
        JOB.format(
            name=text("".join(names)[:200]),
            by=", ".join(map(text, names)),
            time=text(time),
            columns="\n".join(f'{text(n)} = "double"' for n in names),
            windows="".join(windows),
            aggregates="".join(aggregates),
        )
    )
    return path


def test_names_in_a_job_file(tmp_path: Path) -> None:
    names = [*HOSTILE.values(), *INTERNAL.values()]
    job = jobs.load(job_with(tmp_path, names))
    assert job.said.by == names
    assert [w.name for w in job.windows] == names
    assert [a.output for a in job.aggregates] == [f"of {n}" for n in names]
    assert Path(job.checkpoint).parent == tmp_path  # whatever the job is called


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_name_of_the_time_column(name: str, tmp_path: Path) -> None:
    assert jobs.load(job_with(tmp_path, ["x"], time=name)).said.time.column == name


@pytest.mark.parametrize("name", OWN.values())
def test_names_of_results_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(jobs.JobError, match="results have a column"):
        jobs.load(job_with(tmp_path, [name]))


# ---- the terminal ------------------------------------------------------------------------------

SPOILED = [
    "NAME = 1\n" + of_jobs.WHOLE,
    f"{of_jobs.WHOLE}[NAME]\nx = 1\n",
    f"{of_jobs.WHOLE}[spark]\nNAME = 1\n",
    of_jobs.aggregate("function = NAME"),
    of_jobs.aggregate('function = "max"\nNAME = 1'),
    of_jobs.window("kind = NAME"),
    of_jobs.window('kind = "session"\ngap = NAME'),
    of_jobs.sink("format = NAME"),
    of_jobs.sink('format = "csv"\npath = NAME\noptions = {NAME = 1}'),
    of_jobs.sink(of_jobs.JDBC.replace('"results"', "NAME")),
    "name = NAME\n" + of_jobs.WHOLE + "[run]\nshards = 0\n",
    "by = NAME\n" + of_jobs.WHOLE,
    of_jobs.WHOLE.replace('"timestamp"', "NAME"),
    "NAME",
]


@pytest.mark.parametrize("spoiled", SPOILED)
def test_errors_do_nothing_to_a_terminal(
    spoiled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = ESCAPE + "\N{RIGHT-TO-LEFT OVERRIDE}\x07"
    path = tmp_path / f"{odd}.toml"
    path.write_text(spoiled.replace("NAME", text(odd)))
    assert cli.main(["check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert len(err) > 20
    assert [c for c in out + err if not c.isprintable() and c != "\n"] == []


def test_what_is_told_of_a_good_file_does_nothing_either(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"{ESCAPE}.toml"
    path.write_text(of_jobs.WHOLE)
    assert cli.main(["check", str(path)]) == 0
    assert "\x1b" not in capsys.readouterr().out


# ---- trust -------------------------------------------------------------------------------------

ASKED = [row for row in of_jobs.JOBS if "allow-python" in row.words or "load code" in row.words]


def test_a_file_that_is_trusted_may_load_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same job loads where trust is the only thing that it lacks."""
    monkeypatch.setenv("SASH_TEST_KEY", "secret")
    path = tmp_path / "job.toml"
    lines = 'password_env = "SASH_TEST_KEY"\ndriver = "x.Y"\noptions = {sessionInitStatement = "x"}'
    database = of_jobs.JDBC.replace("metrics", "metrics?socketFactory=x.Y") + lines
    path.write_text(of_jobs.sink(database) + '[spark]\n"spark.ui.filters" = "x.Y"\n')
    with pytest.raises(jobs.JobError) as caught:
        jobs.load(path)
    assert len(caught.value.problems) == 5
    assert all("--allow-python" in words for _, words in caught.value.problems)
    jobs.load(path, allow_python=True)
    assert len(ASKED) > 5


def test_sql_is_no_table_however_much_it_is_trusted(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    for table in ("r; drop table x", "(select 1) x", 'a"; --', "a b", "a--", ".a", "a.", 'a."b'):
        path.write_text(of_jobs.sink(of_jobs.JDBC.replace('"results"', json.dumps(table))))
        with pytest.raises(jobs.JobError, match="not the name of a table"):
            jobs.load(path, allow_python=True)
    for table in ("results", "metrics.hourly", '"odd name".x', "`a b`", "[a b].c", "größe", "a$1"):
        path.write_text(of_jobs.sink(of_jobs.JDBC.replace('"results"', json.dumps(table))))
        jobs.load(path)


# ---- sinks -------------------------------------------------------------------------------------


class Frame:
    """A DataFrame as far as a sink looks at it before it writes."""

    def __init__(self, columns: list[str]) -> None:
        self.columns = columns

    @property
    def write(self) -> Any:
        raise RuntimeError("written")


@pytest.mark.parametrize("name", ['a"b', "a`b", '"; drop table x; --'])
def test_a_database_gets_no_names_that_end_their_quotes(name: str) -> None:
    database = _sinks.Database(JdbcSink(format="jdbc", url="jdbc:x:y", table="t"))
    with pytest.raises(_sinks.SinkError, match="cannot have a column"):
        database.write(Frame(["ok", name]))
    with pytest.raises(RuntimeError, match="written"):
        database.write(Frame(["ok", "a b", "it's", "größe", "a.b", "a]b", "a\nb"]))


UUID = "0123abcd-0123-4567-89ab-0123456789ab"
OURS = [
    ("_sash_output.json", False),
    ("_SUCCESS", False),
    ("._SUCCESS.crc", False),
    (f"part-00000-{UUID}-c000.snappy.parquet", False),
    (f".part-00000-{UUID}-c000.snappy.parquet.crc", False),
    (f"part-123456-{UUID}-c001.csv.gz", False),
    (f"part-00001-{UUID}.json", False),
    ("batch=000012", True),
    (f"batch=1000000/part-00000-{UUID}-c000.json", False),
    ("_temporary", True),
    ("_temporary/0/_temporary/attempt_202611180823_0001_m_000000_1", True),
    (f"batch=000012/_temporary/0/task_2026_0001_m_000000/part-00000-{UUID}-c000.json", False),
]
OTHERS = [
    ("part-of-my-thesis.docx", False),
    ("part-00000", False),
    ("part-00000-x.snappy.parquet", False),
    (f"part-00000-{UUID}", False),
    (f"part-00000-{UUID}-c000.parquet.old.bak.1", False),
    (f"my-part-00000-{UUID}-c000.parquet", False),
    ("batch=2024", True),
    ("batch=000012", False),
    ("batch=2024/precious.docx", False),
    ("batch=000012/precious.docx", False),
    ("batch=000012/_sash_output.json", False),
    (f"mine/part-00000-{UUID}-c000.json", False),
    ("_temporary", False),
    ("_temporary/notes", True),
    ("_temporary/0/notes.txt", False),
    ("task_1", True),
    ("_SUCCESS_story.txt", False),
    (".bashrc", False),
    (".notes.crc", False),
    ("src", True),
]


@pytest.mark.parametrize(("name", "is_folder"), OURS)
def test_what_spark_writes_is_known(name: str, is_folder: bool) -> None:
    assert _output.Entry(name, is_folder).is_result
    assert not _output.Entry(name, is_folder, is_link=True).is_result


@pytest.mark.parametrize(("name", "is_folder"), OTHERS)
def test_other_files_are_not_results(name: str, is_folder: bool) -> None:
    assert not _output.Entry(name, is_folder).is_result
