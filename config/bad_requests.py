"""Answers requests that are turned away before any view has seen them: with a page, or as the API answers."""

from django.http import HttpRequest, HttpResponse

from reviews.api.errors import problem_of_unread
from reviews.web.bad_requests import page_of_unread

API = "/api/"


def turned_away(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer as the address does."""
    answer = problem_of_unread if request.path.startswith(API) else page_of_unread
    return answer(request, exception)
