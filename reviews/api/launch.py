"""The launch configuration of the decision in force: worked out when it is asked for, never stored."""

import json
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from planner.canonical import file_sha256
from planner.launch import TARGETS
from planner.launch.written import CONTENT_TYPES, launch_file, launch_tree
from reviews.api.authentication import actor
from reviews.api.base import KEPT_IF_UNCHANGED, WorkspaceView, known_versions, unchanged
from reviews.api.documentation import IF_NONE_MATCH, NOT_MODIFIED, refusals
from reviews.api.queries import one_of, read_query
from reviews.errors import NotFoundError
from reviews.selectors.launch import handed_out, launch_view

HANDING = (401, 404, 409, 422, 429)
TARGET = OpenApiParameter(
    "for",
    {"type": "string", "enum": list(TARGETS)},
    description="what starts it; the engine that was measured where left out",
)


class Launch(WorkspaceView):
    """How the topology in force is started."""

    @extend_schema(
        operation_id="launch_read",
        parameters=[TARGET, IF_NONE_MATCH],
        responses={
            (200, "application/json"): OpenApiResponse({"type": "object"}, description="`topogate.launch/v1`"),
            **NOT_MODIFIED,
            **refusals(*HANDING),
        },
    )
    def get(self, request: Request, workspace: str, number: int) -> HttpResponse:
        """Return label, words of every node, what is to be filled in, what is not expressed, and the files.

        409 while the decision is not in force; 422 where it was measured with another engine.
        """
        found = launch_view(actor=actor(request), workspace=self.space, number=number, target=_target(request))
        data = json.dumps(launch_tree(handed_out(found)), ensure_ascii=False, separators=(",", ":")).encode()
        return _answered(request, data, "application/json")


class LaunchFile(WorkspaceView):
    """One file of a launch."""

    @extend_schema(
        operation_id="launch_file_read",
        parameters=[TARGET, IF_NONE_MATCH],
        responses={
            (200, "text/x-shellscript"): OpenApiResponse({"type": "string"}, description="`launch.sh`"),
            (200, "application/yaml"): OpenApiResponse({"type": "string"}, description="settings or objects"),
            **NOT_MODIFIED,
            **refusals(*HANDING),
        },
    )
    def get(self, request: Request, workspace: str, number: int, name: str) -> HttpResponse:
        """Return the file as it is; 409 while the decision is not in force."""
        found = launch_view(actor=actor(request), workspace=self.space, number=number, target=_target(request))
        made = handed_out(found)
        data = launch_file(made, name)
        if data is None:
            raise NotFoundError(f"The launch has no file {name}, only {', '.join(file.name for file in made.files)}.")
        return _answered(request, data, CONTENT_TYPES[name.rpartition(".")[2]])


def _target(request: Request) -> Any:
    return read_query(request.GET, {"for": one_of(*TARGETS)}).get("for")


def _answered(request: Request, data: bytes, content_type: str) -> HttpResponse:
    """Answer with bytes whose ETag is their digest: what a pipeline has is right until the decision moves."""
    version = file_sha256(data)
    if version in known_versions(request):
        return unchanged(version, KEPT_IF_UNCHANGED)
    headers = {"ETag": f'"{version}"', "Cache-Control": KEPT_IF_UNCHANGED, "X-Content-Type-Options": "nosniff"}
    return HttpResponse(data, content_type=content_type, headers=headers)
