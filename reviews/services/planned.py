"""Binds a revision to its plan, or marks it as one that could not be planned."""

from collections.abc import Collection

from reviews.audit import Act, append
from reviews.clock import database_now, utc_text
from reviews.errors import ConflictError
from reviews.facts import SubjectParts
from reviews.models import Decision, DecisionState, Plan, PlannedRevision, Revision, TeamScope, Workspace
from reviews.planning import subject_digest
from reviews.services.bases import basis_create
from reviews.services.carries import signoffs_carry
from reviews.services.states import decision_move


def subject_parts(revision: Revision, plan_id: str | None) -> SubjectParts:
    """Return what the revision's subject is made of."""
    return SubjectParts(
        contract=revision.contract.content_id,
        evidence=revision.evidence.content_id,
        identity=revision.identity,
        policy=revision.policy.content_id,
        planner_version=revision.planner_version,
        plan=plan_id,
    )


def revision_take_plan(workspace: Workspace, revision: Revision, plan: Plan) -> PlannedRevision:
    """Give a revision its plan and with it its subject, and carry what still stands of the sign-offs before it.

    Call it inside ``workspace_write``.
    """
    now = database_now()
    planned = PlannedRevision.objects.create(
        revision=revision,
        plan=plan,
        subject=subject_digest(subject_parts(revision, plan.plan_id)),
        planned_at=now,
    )
    basis = basis_create(planned)
    newest = is_newest(revision)
    if newest and revision.decision.state == DecisionState.EVALUATING:
        decision_move(revision.decision, "plan", now)
    append(
        workspace,
        Act(
            action="revision.planned",
            decision=revision.decision.number,
            revision=revision.number,
            subject=planned.subject,
            payload_type="topogate.planned/v2",
            payload={
                "plan": plan.plan_id,
                "plan_sha256": plan.blob_id,
                "planner_version": revision.planner_version,
                "decision": plan.decision_word,
                "topology": plan.selected_topology or None,
                # What quorum and carries are judged by, so that an outsider can judge them from the log alone.
                "evidence_until": utc_text(basis.evidence_until) if basis.evidence_until else None,
                "scopes": {
                    scope.team: {"digest": scope.digest, "is_touched": scope.is_touched}
                    for scope in TeamScope.objects.filter(basis=basis).order_by("team")
                },
            },
        ),
    )
    if newest:
        signoffs_carry(workspace, revision)
    return planned


def revision_fail(workspace: Workspace, revision: Revision, *, code: str, reason: str) -> None:
    """Record that a revision has no plan and why. Call it inside ``workspace_write``."""
    if is_newest(revision) and revision.decision.state == DecisionState.EVALUATING:
        decision_move(revision.decision, "fail", database_now())
    append(
        workspace,
        Act(
            action="revision.not_planned",
            decision=revision.decision.number,
            revision=revision.number,
            reason=reason[:2000],
            payload_type="topogate.not_planned/v1",
            payload={"code": code, "planner_version": revision.planner_version},
        ),
    )


def is_newest(revision: Revision) -> bool:
    """Whether the decision has no later revision."""
    return not Revision.objects.filter(decision_id=revision.decision_id, number__gt=revision.number).exists()


def require_newest(decision: Decision, seen: Collection[str]) -> None:
    """Let nobody build on a revision that another one replaced meanwhile. Call it inside ``workspace_write``.

    Raises:
        ConflictError: the newest revision's subject is none of those that were ``seen``, or it has none yet.
    """
    newest = Revision.objects.filter(decision=decision).select_related("planned").order_by("-number")[0]
    planned = getattr(newest, "planned", None)
    if planned is None or planned.subject not in seen:
        found = planned.subject if planned else "no subject yet"
        raise ConflictError(
            f"{decision.label} moved: its newest revision is r{newest.number} with {found}. Read it, then send again.",
            revision=newest.number,
        )
