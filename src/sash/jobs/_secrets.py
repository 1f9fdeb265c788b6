"""Passwords and other secrets, and how they are kept out of what people and files see."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

HIDDEN = "***"
_NAME = re.compile(
    r"passw|pwd|passphrase|secret|token|api[-_.]?key|access[-_.]?key|jaas", re.IGNORECASE
)
_ADDRESS = re.compile(
    r"""(?<![\w+.-])(?:jdbc:|[a-z][a-z0-9+.-]{0,30}://)(?:\{[^{}\n]*\}|[^\s'"])+""", re.IGNORECASE
)
_PORT = re.compile(r"\d{1,5}[/?;,]")
_LOGIN = re.compile(r":[^:@/?;,\]]*@")


def is_secret_name(name: str) -> bool:
    """Whether a setting, option or property of this name holds a secret."""
    return _NAME.search(name) is not None and not name.endswith("_env")


def redacted(text: str) -> str:
    """Return text in which no address shows a secret; all other text stays as it is.

    >>> redacted("no route to jdbc:mysql://me:geheim@host/db?user=a&password=b, token=1")
    'no route to jdbc:mysql://me:***@host/db?user=a&password=*** token=1'
    """
    return _ADDRESS.sub(lambda found: _cut(found[0]), text)


def has_secret(address: str) -> bool:
    """Whether an address holds a password or another secret, in any notation that drivers read."""
    return _cut(address) != address


def without_secrets(value: Any, name: str = "") -> Any:
    """Return a value to be shown, without secrets; tables by the names in them."""
    if isinstance(value, Mapping):
        return {key: without_secrets(one, str(key)) for key, one in value.items()}
    if isinstance(value, list):
        return [without_secrets(one, name) for one in value]
    if is_secret_name(name) and value is not None:
        return HIDDEN
    return _shown(value) if isinstance(value, str) else value


def _shown(text: str) -> str:
    """Hide all of a text that is an address with a secret: where that ends is hard to say."""
    is_address = text.lower().startswith("jdbc:") or "://" in text
    return HIDDEN if is_address and has_secret(text) else text


def _cut(address: str) -> str:
    """Return an address without its password, and without what follows a secret property."""
    pieces = _without_login(address).split("=")
    for i, piece in enumerate(pieces[:-1]):
        if is_secret_name(unquote(re.split(r"[^\w.%-]", piece.rstrip())[-1])):
            return "=".join([*pieces[: i + 1], HIDDEN])
    return "=".join(pieces)


def _without_login(address: str) -> str:
    """Return an address without the password in ``//user:password@``, or in Oracle's notation."""
    if address.lower().startswith("jdbc:oracle:"):
        return _without_login_of_oracle(address)
    begin, slashes, rest = address.partition("//")
    head, at, place = rest.rpartition("@")
    if not _ends_with_password(head + at):
        return address
    return f"{begin}{slashes}{head.partition(':')[0]}:{HIDDEN}@{place}"


def _ends_with_password(head: str) -> bool:
    """Whether ``user:password@``, which may hold any sign, or the port of a host and more."""
    name, colon, rest = re.sub(r"^\[[^\]]*\]", "", head).partition(":")
    is_first = bool(colon) and not set("/?;") & set(name) and not _PORT.match(rest)
    return is_first or _LOGIN.search(head) is not None


def _without_login_of_oracle(address: str) -> str:
    """Return an address without the password in ``thin:user/password@host``."""
    login = address.partition("@")[0]
    if login == address or "/" not in login:
        return address
    return f"{login.partition('/')[0]}/{HIDDEN}@{address.rpartition('@')[2]}"
