"""The benchmark matrix of a revision: worked out when it is asked for, and never stored."""

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from planner.matrix.clients import CLIENTS
from planner.matrix.written import CONTENT_TYPES, matrix_written
from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.documentation import READING, refusals
from reviews.api.queries import one_of, read_query
from reviews.selectors.benchmark import benchmark_view


def _choice(name: str, names: tuple[str, ...], text: str) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "string", "enum": list(names)}, description=text)


class Benchmark(WorkspaceView):
    """What is worth measuring for a contract, and how much of it the revision's evidence covers."""

    @extend_schema(
        operation_id="benchmark_read",
        parameters=[
            _choice("as", tuple(CONTENT_TYPES), "how the matrix is written; json where left out"),
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
        query = read_query(request.GET, {"as": one_of(*CONTENT_TYPES), "client": one_of(*CLIENTS)})
        form = query.get("as", "json")
        found = benchmark_view(actor=actor(request), workspace=self.space, number=number, revision=revision)
        data = matrix_written(found.matrix, form, query.get("client"))
        return HttpResponse(data, content_type=CONTENT_TYPES[form], headers={"X-Content-Type-Options": "nosniff"})
