"""Reads that one page needs together, so that a view makes one call."""

from dataclasses import dataclass

from planner.documents import EvidenceDocument
from reviews.errors import DocumentsRefusedError, Finding, NotAllowedError
from reviews.models import Person, Workspace
from reviews.planning import read_documents
from reviews.policies.permissions import may_submit
from reviews.selectors.decision_page import decision_page
from reviews.selectors.log import EntryRow, history_rows
from reviews.selectors.people import standing_of
from reviews.selectors.rows import DecisionPage

RAIL_EVENTS = 8


@dataclass(frozen=True, slots=True)
class DecisionView:
    """A decision with what happened to it, newest first."""

    page: DecisionPage
    events: tuple[EntryRow, ...]


def decision_view(
    *, actor: Person, workspace: Workspace, number: int, revision: int | None = None, read_plan: bool = True
) -> DecisionView:
    """Return a decision's page with its last events; all of them where the plan is not read.

    Raises:
        NotFoundError: no such decision or revision, or the actor is no member of the workspace.
    """
    page = decision_page(actor=actor, workspace=workspace, number=number, revision=revision, read_plan=read_plan)
    events = history_rows(actor=actor, workspace=workspace, number=number, page_size=RAIL_EVENTS if read_plan else 500)
    return DecisionView(page, events)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a submission would hold: every problem, or the evidence as the planner will read it."""

    problems: tuple[Finding, ...]
    evidence: EvidenceDocument | None


def submission_preview(*, actor: Person, workspace: Workspace, contract: bytes, evidence: bytes) -> Preview:
    """Read two documents without storing or recording anything.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor may not submit.
    """
    verdict = may_submit(standing_of(actor, workspace))
    if not verdict.allowed:
        raise NotAllowedError(verdict.reason)
    try:
        documents = read_documents(contract, evidence)
    except DocumentsRefusedError as refused:
        return Preview(refused.problems, None)
    return Preview((), documents.evidence)
