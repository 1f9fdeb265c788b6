"""Checks of what a job file may ask for while nobody has said that it is to be trusted.

A job reads, writes and connects as the one who runs it. What it does not do without
``--allow-python`` is load code, run SQL of its own, or send a secret that is no password away.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from sash.jobs._addresses import unknown_part
from sash.jobs._check_part import Check
from sash.jobs._model import FileSink, JdbcSink, JobFile, KafkaSource
from sash.jobs._places import Path as Place
from sash.jobs._problems import Problem, name_of
from sash.jobs._secrets import has_secret, is_secret_name
from sash.jobs._settings import SETTINGS, is_plain

_TIME_ZONE = "spark.sql.session.timeZone"
_PLAIN_OPTIONS = re.compile(r"\w+|parquet\.[\w.]*size")
_KAFKA_OPTIONS = re.compile(
    r"\w+|kafka\.(security\.protocol|sasl\.mechanism|[\w.]+\.(id|ms|bytes))"
)
_JDBC_OPTIONS = re.compile(
    "batchsize|cascadeTruncate|isolationLevel|numPartitions|queryTimeout|truncate"
)
_DRIVER = re.compile(r"[\w.$]+(Driver|\.JDBC)")
_NAME = r'(?:[\w$]+|"[^"`;]+"|`[^"`;]+`|\[[^"`;\[\]]+\])'
_TABLE = re.compile(rf"{_NAME}(\.{_NAME})*")
_PASSWORD = re.compile(r"passw|pwd", re.IGNORECASE)
_INSTEAD = 'give user = "..." and password_env = "...", the environment variable that has it'
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
            elif name not in SETTINGS:
                self._ask(path, f"{name} may make Spark load code or open a port")
            elif name == "spark.master" and not is_plain(name, value):
                self._ask(path, f"{name}: {value!r} may be a stranger's cluster")
            elif not is_plain(name, value):
                self._ask(path, f"{name} does more with this value than set a size or a speed")

    def _options(self, path: Place, options: Iterable[str], known: re.Pattern[str]) -> None:
        for name in options:
            if not known.fullmatch(name):
                where = (*path, "options", name)
                self._ask(where, f"{name_of(path)}: option {name!r} may make Spark load code")

    def _address(self, path: Place, url: str) -> None:
        where = f"{name_of(path)} url"
        if has_secret(url):
            words = "a job file holds no secrets, and this address has a password or the like"
            self.say((*path, "url"), f"{where}: {words}: {_INSTEAD}.")
        elif url.startswith("jdbc:") and (part := unknown_part(url)) is not None:
            words = f"{where}: {part} may make the driver load code or read files"
            self._ask((*path, "url"), words)

    def _database(self, path: Place, sink: JdbcSink) -> None:
        where = name_of(path)
        secrets = [name for name in sink.options if is_secret_name(name)]
        for option in secrets:
            words = f"{where}: option {option!r} is a secret, and a job file holds none"
            self.say((*path, "options", option), f"{words}: {_INSTEAD}.")
        self._options(path, [n for n in sink.options if n not in secrets], _JDBC_OPTIONS)
        self._address(path, sink.url)
        if sink.driver is not None and not _DRIVER.fullmatch(sink.driver):
            self._ask((*path, "driver"), f"{where}: {sink.driver!r} is no name of a JDBC driver")
        if not _TABLE.fullmatch(sink.table):
            words = f"{sink.table!r} is not the name of a table: write it like metrics.hourly"
            self.say((*path, "table"), f"{where} table: {words}, with odd parts in quotes.")
        name = sink.password_env
        if name is not None and name in os.environ and not _PASSWORD.search(name):
            words = f"{where} password_env: {name!r} may be another secret than a password, and it "
            self._ask((*path, "password_env"), f"{words}would go to the database")
