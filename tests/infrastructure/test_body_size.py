"""A body that is longer than any view takes is answered in words and not stored, whatever it is sent as."""

import io
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse

from config.body_size import BodyLimit, measured_body
from reviews.limits import BodyTooLargeError, passed_limit

MOST = 1000


class Body(io.BytesIO):
    """A body that tells how much of it was read."""

    @property
    def left(self) -> int:
        return len(self.getvalue()) - self.tell()


@pytest.fixture(autouse=True)
def limit(settings: Any) -> None:
    settings.MAX_BODY_BYTES = MOST


def passed_on(sent: Body, **environ: str) -> tuple[bytes, str]:
    """Return what the application behind the reader finds: the body and its length."""
    found: dict[str, Any] = {}

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        found.update(environ)
        return []

    measured_body(application)({"wsgi.input": sent, **environ}, None)
    return found["wsgi.input"].read(), found.get("CONTENT_LENGTH", "")


def test_a_body_of_known_length_is_left_to_the_view() -> None:
    sent = Body(b"a" * MOST)
    assert passed_on(sent, CONTENT_LENGTH=str(MOST)) == (b"a" * MOST, str(MOST))


def test_a_chunked_body_gets_its_length() -> None:
    assert passed_on(Body(b"abc"), HTTP_TRANSFER_ENCODING="chunked") == (b"abc", "3")


@pytest.mark.parametrize(
    "said",
    [
        pytest.param({"CONTENT_LENGTH": str(MOST + 700)}, id="with a length"),
        pytest.param({"HTTP_TRANSFER_ENCODING": "chunked"}, id="in chunks"),
    ],
)
def test_a_body_that_is_too_long_is_read_to_its_end_and_dropped(said: dict[str, str]) -> None:
    sent = Body(b"a" * (MOST + 700))
    body, length = passed_on(sent, **said)
    assert (body, int(length) > MOST, sent.left) == (b"", True, 0)


@pytest.mark.parametrize(("length", "refused"), [(MOST, False), (MOST + 1, True)])
def test_the_limit_is_met_before_a_view_runs(length: int, refused: bool) -> None:
    request = HttpRequest()
    request.META["CONTENT_LENGTH"] = str(length)
    middleware = BodyLimit(lambda request: HttpResponse())
    if not refused:
        middleware.process_view(request, None, (), {})
        return
    with pytest.raises(BodyTooLargeError, match=f"The body has {length} bytes"):
        middleware.process_view(request, None, (), {})


def test_a_length_of_more_digits_than_any_is_over_the_limit() -> None:
    request = HttpRequest()
    request.META["CONTENT_LENGTH"] = "9" * 5000
    with pytest.raises(BodyTooLargeError):
        BodyLimit(lambda request: HttpResponse()).process_view(request, None, (), {})


def test_of_chunks_no_length_is_claimed() -> None:
    request = HttpRequest()
    request.META |= {"CONTENT_LENGTH": str(MOST + 1), "HTTP_TRANSFER_ENCODING": "chunked"}
    with pytest.raises(BodyTooLargeError) as refused:
        BodyLimit(lambda request: HttpResponse()).process_view(request, None, (), {})
    passed = passed_limit(refused.value)
    assert passed is not None
    assert (passed.expected, passed.found) == ("at most 1,000 bytes", "more")
