"""Keeps a request body that is longer than any view takes from being stored, whatever it is sent as and wherever to.

Two parts, because the framework can neither read a body of unknown length nor answer before it has found the view:
the server's side learns the length, the middleware refuses. A refused body is read to its end as far as is bearable:
a browser that cannot finish sending shows no answer.
"""

from collections.abc import Callable, Iterable
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from reviews.limits import BodyTooLargeError

PIECE_BYTES = 2**16
IN_MEMORY_BYTES = 2**20
MAX_DROPPED_BYTES = 2**30

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def measured_body(application: Application) -> Application:
    """Return the WSGI application behind a reader that gives every body its length and drops one that is too long."""

    def measured(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        sent = environ["wsgi.input"]
        length = body_length(environ)
        if not environ.get("CONTENT_LENGTH") and environ.get("HTTP_TRANSFER_ENCODING"):
            # As long as the request's environment lives, so does the file; it has no name that would stay behind.
            kept = SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115 - the view reads it after this has returned
            length = keep(sent, kept)
            environ["wsgi.input"], environ["CONTENT_LENGTH"] = kept, str(length)
        if length > settings.MAX_BODY_BYTES:
            drop(sent, MAX_DROPPED_BYTES)
            environ["wsgi.input"] = BytesIO()
        return application(environ, start_response)

    return measured


class BodyLimit:
    """Refuses a body that is longer than ``MAX_BODY_BYTES`` before anything reads it, a form's protection included.

    Raises:
        BodyTooLargeError: it is.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: object, args: object, kwargs: object) -> None:
        """Judge the length once it is known who asks for what."""
        length = body_length(request.META)
        if length > settings.MAX_BODY_BYTES:
            # Of a body in chunks nobody knows how long it would have become.
            raise BodyTooLargeError(None if "HTTP_TRANSFER_ENCODING" in request.META else length)


def body_length(environ: dict[str, Any]) -> int:
    """Return how many bytes a request says that its body has; 0 where it says nothing that is a number."""
    text = environ.get("CONTENT_LENGTH") or "0"
    # More digits than any length has say "too long" as well as all of them do.
    return int(text.lstrip("0")[:18] or 0) if text.isascii() and text.isdigit() else 0


def keep(sent: IO[bytes], kept: IO[bytes]) -> int:
    """Copy a body of unknown length; return its length, or one byte more than is taken where it is longer."""
    most, length = settings.MAX_BODY_BYTES, 0
    while length <= most and (piece := sent.read(PIECE_BYTES)):
        length += len(piece)
        kept.write(piece)
    kept.seek(0)
    return min(length, most + 1)


def drop(sent: IO[bytes], most: int) -> None:
    """Read what is left of a body, at most so many bytes."""
    while most > 0 and (piece := sent.read(PIECE_BYTES)):
        most -= len(piece)
