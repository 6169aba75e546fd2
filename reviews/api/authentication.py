"""Who is asking: an API token in the Authorization header, or a browser that is logged in.

A request with a token stands for itself; one with a session cookie changes something only with the CSRF token of the
page it came from.
"""

from typing import cast

import structlog
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.request import Request

from reviews.errors import NotAuthenticatedError
from reviews.facts import Authentication
from reviews.models import Person
from reviews.selectors.proofs import recent_proof
from reviews.services.people import Trace
from reviews.services.tokens import TokenGrant, token_use


class BearerAuthentication(BaseAuthentication):
    """``Authorization: Bearer tg_...``. A token that is not accepted ends the request, whatever else it carries."""

    def authenticate(self, request: Request) -> tuple[Person, TokenGrant] | None:
        """Return the token's person and what it allows; None when there is no such header."""
        scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if not scheme:
            return None
        if scheme.lower() != "bearer":
            raise NotAuthenticatedError("Expected Authorization: Bearer with an API token, found another scheme.")
        return token_use(secret.strip())

    def authenticate_header(self, request: Request) -> str:
        """Name the scheme in the answer to a request without a token."""
        return 'Bearer realm="topogate"'


class BrowserAuthentication(SessionAuthentication):
    """The session of a page."""


def actor(request: Request) -> Person:
    """Return the person who asks; permission to ask was checked before any view runs."""
    return cast(Person, request.user)


def grant(request: Request) -> TokenGrant | None:
    """Return what the request's token allows, None for a browser."""
    return cast(TokenGrant | None, request.auth)


def authentication(request: Request) -> Authentication:
    """Say how, and how long ago, the person proved who they are."""
    if grant(request) is not None:
        return Authentication("token")
    return recent_proof(request._request)


def request_id() -> str:
    """Return the id that the log lines of this request carry."""
    return str(structlog.contextvars.get_contextvars().get("request_id", ""))


def trace_of(request: Request) -> Trace:
    """Say what an entry of the log tells of the request that made it."""
    return Trace(request_id(), authentication(request))
