"""Talks to a Topogate server: the only module of the command line that uses the network.

Rules kept: https certificates are verified; a token goes to the host that was named and nowhere else, so redirects
are not followed and no proxy is asked; a document is sent byte for byte; a request that got no answer is sent again,
which is safe because a submission carries an idempotency key.
"""

import hashlib
import json
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

from planner.errors import PlannerError
from planner.version import PLANNER_VERSION

__all__ = ["Answer", "Client", "NotReachedError", "ServerAddressError", "multipart", "page_address"]

REQUEST_SECONDS = 60.0
TRIES = 4
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
LONGEST_ANSWER_BYTES = 64 * 2**20
BUSY = frozenset({429, 502, 503, 504})
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

Sleep = Callable[[float], None]


class NotReachedError(PlannerError):
    """The server gave no answer, or none that a Topogate server gives; the text is the whole message."""


class ServerAddressError(PlannerError):
    """The address of the server cannot be used; the text is the whole message."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the server; ``value`` is the JSON of its body."""

    status: int
    value: dict[str, Any]


Files = Mapping[str, bytes] | Sequence[tuple[str, bytes]]
"""Files by the name of their part; as pairs where a name stands more than once."""


def multipart(fields: Mapping[str, str], files: Files) -> tuple[str, bytes]:
    """Return content type and body of a form with files. The boundary follows from the content."""
    parts = list(files.items() if isinstance(files, Mapping) else files)
    digest = hashlib.sha256()
    for name, data in sorted(parts):
        digest.update(name.encode() + b"\0" + data)
    boundary = f"topogate-{digest.hexdigest()}"
    pieces = []
    for name, text in fields.items():
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
        pieces.append(head.encode() + text.encode() + b"\r\n")
    for name, data in parts:
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}.json"\r\n\r\n'
        pieces += [head.encode(), data, b"\r\n"]
    return f"multipart/form-data; boundary={boundary}", b"".join([*pieces, f"--{boundary}--\r\n".encode()])


class Client:
    """One server, asked with one token."""

    def __init__(self, server: str, token: str, *, plain_http: bool = False, sleep: Sleep = time.sleep) -> None:
        """Take the server's address, with a path in front of ``/api`` if it has one.

        Raises:
            ServerAddressError: it is no such address, or the token would travel in the open.
        """
        self._at = _split(server)
        if self._at.scheme == "http" and self._at.hostname not in LOOPBACK and not plain_http:
            raise ServerAddressError(f"--server: expected https, found {server}. The token would be sent unencrypted.")
        self._token = token
        self._sleep = sleep

    def get(self, path: Sequence[str]) -> Answer:
        """Ask for what is at a path below ``/api/v1``, given segment by segment.

        Raises:
            NotReachedError: there is no answer after several tries.
        """
        return self._ask("GET", _joined(path), {}, b"")

    def post(self, path: Sequence[str], *, fields: Mapping[str, str], files: Files, key: str) -> Answer:
        """Send a form with files; the same key again never does it twice.

        Raises:
            NotReachedError: there is no answer after several tries.
        """
        content_type, body = multipart(fields, files)
        return self._ask("POST", _joined(path), {"Content-Type": content_type, "Idempotency-Key": key}, body)

    def _ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        pause, reason = FIRST_PAUSE_SECONDS, ""
        for left in reversed(range(TRIES)):
            try:
                response, data = self._once(method, path, headers, body)
            except ssl.SSLCertVerificationError as error:
                raise NotReachedError(f"{self._at.netloc}: {error.verify_message}") from error
            except (OSError, HTTPException) as error:
                reason = str(error) or type(error).__name__
            else:
                if response.status not in BUSY:
                    return self._answer(response, data)
                reason = f"it answered {response.status}"
                pause = _asked_pause(response, pause)
            if left:
                self._sleep(min(pause, LONGEST_PAUSE_SECONDS))
                pause *= 2
        raise NotReachedError(f"{self._at.netloc}: not reached in {TRIES} tries: {reason}")

    def _once(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[HTTPResponse, bytes]:
        connection = self._connection()
        sent = {
            "Authorization": f"Bearer {self._token}",
            "Accept": "application/json",
            "User-Agent": f"topogate/{PLANNER_VERSION}",
            **headers,
        }
        try:
            # A server that refuses before it has read everything hangs up on the rest, and has answered already.
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.request(method, f"{self._at.path.rstrip('/')}/api/v1/{path}", body or None, sent)
            response = connection.getresponse()
            return response, response.read(LONGEST_ANSWER_BYTES)
        finally:
            connection.close()

    def _connection(self) -> HTTPConnection:
        host = self._at.hostname or ""
        if self._at.scheme == "https":
            context = ssl.create_default_context()
            return HTTPSConnection(host, self._at.port, timeout=REQUEST_SECONDS, context=context)
        return HTTPConnection(host, self._at.port, timeout=REQUEST_SECONDS)

    def _answer(self, response: HTTPResponse, data: bytes) -> Answer:
        if 300 <= response.status < 400:
            where = response.getheader("Location", "elsewhere")
            raise NotReachedError(f"{self._at.netloc}: it answered {response.status} and names {where[:200]}")
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise NotReachedError(f"{self._at.netloc}: it answered {response.status}, not as a Topogate server")
        return Answer(response.status, value)


def page_address(server: str, path: Sequence[str]) -> str:
    """Return the address of a page of a server, given segment by segment.

    Raises:
        ServerAddressError: the server's address is none.
    """
    at = _split(server)
    return f"{at.scheme}://{at.netloc}{at.path.rstrip('/')}/{_joined(path)}"


def _split(server: str) -> SplitResult:
    try:
        parts = urlsplit(server)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known or parts.username or parts.query or parts.fragment or quote(parts.path, safe="/%") != parts.path:
        raise ServerAddressError(f"--server: expected http(s)://host, found {server!r}")
    return parts


def _joined(path: Sequence[str]) -> str:
    return "/".join(quote(segment, safe="") for segment in path)


def _asked_pause(response: HTTPResponse, otherwise: float) -> float:
    asked = response.getheader("Retry-After", "")
    return float(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else otherwise
