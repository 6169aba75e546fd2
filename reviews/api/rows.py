"""Rows of the selectors as the API's values, with links. Pure but for reversing addresses."""

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from rest_framework.request import Request

from reviews.errors import NotFoundError
from reviews.selectors.rows import DecisionPage, DecisionRow, JobRow, PlanRow, RevisionRow, SignOffRow


class Links:
    """Absolute addresses of one workspace, as the asking client reaches this server."""

    def __init__(self, request: Request | HttpRequest, workspace: str) -> None:
        self._request = request
        self._workspace = workspace
        self._server = request.build_absolute_uri("/").removesuffix("/")

    def to(self, name: str, *numbers: int | str) -> str:
        """Return the address of a view of the workspace."""
        return self._server + reverse(name, args=[self._workspace, *numbers])

    def with_query(self, **values: int) -> str:
        """Return the address asked for with other values of its query."""
        query = self._request.GET.copy()
        for name, value in values.items():
            query[name] = str(value)
        return str(self._request.build_absolute_uri(f"{self._request.path}?{query.urlencode()}"))

    def page_after(self, page: int, pages: int, what: str) -> str | None:
        """Return the address of the page after this one of a list that counts its pages, None after the last.

        Raises:
            NotFoundError: there is no such page.
        """
        if page > pages:
            raise NotFoundError(f"There is no page {page} of {what}; the last is {pages}.")
        return self.with_query(page=page + 1) if page < pages else None

    def older(self, before: int | None) -> str | None:
        """Return the address of the next page of this list, None after the last."""
        if before is None:
            return None
        return self.with_query(before=before)


def revision_value(row: RevisionRow, decision: int, links: Links) -> dict[str, Any]:
    """Return a revision."""
    here = (decision, row.number)
    return {
        "decision": decision,
        "revision": row.number,
        "state": revision_state(row),
        "progress": row.job,
        "error": _error(row.job),
        "author": row.author,
        "made_at": row.made_at,
        "as_of": row.as_of,
        "contract": _document(row.contract, row.contract_file_sha256, links.to("api-contract", *here)),
        "evidence": _document(row.evidence, row.evidence_file_sha256, links.to("api-evidence", *here)),
        "identity": row.identity,
        "policy": row.policy,
        "policy_version": row.policy_version,
        "planner_version": row.planner_version,
        "plan": _plan(row.plan, links.to("api-plan", *here)) if row.plan else None,
        "subject": row.subject,
        "planned_at": row.planned_at,
        "url": links.to("api-revision", *here),
        "page": f"{links.to('decision-detail', decision)}?revision={row.number}",
    }


def revision_state(row: RevisionRow) -> str:
    """Say where the revision stands: ``queued``, ``running``, ``planned`` or ``failed``."""
    if row.plan is not None:
        return "planned"
    if row.job.state in ("failed", "poisoned"):
        return "failed"
    # A job that is done gives its plan to the revision in the next moment.
    return "queued" if row.job.state == "queued" else "running"


def _error(job: JobRow) -> dict[str, str] | None:
    return {"code": job.error_code, "detail": job.error_detail} if job.error_code else None


def _document(content_id: str, file_sha256: str, url: str) -> dict[str, str]:
    return {"content_id": content_id, "file_sha256": file_sha256, "url": url}


def _plan(row: PlanRow, url: str) -> dict[str, Any]:
    return {
        **asdict(row),
        "decision": row.decision_word,
        "selected_trial": row.selected_trial or None,
        "selected_topology": row.selected_topology or None,
        "url": url,
    }


def decision_value(row: DecisionRow | DecisionPage, links: Links) -> dict[str, Any]:
    """Return a decision as lists show it."""
    return {
        "number": row.number,
        "label": row.label,
        "title": row.title,
        "slot": row.slot,
        "state": row.state,
        "state_since": row.state_since,
        "opened_by": row.opened_by,
        "opened_at": row.opened_at,
        "newest": revision_value(row.newest, row.number, links),
        "approval": row.approval,
        "requirements": row.requirements,
        "url": links.to("api-decision", row.number),
        "page": links.to("decision-detail", row.number),
    }


def decision_detail_value(page: DecisionPage, links: Links) -> dict[str, Any]:
    """Return one decision with its sign-offs, what was put into force, and its waivers."""
    return {
        **decision_value(page, links),
        "state_because": page.state_because,
        "activation": page.activation,
        "waivers": page.waivers,
        "signoffs": [_signoff(row) for row in page.signoffs],
    }


def _signoff(row: SignOffRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "revision": row.revision,
        "team": row.team,
        "person": row.person,
        "meaning": row.meaning,
        "statement": row.statement,
        "rollback": row.rollback,
        "points": row.points,
        "signed_at": row.signed_at,
        "subject": row.subject,
        "scope": row.scope,
        "status": row.status,
        "carried_by": row.carried_by,
        "reason": row.judged.reason,
        "keys": list(row.judged.keys),
    }
