"""Job files of strangers: names that hold SQL or codes of terminals, and what needs trust."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bad_inputs import of_jobs
from names import ESCAPE, HOSTILE, INTERNAL, OWN

from sash import cli, jobs
from sash.jobs import _sinks
from sash.jobs._model import FileSink, JdbcSink

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


@pytest.mark.parametrize(
    ("there", "refused"),
    [
        ([], False),
        (["part-00000-x.snappy.parquet", "_SUCCESS", "._SUCCESS.crc", ".part-0.crc"], False),
        (["batch=000001"], False),
        (["part-00000", "thesis.pdf"], True),
        ([".bashrc"], True),
        (["src"], True),
    ],
)
def test_overwriting_removes_results_only(
    there: list[str], refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_sinks, "names_in", lambda session, path: there)
    folder = _sinks.Folder(FileSink(format="csv", path="x", overwrite=True), "/x")
    if not refused:
        folder.begin_batch(None)
        return
    with pytest.raises(_sinks.SinkError, match="no file of results"):
        folder.begin_batch(None)
