"""Addresses of databases: a strict grammar for each database that is known.

A driver reads more from its address than where the database is: properties that name classes,
scripts and files, in several notations. What the grammar here takes is a plain place and properties
that are known to be harmless; everything else needs trust, also what is harmless and not listed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_HOST = r"(?:[A-Za-z0-9][\w.-]*|\[[0-9A-Fa-f:.]+\])"
_SERVER = rf"{_HOST}(?::\d{{1,5}})?"
_SERVERS = rf"{_SERVER}(?:,{_SERVER})*"
_NAME = r"[\w$.-]*"
_FILE = r"(?:[A-Za-z]:/)?[\w./~+@ -]+"
_VALUE = re.compile(r"[\w.:/+ -]*", re.ASCII)


@dataclass(frozen=True)
class Grammar:
    """How a database's addresses look: the place, then properties ``name=value``."""

    place: str
    begin: str = "?"
    """What comes before the first property."""
    between: str = "&"
    properties: str = ""
    """Names of harmless properties, in small letters, with spaces between them."""

    def wrong(self, address: str) -> str | None:
        """Return the part of an address that is not known to be harmless."""
        place = re.match(self.place, address, re.ASCII)
        rest = address[place.end() :] if place else address
        if place is None or (rest and not rest.startswith(self.begin)):
            return "the place of the database"
        for one in filter(None, rest[len(self.begin) :].split(self.between)):
            name, _, value = one.partition("=")
            if name.strip().lower() not in self.properties.split() or not _VALUE.fullmatch(value):
                return f"the property {name.strip()!r}"
        return None


_OF_POSTGRESQL = (
    "applicationname connecttimeout currentschema logintimeout rewritebatchedinserts "
    "sockettimeout ssl sslmode targetservertype tcpkeepalive"
)
_OF_MYSQL = (
    "characterencoding connecttimeout connectiontimezone requiressl rewritebatchedstatements "
    "servertimezone sockettimeout sslmode tcpkeepalive timezone useunicode usessl"
)
_OF_SQLSERVER = (
    "applicationname database databasename encrypt hostnameincertificate instancename "
    "logintimeout portnumber querytimeout sockettimeout trustservercertificate"
)
GRAMMARS = {
    "postgresql": Grammar(rf"//{_SERVERS}/{_NAME}|/|[\w$-]*", "?", "&", _OF_POSTGRESQL),
    "mysql": Grammar(rf"//{_SERVERS}(?:/{_NAME})?", "?", "&", _OF_MYSQL),
    "mariadb": Grammar(rf"//{_SERVERS}(?:/{_NAME})?", "?", "&", _OF_MYSQL),
    "sqlserver": Grammar(rf"//{_HOST}(?:\\[\w$]+)?(?::\d{{1,5}})?", ";", ";", _OF_SQLSERVER),
    "oracle": Grammar(
        rf"thin:@(?:{_HOST}:\d{{1,5}}:{_NAME}|(?:(?:tcps?:)?//)?{_SERVER}(?:/{_NAME})?)"
    ),
    "db2": Grammar(rf"//{_SERVER}/{_NAME}", ":", ";", "currentschema logintimeout sslconnection"),
    "sqlite": Grammar(rf":memory:|{_FILE}"),
    "h2": Grammar(
        rf"mem:{_NAME}|(?:tcp|ssl)://{_SERVER}/{_FILE}|(?:file:)?{_FILE}",
        ";", ";", "db_close_delay db_close_on_exit ifexists mode",
    ),
    "derby": Grammar(
        rf"(?://{_SERVER}/)?(?:memory:|directory:)?{_FILE}", ";", ";", "create",
    ),
}  # fmt: skip


def unknown_part(url: str) -> str | None:
    """Return what in an address of JDBC's is not known to be harmless, without its value.

    >>> unknown_part("jdbc:postgresql://localhost/metrics?ssl=true")
    >>> unknown_part("jdbc:postgresql://localhost/metrics?socketFactory=x.Y")
    "the property 'socketFactory'"
    """
    _, kind, address = [*url.split(":", 2), "", ""][:3]
    grammar = GRAMMARS.get(kind)
    if grammar is None:
        return f"the kind of database {kind!r}"
    return grammar.wrong(address)
