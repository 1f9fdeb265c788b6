"""The server of the page: Python's own HTTP server, and what keeps strangers out."""

from __future__ import annotations

import errno
import json
import secrets
import socket
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from sash.live._access import Access, bracketed, is_loopback
from sash.live._api import Api, ParameterError
from sash.live._connections import MOST_CONNECTIONS, Connections, Phase
from sash.live._file import check_place

MOST_URL = 8192
_NO_ROOM = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/chart.js": ("chart.js", "text/javascript; charset=utf-8"),
    "/panels.js": ("panels.js", "text/javascript; charset=utf-8"),
    "/moves.js": ("moves.js", "text/javascript; charset=utf-8"),
    "/picker.js": ("picker.js", "text/javascript; charset=utf-8"),
    "/words.js": ("words.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class _Answer(NamedTuple):
    status: int
    type: str
    body: bytes
    headers: dict[str, str]


def _json(status: int, value: Any, **headers: str) -> _Answer:
    body = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    return _Answer(status, "application/json; charset=utf-8", body, headers)


def _error(status: int, words: str) -> _Answer:
    return _json(status, {"error": words})


class _Site:
    """All that can be asked for, whatever carries the question."""

    def __init__(self, path: Path, access: Access) -> None:
        self._api = Api(path)
        self._access = access
        package = resources.files("sash.live")
        self._files = {
            path: _Answer(200, type_, package.joinpath(name).read_bytes(), {})
            for path, (name, type_) in _FILES.items()
        }

    def answer(self, method: str, target: str, headers: Any) -> _Answer:
        """Return the answer to a request."""
        if not self._access.knows_host(headers.get("Host")):
            return _error(403, "this name is not one of the server's: use the address it printed")
        if method != "GET":
            return _error(405, "only GET is answered")._replace(headers={"Allow": "GET"})
        if len(target) > MOST_URL:
            return _error(414, f"the address is longer than {MOST_URL} characters")
        try:
            url = urlsplit(target)
            params = dict(parse_qsl(url.query, keep_blank_values=True, max_num_fields=20))
        except ValueError:
            return _error(400, "this address cannot be read")
        token = params.pop("token", None)
        cookies, bearer = headers.get("Cookie"), headers.get("Authorization")
        if not self._access.allows(token, bearer, cookies):
            return _error(401, "open the address with the token that the server printed")
        if token is not None and self._access.token is not None and url.path in self._files:
            place = url.path + ("?" + urlencode(params) if params else "")
            found = _Answer(303, "text/plain", b"", {"Location": place})
            found.headers["Set-Cookie"] = self._access.cookie_header()
            return found
        return self._file_or_api(url.path, params)

    def _file_or_api(self, path: str, params: dict[str, str]) -> _Answer:
        if path in self._files:
            return self._files[path]
        folder, _, name = path.rpartition("/")
        try:
            answer = self._api.answer(name, params) if folder == "/api" else None
        except ParameterError as error:
            return _error(400, str(error))
        return _error(404, "there is nothing here") if answer is None else _json(200, answer)


class _Handler(BaseHTTPRequestHandler):
    """Reads a request, writes the answer. Says nothing on the terminal."""

    protocol_version = "HTTP/1.1"
    server: _Http

    def version_string(self) -> str:
        """Return the name of the server, without versions."""
        return "sash"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def handle_one_request(self) -> None:
        """Wait for a request, and answer it."""
        self._enter(Phase.READING)
        super().handle_one_request()

    def _enter(self, phase: Phase) -> None:
        self.server.connections.enter(self.request, phase)

    def parse_request(self) -> bool:
        """Read the request and answer it here, whatever its method is."""
        if not super().parse_request():
            return False
        self._enter(Phase.ANSWERING)
        if self.command != "GET":
            self.close_connection = True  # there may be a body, which is not read
        try:
            answer = self.server.site.answer(self.command, self.path, self.headers)
        except Exception:
            self.server.report(self.request, self.client_address)
            answer = _error(500, "this went wrong; the server's terminal says how")
        self._write(answer)
        return False

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that HTTP itself does not allow."""
        self.close_connection = True
        if not hasattr(self, "request_version") or self.request_version == "HTTP/0.9":
            self.request_version = self.protocol_version
        self.command = getattr(self, "command", None) or "GET"
        self._write(_error(code, message or HTTPStatus(code).phrase))

    def _write(self, answer: _Answer) -> None:
        self._enter(Phase.SENDING)
        self.send_response(answer.status)
        sent = {"Content-Type": answer.type, "Content-Length": str(len(answer.body))}
        if self.close_connection:
            sent["Connection"] = "close"
        for name, value in {**_HEADERS, **sent, **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)


class _Http(HTTPServer):
    """A thread for each connection, but not for any number of them."""

    request_queue_size = MOST_CONNECTIONS
    timeout = 0.2  # how soon `Server.run` sees that it is to end, or a connection is overdue
    site: _Site

    def __init__(self, address: tuple[str, int], family: socket.AddressFamily) -> None:
        self.address_family = family
        self.connections = Connections()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind, without asking for this machine's name, which may take long."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection; where there is no room in the system for it, close another one."""
        try:
            return super().get_request()
        except OSError as error:
            if error.errno in _NO_ROOM and not self.connections.close_slowest():
                time.sleep(self.timeout)  # the newcomer still waits: do not ask again at once
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin a thread, or refuse when all connections are at work."""
        if not self.connections.admit(request, str(client_address[0])):
            self.shutdown_request(request)
            return
        thread = threading.Thread(target=self._serve, args=(request, client_address))
        try:
            thread.start()
        except BaseException:
            self.connections.release(request)  # there is no thread that would
            raise

    def _serve(self, request: Any, client_address: Any) -> None:
        """Answer the requests of one connection, in its thread."""
        try:
            self.finish_request(request, client_address)
        except Exception:
            self.handle_error(request, client_address)
        finally:
            self.shutdown_request(request)
            self.connections.release(request)

    def server_close(self) -> None:
        """Stop listening, end all connections and wait for their threads."""
        super().server_close()
        self.connections.close_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report what went wrong, but not that a browser went away."""
        if not isinstance(sys.exception(), OSError):
            self.report(request, client_address)

    def report(self, request: Any, client_address: Any) -> None:
        """Print the current exception on the terminal."""
        super().handle_error(request, client_address)


class Server:
    """A server that has its address already. `run` answers requests, `close` ends it."""

    def __init__(self, http: _Http, url: str, token: str | None) -> None:
        self._http = http
        self.url = url
        self.token = token
        self._running = threading.Lock()
        self._closing = threading.Event()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._http.server_port)

    def run(self) -> None:
        """Answer requests until `close` is called or Ctrl-C is pressed."""
        with self._running:
            try:
                while not self._closing.is_set():
                    self._http.handle_request()
                    self._http.connections.close_overdue()
            except KeyboardInterrupt:
                self._closing.set()
            self._http.server_close()

    def close(self) -> None:
        """End `run`, wherever it runs, and let go of the port."""
        self._closing.set()
        with self._running:
            self._http.server_close()


def serve(
    path: str | Path, *, host: str = "127.0.0.1", port: int = 0, token: str | None = None
) -> Server:
    """Return a server of the page for the history at ``path``, which may come later.

    Port 0 is any free one. An address that others can reach needs a token: one is made where none
    is given. `Server.url` has it. Raises `HistoryError` where no history can be: at a directory, a
    named pipe or a device.
    """
    check_place(Path(path))
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(32)
    if token is not None and (len(token) < 8 or not _is_plain(token)):
        raise ValueError("a token must have at least 8 letters, digits, '-' or '_', and no others")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        http = _Http((host, port), family)
    except OSError as error:
        raise OSError(f"cannot listen on {bracketed(host)}:{port}: {error.strerror}") from error
    http.site = _Site(Path(path), Access(host, http.server_port, token))
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    query = f"?token={token}" if token is not None else ""
    return Server(http, f"http://{bracketed(name)}:{http.server_port}/{query}", token)


def _is_plain(token: str) -> bool:
    return token.isascii() and token.replace("-", "").replace("_", "").isalnum()
