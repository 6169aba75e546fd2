"""What a token's scopes allow. What a person may do is the services' question; a browser is bound by that alone."""

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from reviews.api.authentication import grant
from reviews.errors import NotAllowedError, NotAuthenticatedError
from reviews.models import Person


class ScopeAllows(BasePermission):
    """Reading needs the scope read, everything else the scope submit. No scope signs.

    A view that takes a body and writes nothing, or only reports, says so with ``token_scope``. Who submits may report.
    """

    def has_permission(self, request: Request, view: object) -> bool:
        """Raise unless somebody is known and their token reaches so far."""
        if not isinstance(request.user, Person):
            raise NotAuthenticatedError("Expected Authorization: Bearer with an API token.")
        token = grant(request)
        needed = "read" if request.method in SAFE_METHODS else getattr(view, "token_scope", "submit")
        if token is not None and not token.scopes & {needed, *(["submit"] if needed == "report" else [])}:
            raise NotAllowedError(f"This token has no scope {needed}.")
        return True
