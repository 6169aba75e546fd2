"""Webhooks through an egress proxy, over real sockets: it leads to the host under TLS, and its no is told."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import http_proxy
from reviews.webhook_call import Address, CallRefusedError, post
from tests.reviews.receiver import Receiver, receiving
from tests.shared import ROOT

# Made for tests and trusted by nobody; for localhost.
CERTIFICATE = ROOT / "tests/data/tls/self-signed.pem"
OUTSIDE = "localhost:8443"
"""A host that is known to the proxy alone: nothing of this machine listens there."""


@dataclass
class Proxy:
    """Where it listens, and the first lines that it was asked with."""

    at: Address
    asked: list[str] = field(default_factory=list)


@contextmanager
def proxy(leads_to: Address, *, answer: str = "200 Connected") -> Iterator[Proxy]:
    """A proxy that takes one connection, answers it and passes bytes on, whatever it is asked for."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        kept = Proxy(listening.getsockname())

        def serve() -> None:
            caller, _ = listening.accept()
            with caller, socket.create_connection(leads_to) as host:
                kept.asked.append(caller.recv(4096).decode().split("\r\n")[0])
                caller.sendall(f"HTTP/1.1 {answer}\r\n\r\n".encode())
                back = threading.Thread(target=passed_on, args=(host, caller))
                back.start()
                passed_on(caller, host)
                back.join()

        serving = threading.Thread(target=serve)
        serving.start()
        yield kept
        serving.join()


def passed_on(source: socket.socket, to: socket.socket) -> None:
    """Pass on what comes until one side has enough."""
    with suppress(OSError):
        while piece := source.recv(4096):
            to.sendall(piece)
        to.shutdown(socket.SHUT_WR)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Receiver, Address]]:
    """Somebody who receives under TLS, and where."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    with receiving(context) as receiver:
        yield receiver, ("127.0.0.1", int(receiver.url.split(":")[2].split("/")[0]))


def test_a_message_goes_through_the_proxy_to_the_host(receiver: tuple[Receiver, Address]) -> None:
    received, at = receiver
    with proxy(at) as asked:
        assert post(f"https://{OUTSIDE}/hook", b"{}", {}, {OUTSIDE}, proxy=asked.at) == 204
    assert asked.asked == [f"CONNECT {OUTSIDE} HTTP/1.1"]
    ((path, headers, body),) = received.calls
    assert (path, headers["Host"], body) == ("/hook", OUTSIDE, b"{}")


def test_a_proxy_that_does_not_lead_there_is_told(receiver: tuple[Receiver, Address]) -> None:
    received, at = receiver
    with (
        proxy(at, answer="403 Forbidden") as asked,
        pytest.raises(CallRefusedError, match=r"^The proxy answered 403\.$"),
    ):
        post(f"https://{OUTSIDE}/hook", b"{}", {}, {OUTSIDE}, proxy=asked.at)
    assert received.calls == []


def test_a_host_that_is_not_listed_is_not_asked_for() -> None:
    with pytest.raises(CallRefusedError, match="is not listed"):
        post("https://elsewhere.example/", b"{}", {}, {OUTSIDE}, proxy=("127.0.0.1", 1))


@pytest.mark.parametrize("text", ["https://proxy.example:3128", "proxy:3128", "http://proxy", "http://proxy:0"])
def test_what_is_no_proxy_is_refused_at_the_start(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_PROXY", text)
    with pytest.raises(ImproperlyConfigured, match="WEBHOOK_PROXY: expected http://host:port"):
        http_proxy("WEBHOOK_PROXY")


@pytest.mark.parametrize(("text", "found"), [("", None), ("http://proxy.example:3128", ("proxy.example", 3128))])
def test_a_proxy_is_read(text: str, found: Address | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_PROXY", text)
    assert http_proxy("WEBHOOK_PROXY") == found
