"""The page of one decision, and the documents behind a revision."""

from collections.abc import Sequence

from reviews.blobs import blob_read
from reviews.errors import NotFoundError
from reviews.facts import Authentication, Standing
from reviews.models import Decision, DecisionState, Person, Revision, SignOff, Workspace
from reviews.policies.permissions import may_sign, may_submit
from reviews.policies.signoff_status import JudgedSignOff
from reviews.selectors.judgement import Judgement, judge_decisions
from reviews.selectors.people import standing_of
from reviews.selectors.revisions import revision_row, row_parts, with_digests
from reviews.selectors.rows import DecisionPage, SeatChoice, SignOffRow


def decision_named(workspace: Workspace, number: int) -> Decision:
    """Return a decision by its number.

    Raises:
        NotFoundError: there is none.
    """
    decision = Decision.objects.filter(workspace=workspace, number=number).select_related("opened_by").first()
    if decision is None:
        raise NotFoundError(f"There is no decision D-{number:04d} in {workspace.slug}.")
    return decision


def decision_of_member(*, actor: Person, workspace: Workspace, number: int) -> Decision:
    """Return a decision by its number to somebody who may know of it.

    Raises:
        NotFoundError: there is none, or the actor is no member of the workspace; a stranger does not learn which.
    """
    standing_of(actor, workspace)
    return decision_named(workspace, number)


def decision_page(
    *, actor: Person, workspace: Workspace, number: int, revision: int | None = None, read_plan: bool = True
) -> DecisionPage:
    """Return the page of a decision showing one revision, the newest when None.

    ``read_plan=False`` leaves the plan's bytes where they are.

    Raises:
        NotFoundError: no such decision or revision, or the actor is no member of the workspace.
    """
    standing = standing_of(actor, workspace)
    decision = decision_named(workspace, number)
    revisions = list(with_digests(Revision.objects.filter(decision=decision)).order_by("number"))
    shown = next((row for row in revisions if row.number == revision), None) if revision else revisions[-1]
    if shown is None:
        raise NotFoundError(f"{decision.label} has no revision {revision}. The newest is {revisions[-1].number}.")
    judged, _ = judge_decisions(workspace, revisions[-1:], name_changes=True)
    judgement = judged[decision.pk]
    rows = tuple(revision_row(row) for row in revisions)
    shown_row = rows[revisions.index(shown)]
    return DecisionPage(
        workspace=workspace.slug,
        number=decision.number,
        label=decision.label,
        title=decision.title,
        slot=decision.slot,
        state=decision.state,
        state_label=DecisionState(decision.state).label,
        state_since=decision.state_since,
        opened_by=decision.opened_by.display_name,
        opened_at=decision.opened_at,
        shown=shown_row,
        newest=judgement.newest,
        revisions=rows,
        moved=row_parts(judgement.newest).moved_from(row_parts(shown_row)),
        requirements=judgement.requirements,
        approval=judgement.approval,
        signoffs=tuple(_signoff_row(row, judged_one, standing) for row, judged_one in judgement.signoffs),
        seats=_seats(standing, judgement),
        objections=judgement.objections,
        is_author=standing.person_id in judgement.author_ids,
        role=standing.role,
        may_submit=may_submit(standing),
        plan_bytes=_plan_bytes(shown) if read_plan else None,
    )


def _plan_bytes(revision: Revision) -> bytes | None:
    planned = getattr(revision, "planned", None)
    if planned is None:
        return None
    return blob_read(planned.plan.blob_id, "plan")


def _signoff_row(row: SignOff, judged: JudgedSignOff, standing: Standing) -> SignOffRow:
    withdrawal = getattr(row, "withdrawal", None)
    return SignOffRow(
        id=row.pk,
        revision=row.revision.number,
        team=row.team.slug,
        person=row.person.display_name,
        is_mine=row.person_id == standing.person_id,
        meaning=row.meaning,
        statement=row.statement,
        signed_at=row.signed_at,
        subject=row.subject,
        scope=row.scope,
        displayed=row.displayed,
        withdrawn_reason=withdrawal.reason if withdrawal else None,
        withdrawn_at=withdrawal.withdrawn_at if withdrawal else None,
        judged=judged,
    )


def _seats(standing: Standing, judgement: Judgement) -> tuple[SeatChoice, ...]:
    """Return the reader's teams of the policy, each with whether they may sign for it and why not."""
    mine: Sequence[str] = sorted(standing.teams & set(judgement.document.teams))
    given = {
        row.team.slug
        for row, judged in judgement.signoffs
        if row.person_id == standing.person_id and judged.status != "WITHDRAWN"
    }
    return tuple(
        SeatChoice(
            team=team,
            title=judgement.document.teams[team].title,
            verdict=may_sign(
                standing,
                team=team,
                author_ids=judgement.author_ids,
                other_seats=given,
                authentication=Authentication(),
            ),
        )
        for team in mine
    )
