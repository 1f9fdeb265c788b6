"""How commands end: exit codes, and errors in words."""

from __future__ import annotations

import re

DONE, FAILED, WRONG, MISSING, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
"""Done; failed on the way; a wrong command or job file; something to install; signals."""

_TRACEBACK = re.compile(
    r"Traceback \(most recent call last\):\n(?:[ \t].*\n|\s*\n)*"
    r"(\S.*(?:\n(?!\s*at |Traceback \()\S.*)*)"
)
_CLASS = re.compile(r"^(?:[\w.]+\.)?(?:\w*(?:Error|Exception)): ")
_CONDITION = re.compile(r"^\[[A-Z0-9_.]+\]\s*")
_REMEDIES = {
    "Failed to find data source: kafka": "Kafka needs Spark's connector: set "
    '"spark.jars.packages" = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0" (with your '
    "Spark's version) under [spark]",
    "No suitable driver": "the database's JDBC driver is not there: name its jar in "
    '"spark.jars" = "..." under [spark]',
    "No space left on device": "the disk is full: free some space, and run it again",
    "ClassNotFoundException": "a class is not there: name its jar in "
    '"spark.jars" = "..." under [spark]',
}


class MissingError(RuntimeError):
    """What a command needs is not installed; the words say how to get it."""


def in_words(error: BaseException) -> str:
    """Return what an error of Spark's, or of ours inside of Spark's, says to people.

    >>> in_words(ValueError("no such thing"))
    'no such thing'
    """
    text = str(error)
    found = _TRACEBACK.findall(text)
    words = found[-1].strip() if found else _first_paragraph(text)
    while _CLASS.match(words) and _CLASS.sub("", words, count=1):
        words = _CLASS.sub("", words, count=1)
    remedies = [remedy for sign, remedy in _REMEDIES.items() if sign in text]
    words = re.sub(r"\s*SQLSTATE: \w+", "", _CONDITION.sub("", words)) or type(error).__name__
    notes = getattr(error, "__notes__", [])
    return "; ".join([words.rstrip("."), *remedies[:1], *notes])


def _first_paragraph(text: str) -> str:
    text = re.sub(r"^An error occurred while calling \S+\s*:\s*", "", text)
    text = re.sub(r"^(\[\w+\] )?Query \[id = .*?\] terminated with exception: ", "", text)
    text = re.split(r"\n\s*at |\n\nJVM stacktrace|\n==|=== Streaming Query", text)[0]
    return " ".join(text.split())
