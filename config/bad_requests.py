"""Answers requests that no view answers, turned away before or broken off within: with a page, or as the API does."""

import sys
from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from reviews.api.errors import problem_of_failure, problem_of_unread
from reviews.web.bad_requests import page_of_failure, page_of_method, page_of_unread

API = "/api/"
PLAIN = (API, "/health/")
"""Addresses that programs ask; the second must need no database."""
AWAY = (OperationalError, InterfaceError)
"""What the database raises where a request is not at fault: it is away, full, locked, or took too long."""
RETRY_SECONDS = "5"


def turned_away(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer as the address does."""
    answer = problem_of_unread if request.path.startswith(API) else page_of_unread
    return answer(request, exception)


def failed(request: HttpRequest) -> HttpResponse:
    """Answer what a view did not foresee: 503 where the database is at fault, which passes, else 500.

    The framework calls this while it handles the error, and has logged it.
    """
    status = 503 if isinstance(sys.exc_info()[1], AWAY) else 500
    answer = (problem_of_failure if request.path.startswith(API) else page_of_failure)(request, status)
    answer["Cache-Control"] = "no-store"
    if status == 503:
        answer["Retry-After"] = RETRY_SECONDS
    return answer


class MethodRefused:
    """Gives the empty answer of a view that does not take a method a page that says so.

    It is met by whoever opens the address of a form, as from the history of a browser.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        is_bare = isinstance(answer, HttpResponseNotAllowed) and not answer.content
        return page_of_method(request, answer) if is_bare and not request.path.startswith(PLAIN) else answer
