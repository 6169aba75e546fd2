"""Ends a review without putting anything into force: withdrawn by its authors, rejected, or closed as it is."""

from reviews.clock import database_now
from reviews.errors import ConflictError
from reviews.models import Decision, DecisionState, Person, Workspace
from reviews.policies.permissions import may_act_as_author
from reviews.policies.requirements import is_agreed, teams_that
from reviews.selectors.judgement import Judgement
from reviews.services.acting import acting, require, require_prose, require_release
from reviews.services.people import UNTRACED, Trace
from reviews.services.states import decision_move, state_after

REJECTING_TEAMS = 2
"""So many teams have to reject, unless one of them has a hard veto."""


def decision_withdraw(
    *, actor: Person, workspace: Workspace, number: int, reason: str, trace: Trace = UNTRACED
) -> Decision:
    """Withdraw a decision that is a draft or in review, with a reason; it is final.

    One whose planning failed is a draft again first.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        NotAllowedError: the actor is no author of it.
        InvalidRequestError: no reason.
        ConflictError: it cannot be withdrawn in its present state.
    """
    with acting(actor=actor, workspace=workspace, number=number, refused="withdrawal.refused", trace=trace) as act:
        judgement = act.judged()
        require(may_act_as_author(act.standing, author_ids=judgement.author_ids))
        said = require_prose("reason", reason)
        now = database_now()
        if act.decision.state == DecisionState.EVALUATION_FAILED:
            decision_move(act.decision, "reopen", now)
        decision_move(act.decision, "withdraw", now)
        act.record("decision.withdrawn", reason=said, **_newest(judgement))
        return act.decision


def decision_reject(
    *, actor: Person, workspace: Workspace, number: int, reason: str, trace: Trace = UNTRACED
) -> Decision:
    """Close a review as rejected, once two teams reject it, or one with a hard veto; it is final.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        NotAllowedError: the actor may not release or close it, or has not shown recently who they are.
        InvalidRequestError: no reason.
        ConflictError: too few teams reject it, or it is not in review.
    """
    with acting(actor=actor, workspace=workspace, number=number, refused="rejection.refused", trace=trace) as act:
        judgement = require_release(act)
        said = require_prose("reason", reason)
        state_after(act.decision, "reject")  # what nobody can do is said before what is lacking
        rejecting = teams_that((judged for _, judged in judgement.signoffs), "reject")
        is_hard = any(
            judgement.document.teams[team].hard_veto for team in rejecting if team in judgement.document.teams
        )
        if len(rejecting) < REJECTING_TEAMS and not is_hard:
            found = ", ".join(rejecting) or "none"
            raise ConflictError(f"Closing as rejected takes the rejection of {REJECTING_TEAMS} teams, found {found}.")
        decision_move(act.decision, "reject", database_now())
        act.record(
            "decision.rejected",
            reason=said,
            payload_type="topogate.closing/v1",
            payload={"teams": list(rejecting)},
            **_newest(judgement),
        )
        return act.decision


def decision_close(
    *, actor: Person, workspace: Workspace, number: int, reason: str, trace: Trace = UNTRACED
) -> Decision:
    """Close a review whose plan selects nothing, once every team agrees that this is the outcome; it is final.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        NotAllowedError: the actor may not release or close it, or has not shown recently who they are.
        InvalidRequestError: no reason.
        ConflictError: a topology is selected, a team does not agree, or it is not in review.
    """
    with acting(actor=actor, workspace=workspace, number=number, refused="closing.refused", trace=trace) as act:
        judgement = require_release(act)
        said = require_prose("reason", reason)
        state_after(act.decision, "close")
        plan = judgement.newest.plan
        if plan is None or plan.decision_word == "SELECT_TOPOLOGY":
            raise ConflictError(
                f"{act.decision.label} selects a topology. It is put into force, rejected or withdrawn."
            )
        if not is_agreed(judgement.requirements, [judged for _, judged in judgement.signoffs]):
            raise ConflictError(f"Not every team agrees yet. {judgement.approval.because}")
        decision_move(act.decision, "close", database_now())
        act.record(
            "decision.closed",
            reason=said,
            payload_type="topogate.closing/v1",
            payload={"decision": plan.decision_word},
            **_newest(judgement),
        )
        return act.decision


def _newest(judgement: Judgement) -> dict[str, object]:
    return {"revision": judgement.newest.number, "subject": judgement.newest.subject}
