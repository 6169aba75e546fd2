"""What the OpenAPI document says beside the views: how to authenticate, the parts of a body, every refusal."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from reviews.api.errors import CONTENT_TYPE, TITLES
from reviews.api.serializers import Problem
from reviews.models import DecisionState

DOCUMENT = {"type": "string", "format": "binary"}
TITLE = {"type": "string", "minLength": 1, "maxLength": 200, "description": "for people; no digest is bound to it"}
AS_OF = {
    "type": "string",
    "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$",
    "description": "UTC in whole seconds; evidence is judged as of then (default: now)",
}
LOGIN = "A login of the pages: to read, and for what takes a person. What changes something needs X-CSRFToken."
READING = (401, 404, 422, 429)
SENDING = (400, 401, 403, 404, 409, 413, 415, 422, 429)
CHECKING = (400, 401, 403, 404, 413, 415, 422, 429)


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # spectacular registers subclasses
    """An API token."""

    target_class = "reviews.api.authentication.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """Describe the header."""
        return {"type": "http", "scheme": "bearer", "description": "An API token (tg_...), made on the token page."}


class BrowserScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # spectacular registers subclasses
    """A session of the pages."""

    target_class = "reviews.api.authentication.BrowserAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """Describe the cookie."""
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "session",
            "description": LOGIN,
        }


def refusals(*statuses: int) -> dict[Any, Any]:
    """Return the refusals an operation can answer with."""
    return {
        (status, CONTENT_TYPE): OpenApiResponse(response=Problem, description=TITLES[status][1]) for status in statuses
    }


def body(required: tuple[str, ...], **parts: dict[str, Any]) -> dict[str, Any]:
    """Describe a multipart body."""
    schema: dict[str, Any] = {"type": "object", "properties": parts, "additionalProperties": False}
    return {"multipart/form-data": schema | ({"required": list(required)} if required else {})}


def number(name: str, text: str, *, lowest: int, highest: int) -> OpenApiParameter:
    """Describe a whole number of the query."""
    return OpenApiParameter(name, {"type": "integer", "minimum": lowest, "maximum": highest}, description=text)


def text(name: str, description: str, **rules: Any) -> OpenApiParameter:
    """Describe a text of the query."""
    return OpenApiParameter(name, {"type": "string", "maxLength": 200, **rules}, description=description)


PAGING = [
    number("before", "only what is older than this; the answer's `next` has it", lowest=0, highest=999_999_999),
    number("limit", "at most so many", lowest=1, highest=100),
]
STATE = OpenApiParameter("state", {"type": "string", "enum": list(DecisionState.values)}, description="exact state")
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[!-~]+$"},
    OpenApiParameter.HEADER,
    description="The same submission under the same key again returns the revision it made.",
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", {"type": "string"}, OpenApiParameter.HEADER, description="an ETag that the client has"
)
IF_MATCH = OpenApiParameter(
    "If-Match",
    {"type": "string"},
    OpenApiParameter.HEADER,
    description="The ETag of the newest revision; 409 when another one replaced it meanwhile.",
)
NOT_MODIFIED = {304: OpenApiResponse(description="What the client has is still right")}
RAW_JSON = {(200, "application/json"): OpenApiResponse(response={"type": "object"}, description="The stored bytes")}
