"""What describes the API and its documents. Open to everybody: it says nothing about anybody's data."""

import json
from functools import cache
from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.utils import OpenApiParameter, extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request

from planner.canonical import file_sha256
from planner.schema import KINDS, document_schema
from reviews.api.base import KEPT_IF_UNCHANGED, ApiView, known_versions, raw_bytes, unchanged
from reviews.api.documentation import IF_NONE_MATCH, NOT_MODIFIED, RAW_JSON, refusals
from reviews.api.queries import read_query

KIND = OpenApiParameter("kind", {"type": "string", "enum": list(KINDS)}, OpenApiParameter.PATH)


@cache
def schema_bytes(kind: str) -> bytes:
    """Return the JSON Schema of one kind of document."""
    return json.dumps(document_schema(kind), indent=2, ensure_ascii=False).encode()  # type: ignore[arg-type] # checked by the view


@cache
def openapi_bytes() -> bytes:
    """Return the OpenAPI document; it is the same for everybody."""
    tree = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call] # spectacular's own
    rendered: bytes = OpenApiJsonRenderer().render(tree, renderer_context={})
    return rendered


def described(request: Request, data: bytes) -> HttpResponse:
    """Answer with bytes that change with the server's version only."""
    version = file_sha256(data)
    if version in known_versions(request):
        return unchanged(version, KEPT_IF_UNCHANGED)
    return raw_bytes(data, version, cache=KEPT_IF_UNCHANGED)


class OpenView(ApiView):
    """A view that asks nobody who they are."""

    authentication_classes = ()
    permission_classes = ()


class DocumentSchema(OpenView):
    """The JSON Schema of a kind of document."""

    @extend_schema(
        operation_id="schema_read",
        parameters=[KIND, IF_NONE_MATCH],
        responses={**RAW_JSON, **NOT_MODIFIED, **refusals(404, 422, 429)},
    )
    def get(self, request: Request, kind: str) -> HttpResponse:
        """Return the JSON Schema (draft 2020-12) of one kind of document."""
        read_query(request.GET, {})
        if kind not in KINDS:
            raise Http404
        return described(request, schema_bytes(kind))


class OpenApi(OpenView):
    """The OpenAPI document."""

    @extend_schema(
        operation_id="openapi_read",
        parameters=[IF_NONE_MATCH],
        responses={**RAW_JSON, **NOT_MODIFIED, **refusals(422, 429)},
    )
    def get(self, request: Request) -> HttpResponse:
        """Return this document."""
        read_query(request.GET, {})
        return described(request, openapi_bytes())


class Docs(ApiView, SpectacularSwaggerSplitView):
    """Pages to read about the API and to try it; everything comes from this server."""

    authentication_classes = ()
    permission_classes = ()
    url_name = "api-openapi"
    template_name = "reviews/api_docs.html"


class Absent(OpenView):
    """Every other address below the API."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse, whatever the method."""
        super().initial(request, *args, **kwargs)
        raise Http404
