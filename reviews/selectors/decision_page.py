"""The page of one decision, and the documents behind a revision."""

from collections.abc import Mapping, Sequence

from planner.decision_numbers import decision_label
from reviews.asked_once import moment, once
from reviews.blobs import blob_read
from reviews.errors import NotFoundError
from reviews.facts import Authentication, Member, Standing
from reviews.models import (
    Activation,
    ActivationKind,
    Decision,
    DecisionState,
    Person,
    PointSettlement,
    Revision,
    SignOff,
    SignOffPoint,
    Workspace,
)
from reviews.policies.document import releasing_teams
from reviews.policies.permissions import may_release, may_reproduce, may_sign, may_submit
from reviews.policies.requirements import is_agreed
from reviews.policies.signoff_status import JudgedSignOff
from reviews.selectors.in_force import activations_of, states_now
from reviews.selectors.judgement import UNDER_REVIEW, Judgement, judge_decisions
from reviews.selectors.people import standing_of
from reviews.selectors.revisions import revision_row, revisions_of, row_parts
from reviews.selectors.rows import ActivationRow, DecisionPage, PointRow, SeatChoice, SignOffRow, WaiverRow
from reviews.selectors.signoff_facts import printed_name
from reviews.selectors.waivers import waivers_of


@once
def decision_named(workspace: Workspace, number: int) -> Decision:
    """Return a decision by its number.

    Raises:
        NotFoundError: there is none.
    """
    rows = Decision.objects.filter(workspace=workspace, number=number).select_related("opened_by")
    decision = rows.order_by().first()
    if decision is None:
        raise NotFoundError(f"There is no decision {decision_label(number)} in {workspace.slug}.")
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
    revisions = revisions_of((decision.pk,))
    shown = next((row for row in revisions if row.number == revision), None) if revision else revisions[-1]
    if shown is None:
        raise NotFoundError(f"{decision.label} has no revision {revision}. The newest is {revisions[-1].number}.")
    judged, members = judge_decisions(workspace, [decision.pk], name_changes=True)
    judgement = judged[decision.pk]
    state = states_now([decision], moment())[decision.pk]
    rows = tuple(revision_row(row) for row in revisions)
    shown_row = rows[revisions.index(shown)]
    return DecisionPage(
        workspace=workspace.slug,
        number=decision.number,
        label=decision.label,
        title=decision.title,
        slot=decision.slot,
        state=state.state,
        state_label=DecisionState(state.state).label,
        state_since=state.since,
        state_because=state.because,
        opened_by=decision.opened_by.display_name,
        opened_at=decision.opened_at,
        activation=_activation_row(decision),
        waivers=_waiver_rows(decision),
        shown=shown_row,
        newest=judgement.newest,
        revisions=rows,
        moved=row_parts(judgement.newest).moved_from(row_parts(shown_row)),
        requirements=judgement.requirements,
        approval=judgement.approval,
        signoffs=tuple(_signoff_row(row, judged_one, standing, judgement) for row, judged_one in judgement.signoffs),
        seats=_seats(standing, judgement, _delegations(members, standing.person_id)),
        objections=judgement.objections,
        is_author=standing.person_id in judgement.author_ids,
        role=standing.role,
        may_submit=may_submit(standing),
        may_release=may_release(
            standing,
            releasing=releasing_teams(judgement.document),
            author_ids=judgement.author_ids,
            authentication=Authentication(),
        ),
        may_reproduce=may_reproduce(standing, author_ids=judgement.author_ids),
        is_agreed=is_agreed(judgement.requirements, [one for _, one in judgement.signoffs]),
        plan_bytes=_plan_bytes(shown) if read_plan else None,
    )


def _activation_row(decision: Decision) -> ActivationRow | None:
    if decision.state in UNDER_REVIEW and decision.state != DecisionState.EMERGENCY:
        return None
    row = activations_of([decision.pk]).get(decision.pk)
    if row is None:
        return None
    return ActivationRow(
        revision=row.revision.number,
        kind=row.kind,
        person=row.person.display_name,
        proposed_by=_proposed_by(row, decision),
        statement=row.statement,
        trial=row.trial,
        topology=row.topology,
        rank_map_digest=row.rank_map_digest,
        rollback=row.rollback,
        activated_at=row.activated_at,
        valid_until=row.valid_until,
        incident=row.emergency.incident if row.kind == ActivationKind.EMERGENCY else "",
    )


def _proposed_by(row: Activation, decision: Decision) -> str:
    if row.kind == ActivationKind.EMERGENCY:
        return row.emergency.proposal.person.display_name
    return decision.opened_by.display_name if row.kind == ActivationKind.ROLLBACK else ""


def _waiver_rows(decision: Decision) -> tuple[WaiverRow, ...]:
    """Return every waiver of a decision, the last granted first."""
    rows = reversed(waivers_of((decision.pk,)))
    return tuple(
        WaiverRow(
            trial=row.trial,
            gate=row.gate,
            reason=row.reason,
            owner=row.owner.display_name,
            countersigned_by=row.proposal.countersignature.person.display_name,
            granted_at=row.granted_at,
            ends_at=row.ends_at,
        )
        for row in rows
    )


def _plan_bytes(revision: Revision) -> bytes | None:
    planned = getattr(revision, "planned", None)
    if planned is None:
        return None
    return blob_read(planned.plan.blob_id, "plan")


def _signoff_row(row: SignOff, judged: JudgedSignOff, standing: Standing, judgement: Judgement) -> SignOffRow:
    carries = judgement.stored.carries.get(row.pk, ())
    withdrawal = getattr(row, "withdrawal", None)
    return SignOffRow(
        id=row.pk,
        revision=row.revision.number,
        team=row.team.slug,
        person=printed_name(row),
        is_mine=row.person_id == standing.person_id,
        meaning=row.meaning,
        statement=row.statement,
        signed_at=row.signed_at,
        subject=row.subject,
        scope=row.scope,
        displayed=row.displayed,
        rollback=row.rollback,
        points=tuple(_point_row(point) for point in judgement.stored.points.get(row.pk, ())),
        carried_by=next((carry.entry for carry in carries if carry.revision_id == judgement.newest.id), None),
        withdrawn_reason=withdrawal.reason if withdrawal else None,
        withdrawn_at=withdrawal.withdrawn_at if withdrawal else None,
        judged=judged,
    )


def _point_row(point: SignOffPoint) -> PointRow:
    settlement: PointSettlement | None = getattr(point, "settlement", None)
    return PointRow(
        id=point.pk,
        kind=point.kind,
        text=point.text,
        settled_by=settlement.person.display_name if settlement else "",
        note=settlement.note if settlement else "",
    )


def _seats(standing: Standing, judgement: Judgement, delegations: Mapping[str, Member]) -> tuple[SeatChoice, ...]:
    """Return the teams that the reader could sign for, each with whether they may sign for it and why not."""
    mine: Sequence[str] = sorted((standing.teams | set(delegations)) & set(judgement.document.teams))
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
                giver=delegations.get(team),
            ),
        )
        for team in mine
    )


def _delegations(members: Sequence[Member], person_id: int) -> Mapping[str, Member]:
    """Return team -> the member in whose place the reader may sign for it now."""
    givers = {(m.team, m.person_id): m for m in members if m.in_place_of is None}
    return {
        m.team: givers[m.team, m.in_place_of]
        for m in members
        if m.person_id == person_id and m.in_place_of is not None and m.is_active
    }
