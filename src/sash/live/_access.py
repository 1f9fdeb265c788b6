"""Who may see the page: checks of the token and of the name that a browser used for us."""

from __future__ import annotations

import ipaddress
import secrets


def is_loopback(host: str) -> bool:
    """Return whether an address can only be reached from this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name: it may be anything


class Access:
    """What a request must have to be answered."""

    def __init__(self, host: str, port: int, token: str | None) -> None:
        self.token = token
        self.cookie = f"sash_live_{port}"  # cookies know hosts, but not ports
        self._hosts: set[str] | None = None
        if is_loopback(host):
            names = {bracketed(host).lower(), "localhost", "127.0.0.1", "[::1]"}
            ports = [f":{port}", ""] if port == 80 else [f":{port}"]
            self._hosts = {name + end for name in names for end in ports}

    def knows_host(self, header: str | None) -> bool:
        """Return whether the Host header is ours.

        A page of another site may have its own name point to this machine, and read what we
        answer as if it were its own. The browser then still sends that other name.
        """
        return self._hosts is None or (header or "").strip().lower() in self._hosts

    def allows(self, in_query: str | None, authorization: str | None, cookies: str | None) -> bool:
        """Return whether one of the three places has the token, or none is needed."""
        if self.token is None:
            return True
        bearer = (authorization or "").removeprefix("Bearer ").strip()
        given = (in_query, bearer, self._from_cookie(cookies))
        right = [self._is_token(one) for one in given]  # all of them, whichever is right
        return any(right)

    def cookie_header(self) -> str:
        """Return the header that makes a browser remember the token."""
        return f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"

    def _is_token(self, given: str | None) -> bool:
        known = (self.token or "").encode()
        return secrets.compare_digest((given or "").encode("utf-8", "replace"), known)

    def _from_cookie(self, header: str | None) -> str | None:
        # By hand: the standard parser gives up at cookies of others that it does not like.
        pairs = (part.strip().partition("=") for part in (header or "").split(";"))
        return next((value for name, _, value in pairs if name == self.cookie), None)


def bracketed(host: str) -> str:
    """Return a host as addresses write it: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host
