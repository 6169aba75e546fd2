"""The decision of a revision under other limits or readings: worked out when it is asked for, and never stored."""

import json
from typing import Any

from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.decision_numbers import revision_label
from planner.overrides import overridden_bytes
from reviews.api import serializers
from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.documentation import READING, refusals
from reviews.errors import Finding, InvalidRequestError, NotFoundError
from reviews.selectors.what_if import MOST_OVERRIDES, Asked, what_if_view

NAMES = ("set", "without", "reading")


def _many(name: str, text: str) -> OpenApiParameter:
    return OpenApiParameter(
        name, {"type": "array", "items": {"type": "string"}, "maxItems": MOST_OVERRIDES}, description=text
    )


class WhatIf(WorkspaceView):
    """Other limits, or other readings of trials, several at once, and what turns."""

    @extend_schema(
        operation_id="what_if_read",
        parameters=[
            _many("set", "a value of the contract: `POINTER=VALUE`, VALUE in JSON"),
            _many("without", "a pointer of the contract: what stands there is left out"),
            _many("reading", "what a limit reads of a trial: `TRIAL:GATE.LIMIT=VALUE`"),
        ],
        responses={200: serializers.WhatIfAnswer, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str, number: int, revision: int) -> Response:
        """Return both decisions and what turned; 404 until there is a plan, 422 where evidence is too large for it."""
        asked = _asked(request.GET)
        found = what_if_view(actor=actor(request), workspace=self.space, number=number, revision=revision, asked=asked)
        if found.plan is None:
            raise NotFoundError(f"{revision_label(number, revision)} has no plan yet.")
        problems = (*found.problems, *([found.too_large] if found.too_large else []))
        if problems or found.answer is None:
            raise InvalidRequestError(tuple(Finding.of(problem, "request") for problem in problems))
        value: dict[str, Any] = {"what_if": json.loads(overridden_bytes(found.answer))}
        return Response(serializers.WhatIfAnswer(value).data)


def _asked(query: QueryDict) -> Asked:
    """Return the overrides of a query.

    Raises:
        InvalidRequestError: with every parameter that is none, or for want of an override.
    """
    problems = [
        Finding("request", "request/query", name[:80], f"one of {', '.join(NAMES)}", "another")
        for name in sorted(query)
        if name not in NAMES
    ]
    asked = Asked(*(tuple(query.getlist(name)) for name in NAMES))
    if not problems and not len(asked):
        problems.append(Finding("request", "request/query", "set", "an override: set, without or reading", "none"))
    if problems:
        raise InvalidRequestError(tuple(problems))
    return asked
