"""Of job files, the live page, the command line, and of Spark without starting it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from bad_inputs.row import Bad, Hostile
from sash import agg, jobs, windows
from sash import spark as sps
from sash.cli._app import app
from sash.live import History, HistoryError, MissingHistoryError, serve

HEAD = 'source = {format = "rate"}\n[time]\ncolumn = "timestamp"\nwatermark = "1s"\n'
TAIL = '[[aggregates]]\nfunction = "count"\n[[sinks]]\nformat = "console"\n'
WINDOW = '[[windows]]\nkind = "tumbling"\nsize = "1m"\n'
WHOLE = HEAD + WINDOW + TAIL


def load(text: str | bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return jobs.load(path)


def job(name: str, text: str | bytes, words: str) -> Bad:
    return Bad(f"job: {name}", lambda: load(text), jobs.JobError, words)


def aggregate(words: str) -> str:
    return WHOLE + f'[[aggregates]]\ncolumn = "value"\nname = "other"\n{words}\n'


def window(words: str) -> str:
    return WHOLE + f'[[windows]]\nname = "other"\n{words}\n'


def sink(words: str) -> str:
    return WHOLE + f"[[sinks]]\n{words}\n"


JDBC = 'format = "jdbc"\nurl = "jdbc:postgresql://localhost/metrics"\ntable = "results"\n'
JOBS = [
    job("nothing", "", "the job has no source"),
    job("noise", b"\x00\xff\xfe", "not text in UTF-8"),
    job("no TOML", "source: csv", "not TOML"),
    job("over a megabyte", "#" * (1 << 20) + "\n", "over a megabyte"),
    job("deep lists", "a = " + "[" * 5000 + "]" * 5000, "nested too deep"),
    job("deep tables", "a = " + "{a = " * 5000 + "1" + "}" * 5000, "nested too deep"),
    job("deep keys", ".".join("a" * 100_000) + " = 1", "nested too deep"),
    job("a deep header", "[" + ".".join("a" * 100_000) + "]", "nested too deep"),
    job("too many digits", "a = " + "9" * 5000, "job.toml"),
    job("too many keys", "".join(f"a{i} = 1\n" for i in range(20_000)), "a0 is not known"),
    job("too many windows", WHOLE + WINDOW * 1001, "may have 1000"),
    job("too many aggregates", WHOLE + TAIL.split("[[s", maxsplit=1)[0] * 2001, "may have 2000"),
    job("unknown function", aggregate('function = "eval"'), "no aggregate 'eval'"),
    job("private function", aggregate('function = "__import__"'), "no aggregate"),
    job("import", WHOLE + '[[aggregates]]\npython = "os:system"\n', "--allow-python"),
    job("10^9 of topk", aggregate('function = "topk"\nk = 1000000000'), "from 1 to 1048576"),
    job("10^18 of nth", aggregate(f'function = "nth_youngest"\nn = {10**18}'), "from 1 to"),
    job("bloom of 2^40", aggregate(f'function = "bloom"\nbits = {2**40}'), "134217728"),
    job("hll of 60", aggregate('function = "hll"\nlg_k = 60'), "from 4 to 21"),
    job("countmin of 2^40", aggregate(f'function = "countmin"\nwidth = {2**40}'), "2097152"),
    job("histogram falling", aggregate('function = "histogram"\nedges = [2, 1]'), "ascending"),
    job("quantiles of 99", aggregate('function = "quantiles"\nfractions = 99'), "between 0 and 1"),
    job(
        "a row in many windows",
        window('kind = "sliding"\nsize = "365d"\nslide = "1us"'),
        "each row into",
    ),
    job(
        "nanoseconds", window('kind = "sliding"\nsize = "1s"\nslide = "1ns"'), "whole microseconds"
    ),
    job("a gap without end", window(f'kind = "session"\ngap = "{2**63}s"'), "longer than all"),
    job("rows of 10^18", window(f'kind = "tumbling"\nrows = {10**18}'), "at most 2147483647"),
    job("huge lateness", WHOLE.replace('"1s"\n', f'"1s"\nlateness = "{10**25}s"\n'), "longer"),
    job("huge watermark", WHOLE.replace('"1s"\n', f'"{10**25}s"\n'), "longer than all"),
    job("many shards", 'by = "value"\n' + WHOLE + f"[run]\nshards = {10**9}", "at most 65536"),
    job("every of -1", WHOLE + '[run]\nevery = "-1s"', "at least 0"),
    job("console of 10^9", sink(f'format = "console"\nrows = {10**9}'), "at most 100000"),
    job("a jar", WHOLE + '[spark]\n"spark.jars" = "http://x/y.jar"', "--allow-python"),
    job("a plugin", WHOLE + '[spark]\n"spark.plugins" = "x.Y"', "--allow-python"),
    job("a cluster", WHOLE + '[spark]\n"spark.master" = "spark://x:7077"', "--allow-python"),
    job("a filter of the page", WHOLE + '[spark]\n"spark.ui.filters" = "x.Y"', "--allow-python"),
    job(
        "a committer",
        WHOLE + '[spark]\n"spark.sql.parquet.output.committer.class" = "x.Y"',
        "--allow-python",
    ),
    job(
        "an evaluator",
        WHOLE + '[spark]\n"spark.sql.adaptive.customCostEvaluatorClass" = "x.Y"',
        "--allow-python",
    ),
    job(
        "an option of files",
        sink('format = "csv"\npath = "o"\noptions = {"fs.file.impl" = "x.Y"}'),
        "--allow-python",
    ),
    job(
        "SQL for a table",
        sink(JDBC.replace('"results"', '"r; drop table x"')),
        "not the name of a table",
    ),
    job(
        "a query for a table", sink(JDBC.replace('"results"', '"(select 1) x"')), "not the name of"
    ),
    job(
        "SQL for an option",
        sink(JDBC + 'options = {sessionInitStatement = "drop table x"}'),
        "--allow-python",
    ),
    job(
        "a factory in an address",
        sink(JDBC.replace("metrics", "metrics?socketFactory=x.Y")),
        "load code",
    ),
    job(
        "a script in an address",
        sink(JDBC.replace("metrics", "m;INIT=RUNSCRIPT FROM 'x'")),
        "load code",
    ),
    job(
        "a class for a driver",
        sink(JDBC + 'driver = "javax.naming.InitialContext"'),
        "no name of a JDBC driver",
    ),
    job("a secret for a password", sink(JDBC + 'password_env = "PATH"'), "another secret"),
    job("an address of the web", sink(JDBC.replace("jdbc:", "http:")), "no address of JDBC's"),
    job("a name with an escape", '"\\u001b[31mx" = 1\n' + WHOLE, "is not known"),
    job("a zero", 'name = "a\\u0000b"\n' + WHOLE, "character 0"),
]
OTHERS = [
    Bad("a folder", lambda: jobs.load(Path(__file__).parent), jobs.JobError, "this is a folder"),
    Bad("no file", lambda: jobs.load("/nowhere/job.toml"), jobs.JobError, "no such file"),
    Bad("a short token", lambda: serve("x", token="short"), ValueError, "at least 8"),
    Bad("a token with a line", lambda: serve("x", token="12345678\r\nX: y"), ValueError, "8 let"),
    Bad("a token of others", lambda: serve("x", token="pässword1"), ValueError, "and no others"),
    Bad("a host of others", lambda: serve("x", host="192.0.2.1"), OSError, "cannot listen on"),
    Bad("a history of nothing", lambda: History.create_or_open("x", {}), HistoryError, "must have"),
    Bad("a history of no file", lambda: History.open("/nowhere/x"), MissingHistoryError, "no file"),
]
SPARK = [
    Bad(
        "spark of None",
        lambda: sps.rolling(None, on="t", window=1, aggs=agg.count()),
        TypeError,
        "takes a Spark DataFrame, not NoneType",
    ),
    Bad(
        "spark of a dict",
        lambda: sps.windows({}, on="t", windows=windows.session(1), aggs=agg.count()),
        TypeError,
        "sash.WindowOperator",
    ),
    Bad(
        "spark of hostile",
        lambda: sps.rolling(Hostile(), on="t", window=1, aggs=agg.count()),
        TypeError,
        "not Hostile",
    ),
    Bad("cores of 0", lambda: sps.local_session(0), ValueError, "cores must be at least 1"),
    Bad("cores of text", lambda: sps.local_session("2"), TypeError, "cores must be an integer"),
    Bad("cores of True", lambda: sps.local_session(True), TypeError, "not True"),
    Bad("cores of -1", lambda: sps.local_session(-1), ValueError, "not -1"),
]


class UsageError(Exception):
    """What the command line says of its arguments; the classes behind it are not public."""


def command(*arguments: str) -> Any:
    try:
        return app(args=list(arguments), prog_name="sash", standalone_mode=False)
    except jobs.JobError:
        raise
    except Exception as error:
        raise UsageError(str(error)) from error


LIVE = str(Path(__file__).parents[1] / "jobs" / "good" / "csv_stream_with_everything.toml")
COMMANDS = [
    Bad("no command", lambda: command("rum"), UsageError, "Did you mean 'run'?"),
    Bad("no job", lambda: command("run"), UsageError, "path"),
    Bad("no jobs", lambda: command("check"), UsageError, "paths"),
    Bad("no option", lambda: command("run", "x", "--nope"), UsageError, "--nope"),
    Bad("no value", lambda: command("demo", "--output"), UsageError, "requires an argument"),
    Bad("one too many", lambda: command("schema", "x"), UsageError, "unexpected extra"),
    Bad("port of text", lambda: command("live", "x", "--port", "http"), UsageError, "integer"),
    Bad("port of 99999", lambda: command("live", "x", "--port", "99999"), UsageError, "65535"),
    Bad("port of -1", lambda: command("live", "x", "--port", "-1"), UsageError, "equal to 0"),
    Bad("a zero in a path", lambda: command("run", "a\0b"), UsageError, "null byte"),
    Bad("no path", lambda: command("run", ""), jobs.JobError, "this is a folder"),
    Bad("no such job", lambda: command("live", "/nowhere/x"), jobs.JobError, "no such file"),
    Bad("a folder to explain", lambda: command("explain", "/"), jobs.JobError, "a folder"),
    Bad("token of x", lambda: command("live", LIVE, "--token", "x"), UsageError, "at least 8"),
]
ROWS = [*JOBS, *OTHERS, *SPARK, *COMMANDS]
