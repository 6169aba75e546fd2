"""What the views of the API share: the workspace of the address, links, raw bytes with a validator."""

from contextlib import nullcontext
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.views import APIView

from reviews.api.authentication import actor, grant
from reviews.api.rows import Links
from reviews.asked_once import reading
from reviews.errors import NotFoundError, printable
from reviews.models import Workspace
from reviews.selectors.people import workspace_of_member

NOT_KEPT = "private, no-store"
KEPT_FOR_EVER = "private, max-age=31536000, immutable"
KEPT_IF_UNCHANGED = "private, no-cache"


class ApiView(APIView):
    """A view of the API; its text is always UTF-8, whatever character set a request claims.

    A view that takes a body and writes nothing says so with ``only_reads``.
    """

    only_reads = False

    @property
    def allowed_methods(self) -> list[str]:
        """Name the methods that are answered; OPTIONS, which the framework adds everywhere, says nothing here."""
        return [method for method in super().allowed_methods if method != "OPTIONS"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Ask the same question once while nothing is written."""
        with reading() if self.only_reads or request.method in SAFE_METHODS else nullcontext():
            return super().dispatch(request, *args, **kwargs)

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """Fix the character set before anything of the request is decoded."""
        request.encoding = "utf-8"
        return super().initialize_request(request, *args, **kwargs)


class WorkspaceView(ApiView):
    """A view below a workspace; ``space`` and ``links`` are there before the view runs.

    Every selector and service asks whether the person belongs to the workspace; here it is asked before anything of
    the request is judged, so that no refusal says whether there is such a workspace. A token works in its own alone.
    """

    space: Workspace
    links: Links

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Find the workspace once it is known who asks."""
        super().initial(request, *args, **kwargs)
        self.space = workspace_of_member(actor(request), kwargs["workspace"])
        token = grant(request)
        if token is not None and token.workspace_id != self.space.pk:
            raise NotFoundError(f"There is no workspace {self.space.slug} that you belong to.")
        self.links = Links(request, self.space.slug)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Let no cache keep an answer for somebody else, or longer than the view allows."""
        final = super().finalize_response(request, response, *args, **kwargs)
        final.headers.setdefault("Cache-Control", NOT_KEPT)
        patch_vary_headers(final, ("Authorization", "Cookie"))
        return final


def known_versions(request: Request) -> frozenset[str]:
    """Return what the client already has, from If-None-Match, without quotes."""
    etags = parse_etags(request.META.get("HTTP_IF_NONE_MATCH", ""))
    return frozenset(etag.removeprefix("W/").strip('"') for etag in etags)


def wanted_versions(request: Request) -> frozenset[str] | None:
    """Return the versions that the client builds on, from If-Match, without quotes; None for whichever there is."""
    given = request.META.get("HTTP_IF_MATCH")
    etags = parse_etags(given or "*")
    return None if etags == ["*"] else frozenset(etag.strip('"') for etag in etags if not etag.startswith("W/"))


def version_seen(request: Request) -> str:
    """Return the one version that the client saw, from If-Match; empty where it names none, or whichever there is.

    What is not one strong ETag comes back as it is: it is the version of nothing, and must not pass for no condition.
    """
    wanted = wanted_versions(request)
    if wanted is None:
        return ""
    return min(wanted) if len(wanted) == 1 else printable(request.META["HTTP_IF_MATCH"], 80)


def unchanged(version: str, cache: str) -> HttpResponse:
    """Answer that the client's version is still right."""
    return HttpResponse(status=304, headers={"ETag": f'"{version}"', "Cache-Control": cache})


def raw_bytes(data: bytes, version: str, *, cache: str, file_name: str = "") -> HttpResponse:
    """Answer with stored bytes exactly as they are; with a file name, to be saved and not shown."""
    headers = {"ETag": f'"{version}"', "Cache-Control": cache, "X-Content-Type-Options": "nosniff"}
    if file_name:
        headers["Content-Disposition"] = f'attachment; filename="{file_name}"'
    return HttpResponse(data, content_type="application/json", headers=headers)
