"""The stress matrix of a revision: worked out when it is asked for, a few trials at a time, and never stored."""

import json

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.decision_numbers import revision_label
from planner.stress import stress_bytes
from reviews.api import serializers
from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.documentation import READING, number, refusals
from reviews.api.queries import integer, read_query
from reviews.errors import NotFoundError
from reviews.selectors.stress import PAGE_SIZE, stress_view

MOST_PAGES = 999_999
PAGE = number("page", "which trials, in the order of the plan; 1 where left out", lowest=1, highest=MOST_PAGES)


class Stress(WorkspaceView):
    """Faults put into copies of the trials, and which limit of the contract sees each."""

    @extend_schema(
        operation_id="stress_read",
        parameters=[PAGE],
        responses={200: serializers.StressPage, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str, number: int, revision: int) -> Response:
        """Return the matrix of one page of trials; 404 until there is a plan, and beyond the last page."""
        page = read_query(request.GET, {"page": integer(1, MOST_PAGES)}).get("page", 1)
        found = stress_view(actor=actor(request), workspace=self.space, number=number, revision=revision, asked=page)
        if found.matrix is None:
            raise NotFoundError(f"{revision_label(number, revision)} has no plan yet.")
        if found.start != (page - 1) * PAGE_SIZE:
            raise NotFoundError(f"{revision_label(number, revision)} has no page {page} of trials.")
        is_last = found.start + len(found.shown) == found.total
        value = {
            "stress": json.loads(stress_bytes(found.matrix)),
            "trials": found.total,
            "next": None if is_last else self.links.with_query(page=page + 1),
        }
        return Response(serializers.StressPage(value).data)
