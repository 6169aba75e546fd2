"""A server that answers what a test wrote down, on a real socket: what a real one answers only on a bad day."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Say:
    """One answer; without a status the connection is closed without any."""

    status: int | None
    value: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class StandIn:
    """What was asked so far, and where."""

    address: str
    asked: list[Asked]


@contextmanager
def stand_in(*answers: Say, certificate: Path | None = None) -> Iterator[StandIn]:
    """Give these answers in order; the last one is repeated. With a certificate, by https."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            asked.append(Asked(self.command, self.path, dict(self.headers), body))
            say = answers[min(len(asked), len(answers)) - 1]
            if say.status is None:
                return
            data = say.value if isinstance(say.value, bytes) else json.dumps(say.value).encode()
            self.send_response(say.status)
            for name, text in say.headers.items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = answer  # noqa: N815 - the names that the base class calls

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
            scheme = "https"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield StandIn(f"{scheme}://127.0.0.1:{server.server_port}", asked)
        finally:
            server.shutdown()
            thread.join()
