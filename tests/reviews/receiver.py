"""A real HTTP receiver on a free port of this machine."""

import http.server
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Receiver:
    """What a receiver was sent; it answers with ``status``, and leads elsewhere with ``location``."""

    url: str = ""
    status: int = 204
    location: str = ""
    calls: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def receiving(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Receive for the length of a block; with ``tls``, under it."""
    kept = Receiver()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept.calls.append((self.path, dict(self.headers), body))
            self.send_response(kept.status)
            if kept.location:
                self.send_header("Location", kept.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Keep the test's output clean."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    kept.url = f"http://127.0.0.1:{server.server_port}/hook?a=b"
    yield kept
    server.shutdown()
    server.server_close()
    thread.join()
