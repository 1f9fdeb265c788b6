"""The command line, as far as it goes without Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from patience import finished

import sash
from sash import jobs
from sash.cli import main
from sash.cli._exits import in_words

JOBS = Path(__file__).parent.parent / "jobs"
GOOD, BROKEN = JOBS / "good", JOBS / "broken"


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sash", *arguments]
    return finished(command, **{"COLUMNS": "100", **environment})


def test_the_version() -> None:
    ran = run("--version")
    assert ran.returncode == 0
    assert ran.stdout == f"sash {version('sash')}\n"


def test_help_names_every_command_and_the_exit_codes() -> None:
    ran = run("--help")
    assert ran.returncode == 0
    for command in ("run", "check", "schema", "explain", "demo", "live", "bench", "doctor"):
        assert f" {command} " in ran.stdout
    assert "130" in ran.stdout


def test_no_arguments_show_the_help() -> None:
    assert "Usage: sash" in run().stdout + run().stderr


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["chekc"], 2, "Did you mean 'check'?"),
        (["check"], 2, "Missing argument"),
        (["run"], 2, "Missing argument"),
        (["run", "--nope", "x.toml"], 2, "No such option"),
        (["run", "nowhere.toml"], 2, "nowhere.toml: there is no such file"),
        (["live", "--port", "123456", "x.toml"], 2, "65535"),
        (["check", str(BROKEN / "toml_key_twice.toml")], 2, "line 16"),
    ],
)
def test_wrong_commands(
    arguments: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == status
    shown = capsys.readouterr().err
    assert said in " ".join(shown.split())
    assert "Traceback" not in shown


def test_checking_several_files(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SASH_TEST_PASSWORD", "secret")
    monkeypatch.syspath_prepend(GOOD / "data")
    good = sorted(GOOD.glob("*.toml"))
    allowed = ["--allow-python", *map(str, good)]
    assert main(["check", *allowed]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out.count("nothing wrong with it") == len(good)
    assert main(["check", str(good[0]), str(BROKEN / "toml_key_twice.toml")]) == 2


def test_debug_shows_where_it_came_from(tmp_path: Path) -> None:
    quiet, loud = (run(*flags, "run", str(tmp_path)) for flags in ([], ["--debug"]))
    assert quiet.returncode == loud.returncode == 2
    assert "this is a folder" in quiet.stderr
    assert "Traceback" not in quiet.stderr
    assert "Traceback" in loud.stderr


def test_the_schema_is_json() -> None:
    assert json.loads(run("schema").stdout) == jobs.schema()


def test_what_doctor_finds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    for what in ("Python", "Java", "C++ compiler", "memory", "pyspark"):
        assert what in shown


def test_doctor_says_how_to_get_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    ran = run("doctor", PATH="/nonexistent", JAVA_HOME="")
    assert ran.returncode == 3
    assert "openjdk-17" in " ".join(ran.stdout.split())


def test_a_job_without_java(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("t,x\n2026-01-01 00:00:00,1\n")
    job = tmp_path / "job.toml"
    job.write_text(
        '[source]\nformat = "csv"\npath = "in.csv"\n[time]\ncolumn = "t"\n[rolling]\nsize = "1h"\n'
        '[[aggregates]]\nfunction = "sum"\ncolumn = "x"\n[[sinks]]\nformat = "console"\n'
    )
    ran = run("run", str(job), PATH="/nonexistent", JAVA_HOME="")
    assert ran.returncode == 3
    assert "Java 17" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_live_needs_a_history(capsys: pytest.CaptureFixture[str]) -> None:
    without = next(
        p
        for p in GOOD.glob("*.toml")
        if "[live]" not in p.read_text() and "python" not in p.read_text()
    )
    assert main(["live", str(without)]) == 2
    assert "add a line [live]" in capsys.readouterr().err


def test_the_script_for_spark_submit() -> None:
    path = Path(run("script").stdout.strip())
    assert path.name == "__main__.py"
    assert path.parent == Path(sash.__file__).resolve().parent


def test_benchmarks_are_handed_over_to() -> None:
    ran = run("bench", "--help")
    assert ran.returncode == 0


def test_completion_is_offered() -> None:
    by_name = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # not the shell we run in
    ran = run("--show-completion", "bash", **by_name)
    assert ran.returncode == 0
    assert "_SASH_COMPLETE" in ran.stdout
    typed = {"_SASH_COMPLETE": "complete_bash", "COMP_WORDS": "sash che", "COMP_CWORD": "1"}
    assert run(**typed).stdout.split() == ["check"]


DEEP = """[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: Job aborted.
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 1, in main
    process()
  File "x.py", line 2, in process
RuntimeError: ValueError: sum overflows in the row k=a, ts=2026-01-01

\tat org.apache.spark.api.python.BasePythonRunner.x(PythonRunner.scala:1)
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plain words", "plain words"),
        (DEEP, "sum overflows in the row k=a, ts=2026-01-01"),
        (
            "[UNRESOLVED_COLUMN] A column `x` cannot be found. SQLSTATE: 42703",
            "A column `x` cannot be found",
        ),
        ("", "RuntimeError"),
    ],
)
def test_errors_of_spark_in_words(text: str, words: str) -> None:
    assert in_words(RuntimeError(text)) == words


def test_a_missing_connector_is_explained() -> None:
    assert "spark.jars.packages" in in_words(RuntimeError("Failed to find data source: kafka."))
