"""Answers requests that are turned away before any view has seen them: with a page, or as the API answers."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from reviews.api.errors import problem_of_unread
from reviews.web.bad_requests import page_of_method, page_of_unread

API = "/api/"
PLAIN = (API, "/health/")
"""Addresses that programs ask; the second must need no database."""


def turned_away(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer as the address does."""
    answer = problem_of_unread if request.path.startswith(API) else page_of_unread
    return answer(request, exception)


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
