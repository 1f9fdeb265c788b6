"""Checks of what a job file may ask for while nobody has said that it is to be trusted.

A job reads, writes and connects as the one who runs it. What it does not do without
``--allow-python`` is load code, run SQL of its own, or send a secret that is no password away.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sash.jobs._check_part import Check
from sash.jobs._model import FileSink, JdbcSink, JobFile, KafkaSource
from sash.jobs._places import Path as Place
from sash.jobs._problems import Problem, name_of

_PLAIN_SETTINGS = re.compile(
    r"spark\.(app\.name|master|default\.parallelism|local\.dir|task\.cpus|network\.timeout"
    r"|(driver|executor)\.(memory|memoryOverhead|cores|instances|maxResultSize)"
    r"|(memory|dynamicAllocation|ui|cores)\..*"
    r"|sql\.(shuffle\.partitions|autoBroadcastJoinThreshold|ansi\.enabled|caseSensitive)"
    r"|sql\.(adaptive|files|parquet|execution\.arrow|streaming\.stateStore\.rocksdb)\..*"
    r"|hadoop\.fs\.s3a\.(access\.key|secret\.key|endpoint|endpoint\.region|path\.style\.access))"
)
"""Settings that say how much and how fast; others may name classes, jars and commands."""
_NAMES_CODE = re.compile(r"class|filters|proxy", re.IGNORECASE)
_MASTERS = re.compile(r"local(\[[\d*, ]+\])?|yarn")
_TIME_ZONE = "spark.sql.session.timeZone"
_PLAIN_OPTIONS = re.compile(r"\w+|parquet\.[\w.]*size")
_KAFKA_OPTIONS = re.compile(
    r"\w+|kafka\.(security\.protocol|sasl\.mechanism|[\w.]+\.(id|ms|bytes))"
)
_JDBC_OPTIONS = re.compile(
    "batchsize|cascadeTruncate|isolationLevel|numPartitions|queryTimeout|truncate"
)
_JDBC_PARAMETERS = re.compile(
    "applicationname|charset|connecttimeout|create|currentschema|database|databasename|encrypt"
    "|servertimezone|sockettimeout|ssl|sslmode|trustservercertificate|usessl",
    re.IGNORECASE,
)
_DRIVER = re.compile(r"[\w.$]+(Driver|\.JDBC)")
_NAME = r'(?:[\w$]+|"[^"`;]+"|`[^"`;]+`|\[[^"`;\[\]]+\])'
_TABLE = re.compile(rf"{_NAME}(\.{_NAME})*")
_PASSWORD = re.compile(r"passw|pwd", re.IGNORECASE)
_ASK = "If you trust this file, run it with --allow-python."


class Trust(Check):
    """Looks for what could load code or give secrets away."""

    def __init__(self, job: JobFile, folder: Path, allow_python: bool) -> None:
        super().__init__(job, folder)
        self._allowed = allow_python

    def found(self) -> list[Problem]:
        """Return what is wrong."""
        self._settings()
        source = self.job.source
        known = _KAFKA_OPTIONS if isinstance(source, KafkaSource) else _PLAIN_OPTIONS
        self._options(("source",), getattr(source, "options", {}), known)
        for path, sink in self.all_sinks():
            if isinstance(sink, FileSink):
                self._options(path, sink.options, _PLAIN_OPTIONS)
            if isinstance(sink, JdbcSink):
                self._database(path, sink)
        return self.problems

    def _ask(self, path: Place, words: str) -> None:
        """Take note of what only a file that is trusted may have."""
        if not self._allowed:
            self.say(path, f"{words}. {_ASK}")

    def _settings(self) -> None:
        for name, value in self.job.spark.items():
            path = ("spark", name)
            if name == _TIME_ZONE:
                self.say(path, 'the time zone is set by zone = "..." under [time].')
            elif not name.startswith("spark."):
                words = f"{name!r} is no setting of Spark's: their names begin with 'spark.'"
                self.say(path, f'{words}, in quotes, as in "spark.{name}" = "..."')
            elif not _PLAIN_SETTINGS.fullmatch(name) or _NAMES_CODE.search(name):
                self._ask(path, f"{name} may make Spark load code")
            elif name == "spark.master" and not _MASTERS.fullmatch(str(value)):
                self._ask(path, f"{name}: {value!r} may be a stranger's cluster")

    def _options(self, path: Place, options: Mapping[str, Any], known: re.Pattern[str]) -> None:
        for name in options:
            if not known.fullmatch(name):
                where = (*path, "options", name)
                self._ask(where, f"{name_of(path)}: option {name!r} may make Spark load code")

    def _database(self, path: Place, sink: JdbcSink) -> None:
        where = name_of(path)
        self._options(path, sink.options, _JDBC_OPTIONS)
        parameters = re.split(r"[?;&]", sink.url)[1:]
        odd = [p for p in parameters if not _JDBC_PARAMETERS.fullmatch(p.partition("=")[0].strip())]
        if odd and odd != [""]:
            words = f"{where} url: the driver's parameter {odd[0]!r} may make it load code"
            self._ask((*path, "url"), words)
        if sink.driver is not None and not _DRIVER.fullmatch(sink.driver):
            self._ask((*path, "driver"), f"{where}: {sink.driver!r} is no name of a JDBC driver")
        if not _TABLE.fullmatch(sink.table):
            words = f"{sink.table!r} is not the name of a table: write it like metrics.hourly"
            self.say((*path, "table"), f"{where} table: {words}, with odd parts in quotes.")
        name = sink.password_env
        if name is not None and name in os.environ and not _PASSWORD.search(name):
            words = f"{where} password_env: {name!r} may be another secret than a password, and it "
            self._ask((*path, "password_env"), f"{words}would go to the database")
