"""Views of the library that change an account: each request is one transaction with the entry of what it changed."""

from collections.abc import Callable
from functools import wraps
from typing import cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from reviews.services.people_accounts import account_changing
from reviews.web.frame import PersonRequest, trace_of

View = Callable[..., HttpResponseBase]


def recorded(view: View, *, late_on: str = "") -> View:
    """Record what a form of somebody who is logged in changes about their account.

    ``late_on`` names the one method with which the view may ask another server before it changes something; see
    ``waits_first`` of ``account_changing``.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not request.user.is_authenticated or request.method != (late_on or "POST"):
            return view(request, *args, **kwargs)
        trace = trace_of(cast(PersonRequest, request))
        with account_changing(person=request.user, trace=trace, waits_first=not late_on):
            return view(request, *args, **kwargs)

    return answer
