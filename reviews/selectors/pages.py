"""Reads that one page needs together, so that a view makes one call."""

from dataclasses import dataclass

from planner.records.plan import Plan as PlanRecord
from reviews.errors import NotFoundError
from reviews.models import Decision, Person, Revision, Workspace
from reviews.selectors.decision_page import decision_named, decision_page
from reviews.selectors.log import EntryRow, history_rows
from reviews.selectors.offers import Offers, offers_of
from reviews.selectors.people import standing_of
from reviews.selectors.proposals import ProposalRow, earlier_in_force, open_proposals, proposals_beside
from reviews.selectors.retractions import is_counted
from reviews.selectors.reviewing import Reviewing, reviewing_of
from reviews.selectors.rollbacks import RollbackChoice, rollback_choices
from reviews.selectors.rows import DecisionPage
from reviews.selectors.threads import OpenThread, open_threads

RAIL_EVENTS = 8


@dataclass(frozen=True, slots=True)
class DecisionView:
    """A decision with what happened to it, newest first, and its open threads; ``reviewing`` is for who may sign it.

    ``proposals`` are those about it that wait for a second person.
    """

    page: DecisionPage
    events: tuple[EntryRow, ...]
    plan: PlanRecord | None = None
    reviewing: Reviewing | None = None
    threads: tuple[OpenThread, ...] = ()
    proposals: tuple[ProposalRow, ...] = ()


def decision_view(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    revision: int | None = None,
    team: str = "",
    read_plan: bool = True,
) -> DecisionView:
    """Return a decision's page with its last events; all of them where the plan is not read.

    ``team`` is the one that the reader wants to sign for, where they may sign for several.

    Raises:
        NotFoundError: no such decision or revision, or the actor is no member of the workspace.
    """
    page = decision_page(actor=actor, workspace=workspace, number=number, revision=revision, read_plan=read_plan)
    events = history_rows(actor=actor, workspace=workspace, number=number, page_size=RAIL_EVENTS if read_plan else 500)
    plan = page.plan()
    if plan is None:
        return DecisionView(page, events)
    reviewing = reviewing_of(workspace, page, person_id=actor.pk, plan=plan, team=team)
    proposals = proposals_beside(actor=actor, workspace=workspace, number=number)
    return DecisionView(page, events, plan, reviewing, open_threads(workspace, number), proposals)


@dataclass(frozen=True, slots=True)
class Reusable:
    """The documents of a revision, which the next one may take over: digests of their files."""

    revision: int
    contract: str
    evidence: str


def reusable_documents(decision: Decision, revision: int | None = None) -> Reusable:
    """Return what the next revision of a decision may take over from a revision, the newest when None.

    Raises:
        NotFoundError: the decision has no such revision.
    """
    rows = Revision.objects.filter(decision=decision).order_by("-number")
    chosen = (rows if revision is None else rows.filter(number=revision)).values_list(
        "number", "contract__blob_id", "evidence__blob_id"
    )
    found = chosen.first()
    if found is None:
        raise NotFoundError(f"{decision.label} has no revision {revision}.")
    return Reusable(*found)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseView:
    """A decision with all that its acts can be about, and which of them the reader may do.

    ``is_retractable``: a plan counted the newest revision's evidence, its own or another one of the workspace.
    """

    page: DecisionPage
    plan: PlanRecord | None
    is_retractable: bool
    rollbacks: tuple[RollbackChoice, ...]
    proposals: tuple[ProposalRow, ...]
    offers: Offers


def release_view(*, actor: Person, workspace: Workspace, number: int) -> ReleaseView:
    """Return what the page needs on which a decision is put into force, ended, or gone past.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
    """
    page = decision_page(actor=actor, workspace=workspace, number=number)
    plan, decision = page.plan(), decision_named(workspace, number)
    return ReleaseView(
        page=page,
        plan=plan,
        is_retractable=plan is not None or is_counted(workspace, page.newest.evidence),
        rollbacks=rollback_choices(decision, plan) if plan is not None else (),
        proposals=open_proposals(actor=actor, workspace=workspace, number=number),
        offers=offers_of(
            decision,
            page,
            plan,
            standing=standing_of(actor, workspace),
            earlier=earlier_in_force(decision),
        ),
    )
