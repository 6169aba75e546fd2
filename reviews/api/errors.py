"""The one exception handler: every refusal becomes problem details (RFC 9457), ``application/problem+json``.

``problems`` lists everything that is wrong with what was sent, never only the first. What is no refusal stays an error
of the server, which logs it, and is answered in the same form.
"""

import math
from dataclasses import asdict, dataclass, field
from functools import singledispatch
from typing import Any

from django.core.exceptions import (
    BadRequest,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import UnreadablePostError
from rest_framework.exceptions import APIException, ParseError, Throttled, UnsupportedMediaType
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from reviews.errors import ConflictError, Finding, InvalidRequestError, ReviewError
from reviews.limits import passed_limit

CONTENT_TYPE = "application/problem+json"
TITLES = {
    400: ("malformed_request", "The request is malformed"),
    401: ("not_authenticated", "Nobody is authenticated"),
    403: ("not_allowed", "Not allowed"),
    404: ("not_found", "Not found"),
    405: ("method_not_allowed", "The method is not offered here"),
    409: ("conflict", "The request does not fit the present state"),
    413: ("too_large", "The request is too large"),
    415: ("unsupported_content_type", "The content type is not taken here"),
    422: ("invalid_request", "The content of the request is wrong"),
    429: ("too_many_requests", "Too many requests"),
    500: ("server_failed", "The server failed"),
    503: ("database_away", "The database cannot be used now"),
}
"""Status -> code, where the refusal has none of its own, and title."""
FAILURES = {
    500: "Something went wrong that no rule foresaw. The server's log has the rest.",
    503: "It is away, full or busy. Ask again; with an Idempotency-Key, nothing is submitted twice.",
}
TOO_LARGE = frozenset({"json/size", "observations/size"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request was not carried out, as far as HTTP tells it."""

    status: int
    detail: str
    code: str = ""
    problems: tuple[Finding, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


def problem_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer a refused request; None leaves an unexpected error to Django."""
    refused = refusal(error)
    if refused is None:
        return None
    request = context["request"]
    headers = dict(refused.headers)
    if refused.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="topogate"'
    # Also where the view itself answers in something else than JSON.
    request.accepted_renderer, request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
    body = problem_body(refused, request.path)
    return Response(body, status=refused.status, headers=headers, content_type=CONTENT_TYPE)


def problem_of_unread(request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer a request that was turned away before any view saw it."""
    refused = refusal(error) or _of_malformed(error)
    return JsonResponse(problem_body(refused, request.path), status=refused.status, content_type=CONTENT_TYPE)


def problem_of_failure(request: HttpRequest, status: int) -> HttpResponse:
    """Answer what the server could not finish: 500, or 503 where its database cannot be used now."""
    body = problem_body(Refusal(status, FAILURES[status]), request.path)
    return JsonResponse(body, status=status, content_type=CONTENT_TYPE)


def problem_body(refused: Refusal, path: str) -> dict[str, Any]:
    """Return the problem details of a refusal of the request to ``path``."""
    code, title = TITLES[refused.status]
    code = refused.code or code
    return {
        "type": f"urn:topogate:problem:{code}",
        "title": title,
        "status": refused.status,
        "detail": refused.detail,
        "instance": path,
        "problems": [finding_json(finding) for finding in refused.problems],
        **refused.extra,
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """Return a finding as the API shows it: line and column only where they are known."""
    return {name: value for name, value in asdict(finding).items() if value is not None}


@singledispatch
def refusal(error: Exception) -> Refusal | None:
    """Say what a refused request is answered; None for what is an error of the server."""
    return None


@refusal.register
def _of_review(error: ReviewError) -> Refusal:
    return Refusal(error.status, error.message, error.code)


@refusal.register
def _of_invalid(error: InvalidRequestError) -> Refusal:
    count = len(error.problems)
    detail = f"{count} problem{'' if count == 1 else 's'}. Nothing was stored."
    status = 413 if any(finding.code in TOO_LARGE for finding in error.problems) else error.status
    return Refusal(status, detail, error.code, error.problems)


@refusal.register
def _of_conflict(error: ConflictError) -> Refusal:
    return Refusal(error.status, error.message, error.code, extra={"moved": list(error.moved)})


@refusal.register
def _of_framework(error: APIException) -> Refusal:
    return Refusal(error.status_code, str(error.detail), headers=_headers(error))


@refusal.register
def _of_content_type(error: UnsupportedMediaType) -> Refusal:
    return Refusal(error.status_code, "Expected multipart/form-data in UTF-8, found another content type.")


@refusal.register
def _of_absent(error: Http404) -> Refusal:
    return Refusal(404, "There is no such address.")


@refusal.register
def _of_denied(error: PermissionDenied) -> Refusal:
    return Refusal(403, "Not allowed.")


@refusal.register(RequestDataTooBig)
@refusal.register(TooManyFilesSent)
@refusal.register(TooManyFieldsSent)
def _of_passed_limit(error: Exception) -> Refusal:
    passed = passed_limit(error)
    if passed is None:
        return _of_malformed(error)
    return Refusal(413, f"{passed.sentence} Nothing was stored.", problems=(passed,))


@refusal.register(SuspiciousOperation)
@refusal.register(MultiPartParserError)
@refusal.register(ParseError)
@refusal.register(UnreadablePostError)
@refusal.register(BadRequest)
def _of_malformed(error: Exception) -> Refusal:
    return Refusal(400, "The request cannot be read as multipart/form-data. Nothing was stored.")


def _headers(error: APIException) -> dict[str, str]:
    wait = error.wait if isinstance(error, Throttled) else None  # type: ignore[attr-defined] # absent from the stubs
    return {} if wait is None else {"Retry-After": str(math.ceil(wait))}
