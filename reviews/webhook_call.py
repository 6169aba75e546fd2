"""Calls a webhook of somebody else's machine, and nothing that is not meant to be called.

Rules kept: https alone, to hosts that an administrator of the installation listed; a name is looked up once, every
address of the answer has to be public, and the connection goes to an address that was looked at, so an answer that
changes meanwhile changes nothing; no redirect is followed; body, answer and time are bounded. Plain http goes only to a
loopback address that is listed as ``http://127.0.0.1:PORT``, for trying things out. A proxy is used where the
installation names one: it is told the host, looks it up, and judges the address in our place; TLS goes through it.
"""

import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

CONNECT_SECONDS = 5.0
DEADLINE_SECONDS = 15.0
MAX_BODY_BYTES = 64 * 1024
MAX_ANSWER_BYTES = 4096
URL_LENGTH = 500
Address = tuple[str, int]
"""Host or number, and port."""
_UNICAST = ipaddress.ip_network("2000::/3")
"""All that was ever handed out of IPv6; outside of it are translations into IPv4 and addresses of a site."""
_SPECIAL = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")))
"""Kept for protocols, for relays and for documents, which some versions of Python call global."""


class CallRefusedError(Exception):
    """A call that is not made, or whose answer does not count; the message says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a call goes."""

    host: str
    port: int
    path: str
    is_plain: bool


def target_of(url: str, listed: Collection[str]) -> Target:
    """Return where an address leads.

    ``listed`` are hosts (``hooks.example.org``, ``hooks.example.org:8443``) and loopback addresses
    (``http://127.0.0.1:9000``).

    Raises:
        CallRefusedError: it is no https address, or leads to a host that is not listed.
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError as error:
        raise CallRefusedError(f"It is no address: {error}.") from error
    if len(url) > URL_LENGTH or not url.isascii() or not url.isprintable() or " " in url:
        raise CallRefusedError(f"An address has at most {URL_LENGTH} printable ASCII characters and no space.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise CallRefusedError("An address has no user, no password and no fragment.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if _is_listed_loopback(parts, listed):
        return Target(host, port or 80, path, is_plain=True)
    if parts.scheme != "https":
        raise CallRefusedError("Webhooks are called by https alone.")
    name = host if port in (None, 443) else f"{host}:{port}"
    if not host or name not in listed:
        raise CallRefusedError(f"{name or 'No host'} is not listed by the administrator of this installation.")
    return Target(host, port or 443, path, is_plain=False)


def _is_listed_loopback(parts: SplitResult, listed: Collection[str]) -> bool:
    if parts.scheme != "http" or f"http://{parts.netloc}" not in listed:
        return False
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


def public_address(host: str, port: int) -> str:
    """Look a name up once and return an address to connect to.

    Raises:
        CallRefusedError: there is no address, or one of them is not public.
    """
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise CallRefusedError(f"{host} cannot be looked up: {error}.") from error
    addresses = [str(answer[4][0]) for answer in answers]
    private = [address for address in addresses if not is_public(address)]
    if private or not addresses:
        raise CallRefusedError(f"{host} leads to {private[0] if private else 'nowhere'}, which is no public address.")
    return addresses[0]


def is_public(text: str) -> bool:
    """Whether an address belongs to the internet at large, whatever it is wrapped in."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None and not address.scope_id:
            address = address.ipv4_mapped
        elif address.scope_id or address.sixtofour or address.teredo or address not in _UNICAST:
            return False
    is_special = any(address in network for network in _SPECIAL)
    return address.is_global and not address.is_multicast and not is_special


class _Pinned(http.client.HTTPConnection):
    """A connection to one address under the name of a host; with ``context``, under TLS with that name."""

    def __init__(self, target: Target, at: Address, context: ssl.SSLContext | None) -> None:
        super().__init__(target.host, target.port, timeout=CONNECT_SECONDS)
        self.default_port = 80 if context is None else 443
        self._at, self._context = at, context

    def connect(self) -> None:
        """Connect to the address that was looked at."""
        self.sock = self.reached()
        if self._context is not None:
            self.sock = self._context.wrap_socket(self.sock, server_hostname=self.host)

    def reached(self) -> socket.socket:
        """Return a socket that leads to the host."""
        return socket.create_connection(self._at, CONNECT_SECONDS)


class _Proxied(_Pinned):
    """The same through a proxy, which is asked to connect to the host by its name."""

    def reached(self) -> socket.socket:
        """Ask the proxy.

        Raises:
            CallRefusedError: it does not connect.
        """
        # Kept at once, so that the deadline ends this as well.
        self.sock = to_host = super().reached()
        name = f"{self.host}:{self.port}"
        to_host.sendall(f"CONNECT {name} HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
        answer = http.client.HTTPResponse(to_host, method="CONNECT")
        answer.begin()
        if answer.status != 200:
            raise CallRefusedError(f"The proxy answered {answer.status}.")
        return to_host


def post(
    url: str, body: bytes, headers: Mapping[str, str], listed: Collection[str], *, proxy: Address | None = None
) -> int:
    """Send a body and return the status that was answered, 200 to 299.

    ``proxy`` is where a proxy listens that leads to hosts by https.

    Raises:
        CallRefusedError: the address is not to be called, or the answer is a redirect or an error.
        OSError: nobody answered in time.
    """
    if len(body) > MAX_BODY_BYTES:
        raise CallRefusedError(f"A message has at most {MAX_BODY_BYTES:,} bytes.")
    target = target_of(url, listed)
    connection = _connection(target, proxy)
    deadline = threading.Timer(DEADLINE_SECONDS, _cut, [connection])
    deadline.daemon = True
    deadline.start()
    try:
        connection.request("POST", target.path, body, dict(headers))
        answer = connection.getresponse()
        answer.read(MAX_ANSWER_BYTES)
    except http.client.HTTPException as error:
        raise CallRefusedError(f"The answer is no HTTP: {type(error).__name__}.") from error
    finally:
        deadline.cancel()
        connection.close()
    if 300 <= answer.status < 400:
        raise CallRefusedError(f"It answered {answer.status}, a redirect. None is followed.")
    if not 200 <= answer.status < 300:
        raise CallRefusedError(f"It answered {answer.status}.")
    return answer.status


def _connection(target: Target, proxy: Address | None) -> _Pinned:
    if target.is_plain:
        return _Pinned(target, (target.host, target.port), None)
    context = ssl.create_default_context()
    if proxy is not None:
        return _Proxied(target, proxy, context)
    return _Pinned(target, (public_address(target.host, target.port), target.port), context)


def _cut(connection: Any) -> None:
    """End a connection whose time is over; whoever reads from it gets an error."""
    if connection.sock is not None:
        try:
            connection.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return
