"""The benchmark matrix of a revision: worked out when it is asked for, and never stored."""

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from planner.matrix import matrix_bytes
from planner.matrix.clients import CLIENTS
from planner.matrix.markdown import matrix_markdown
from planner.matrix.script import matrix_script
from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.documentation import READING, refusals
from reviews.api.queries import Reader, read_query
from reviews.selectors.benchmark import benchmark_view

TYPES = {
    "json": "application/json",
    "markdown": "text/markdown; charset=utf-8",
    "sh": "text/x-shellscript; charset=utf-8",
}


def _one_of(*names: str) -> Reader:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError(f"one of {', '.join(names)}")
        return text

    return read


def _choice(name: str, names: tuple[str, ...], text: str) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "string", "enum": list(names)}, description=text)


class Benchmark(WorkspaceView):
    """What is worth measuring for a contract, and how much of it the revision's evidence covers."""

    @extend_schema(
        operation_id="benchmark_read",
        parameters=[
            _choice("as", tuple(TYPES), "how the matrix is written; json where left out"),
            _choice("client", tuple(CLIENTS), "load generator of the script; the engine's own where left out"),
        ],
        responses={
            (200, "application/json"): OpenApiResponse({"type": "object"}, description="`topogate.matrix/v1`"),
            (200, "text/markdown"): OpenApiResponse({"type": "string"}, description="the same for people"),
            (200, "text/x-shellscript"): OpenApiResponse({"type": "string"}, description="a script that runs it"),
            **refusals(*READING),
        },
    )
    def get(self, request: Request, workspace: str, number: int, revision: int) -> HttpResponse:
        """Return the matrix, the same bytes as on the command line."""
        query = read_query(request.GET, {"as": _one_of(*TYPES), "client": _one_of(*CLIENTS)})
        written = query.get("as", "json")
        found = benchmark_view(actor=actor(request), workspace=self.space, number=number, revision=revision)
        if written == "json":
            data = matrix_bytes(found.matrix)
        elif written == "markdown":
            data = matrix_markdown(found.matrix).encode()
        else:
            data = matrix_script(found.matrix, query.get("client")).encode()
        return HttpResponse(data, content_type=TYPES[written], headers={"X-Content-Type-Options": "nosniff"})
