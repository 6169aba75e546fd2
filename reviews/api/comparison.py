"""Two candidates side by side: of one revision, of two revisions or of two decisions."""

from dataclasses import asdict
from typing import Any

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.candidate_diff import Mismatch, OutcomeChange, TrialChange, ValueChange
from planner.document_diff import ABSENT, FieldChange
from planner.numbers import plain
from reviews.api import serializers
from reviews.api.authentication import actor
from reviews.api.base import WorkspaceView
from reviews.api.documentation import READING, number, refusals, text
from reviews.api.queries import integer, printable, read_query
from reviews.errors import NotFoundError
from reviews.policies.document import PolicyDocument
from reviews.policies.owners import field_owner, limit_owner
from reviews.selectors.comparison import Asked, ComparedSide, ComparisonView, comparison_view

FIELDS_PER_PAGE = 500
MOST = 999_999
READERS = {
    "trial": printable,
    "with_decision": integer(1, MOST),
    "with_revision": integer(1, MOST),
    "with": printable,
    "page": integer(1, MOST),
}


class Compare(WorkspaceView):
    """What differs between a trial and another one."""

    @extend_schema(
        operation_id="compare_read",
        parameters=[
            text("trial", "the trial; the selected one where left out"),
            number("with_decision", "the decision to compare with; this one where left out", lowest=1, highest=MOST),
            number("with_revision", "its revision; the one before where left out", lowest=1, highest=MOST),
            text("with", "its trial; the same, or the selected one where left out"),
            number("page", "which fields; 1 where left out", lowest=1, highest=MOST),
        ],
        responses={200: serializers.Comparison, **refusals(*READING)},
    )
    def get(self, request: Request, workspace: str, number: int, revision: int) -> Response:
        """Return values, outcomes, trials and fields that differ; 404 beyond the last page of fields."""
        asked = read_query(request.GET, READERS)
        page = asked.get("page", 1)
        view = comparison_view(
            actor=actor(request),
            workspace=self.space,
            number=number,
            revision=revision,
            trial=asked.get("trial", ""),
            base=Asked(
                decision=asked.get("with_decision"), revision=asked.get("with_revision"), trial=asked.get("with", "")
            ),
        )
        start = (page - 1) * FIELDS_PER_PAGE
        if start and start >= len(view.fields):
            raise NotFoundError(f"{view.after.name} has no page {page} of fields that differ.")
        is_last = start + FIELDS_PER_PAGE >= len(view.fields)
        value = comparison_value(view, start) | {"next": None if is_last else self.links.with_query(page=page + 1)}
        return Response(serializers.Comparison(value).data)


def comparison_value(view: ComparisonView, start: int) -> dict[str, Any]:
    """Return a comparison with one page of its fields."""
    diff = view.diff
    return {
        "kind": view.kind,
        "before": _side(view.before),
        "after": _side(view.after),
        "comparable": not diff.mismatches if diff else None,
        "differing": list(diff.differing) if diff else [],
        "mismatches": [_mismatch(row) for row in diff.mismatches] if diff else [],
        "cautions": [_mismatch(row) for row in diff.cautions] if diff else [],
        "values": [_value(row) for row in diff.values] if diff else [],
        "outcomes": [_outcome(row, view.policy) for row in diff.outcomes] if diff else [],
        "candidates": [_trial(row) for row in view.trials],
        "moved_ranks": len(view.map.moved) if view.map else None,
        "fields_total": len(view.fields),
        "changed_fields": [
            _field(document, change, view.policy) for document, change in view.fields[start : start + FIELDS_PER_PAGE]
        ],
    }


def _side(side: ComparedSide) -> dict[str, Any]:
    found = side.plan.candidates.get(side.trial) if side.plan else None
    return {
        "decision": side.number,
        "revision": side.row.number,
        "slot": side.slot,
        "trial": side.trial,
        "topology": found.topology if found else None,
        "state": found.state if found else None,
    }


def _mismatch(row: Mismatch) -> dict[str, Any]:
    return {"section": row.section, "pointer": row.pointer, "of": row.of, **_both(row)}


def _value(row: ValueChange) -> dict[str, Any]:
    exact = {name: msgspec.to_builtins(getattr(row, name)) for name in VALUES}
    change = None if row.change is None else msgspec.to_builtins(plain(row.change))
    return asdict(row) | exact | {"change": change}


VALUES = ("before", "after", "limit_before", "limit_after")


def _outcome(row: OutcomeChange, policy: PolicyDocument) -> dict[str, Any]:
    return {
        "gate": row.gate,
        "limit_id": row.limit_id,
        "owner": limit_owner(policy, row.gate),
        "before": row.before.outcome if row.before else None,
        "after": row.after.outcome if row.after else None,
        "sentence_before": row.before.sentence if row.before else None,
        "sentence_after": row.after.sentence if row.after else None,
    }


def _trial(row: TrialChange) -> dict[str, Any]:
    return {
        "trial": row.trial,
        "before": row.states[0],
        "after": row.states[1],
        "gates": [{"gate": gate, "before": old, "after": new} for gate, old, new in row.gates],
        "is_measured_anew": row.is_measured_anew,
    }


def _field(document: str, change: FieldChange, policy: PolicyDocument) -> dict[str, Any]:
    return {
        "document": document,
        "pointer": change.pointer,
        "change": change.kind,
        **_both(change),
        "owner": field_owner(policy, change.pointer),
    }


def _both(row: Mismatch | FieldChange) -> dict[str, Any]:
    """Return both values; what is not there is left out, null is the null of the document."""
    return {name: value for name in ("before", "after") if (value := getattr(row, name)) is not ABSENT}
