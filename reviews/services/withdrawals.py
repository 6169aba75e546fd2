"""Taking back one's own sign-off, and saying that a condition or follow-up is done."""

from dataclasses import replace

from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.clock import database_now, utc_text
from reviews.errors import ConflictError, NotAllowedError, NotFoundError
from reviews.facts import Authentication, Standing
from reviews.models import (
    Decision,
    DecisionState,
    Person,
    PointKind,
    PointSettlement,
    SignOff,
    SignOffPoint,
    SignOffWithdrawal,
    Workspace,
)
from reviews.policies.permissions import may_comment
from reviews.policies.signoff_status import OBJECT
from reviews.policies.transitions import STANDS
from reviews.selectors.people import standing_of
from reviews.selectors.retractions import retracted_in
from reviews.services.acting import require, require_prose
from reviews.services.people import UNTRACED, Trace
from reviews.services.states import decision_move


def signoff_withdraw(
    *,
    actor: Person,
    workspace: Workspace,
    signoff_id: int,
    reason: str,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> SignOffWithdrawal:
    """Take back one's own sign-off. It stays visible; a second withdrawal returns the first.

    An objection is lifted that way; the last one lifted puts a contested decision into force again, unless evidence
    that it counted was retracted.

    Raises:
        NotFoundError: no such sign-off, or the actor is no member of the workspace.
        NotAllowedError: it is somebody else's, or the actor came with an API token.
        InvalidRequestError: no reason.
        ConflictError: the decision rests on it.
    """
    standing = standing_of(actor, workspace)
    authentication = authentication or Authentication("none")
    signoff = signoff_named(workspace, signoff_id)
    act = _act(standing, signoff, authentication, request_id)
    with refusals_recorded(workspace, act), workspace_write(workspace.pk):
        require(may_comment(standing))
        if signoff.person_id != standing.person_id or authentication.method == "token":
            raise NotAllowedError("Only its signer withdraws a sign-off, with a login.")
        said = require_prose("reason", reason)
        earlier = SignOffWithdrawal.objects.filter(signoff=signoff).first()
        if earlier is not None:
            return earlier
        decision = Decision.objects.get(pk=signoff.revision.decision_id)
        if signoff.meaning != OBJECT and decision.state in STANDS:
            raise ConflictError(f"{decision.label} rests on this sign-off. Object to it instead.")
        return signoff_take_back(workspace, decision, signoff, act, said)


def signoff_named(workspace: Workspace, signoff_id: int) -> SignOff:
    """Return a sign-off of the workspace.

    Raises:
        NotFoundError: there is none.
    """
    signoff = (
        SignOff.objects.filter(pk=signoff_id, revision__decision__workspace=workspace)
        .select_related("revision__decision", "team", "person")
        .first()
    )
    if signoff is None:
        raise NotFoundError("There is no such sign-off in this workspace.")
    return signoff


def _act(standing: Standing, signoff: SignOff, authentication: Authentication, request_id: str) -> Act:
    return Act(
        action="signoff.withdrawal_refused",
        actor=standing.token,
        decision=signoff.revision.decision.number,
        revision=signoff.revision.number,
        subject=signoff.subject,
        team=signoff.team.slug,
        meaning=signoff.meaning,
        authentication=authentication,
        request_id=request_id,
        payload_type="topogate.withdrawal/v1",
        payload={"turn": signoff.turn, "signed_at": utc_text(signoff.signed_at)},
    )


def signoff_take_back(
    workspace: Workspace, decision: Decision, signoff: SignOff, act: Act, reason: str
) -> SignOffWithdrawal:
    """State that a sign-off is taken back, and what follows for the decision. Call it inside ``workspace_write``."""
    now = database_now()
    withdrawal = SignOffWithdrawal.objects.create(signoff=signoff, reason=reason, withdrawn_at=now)
    append(workspace, replace(act, action="signoff.withdrawn", reason=reason))
    if decision.state == DecisionState.CONTESTED and not _is_contested(decision):
        decision_move(decision, "lift_objection", now)
    return withdrawal


def _is_contested(decision: Decision) -> bool:
    objected = SignOff.objects.filter(revision__decision=decision, meaning=OBJECT, withdrawal__isnull=True)
    return objected.exists() or bool(retracted_in(decision))


def point_settle(
    *, actor: Person, workspace: Workspace, point_id: int, note: str, trace: Trace = UNTRACED
) -> PointSettlement:
    """Say that a condition or follow-up is done; a second time returns the first.

    A condition is settled by its signer or another member of the team, a follow-up by any author of the decision too.

    Raises:
        NotFoundError: no such point, or the actor is no member of the workspace.
        NotAllowedError: the actor may not settle it, or came with an API token.
        InvalidRequestError: no note says how.
    """
    standing = standing_of(actor, workspace)
    point = (
        SignOffPoint.objects.filter(pk=point_id, signoff__revision__decision__workspace=workspace)
        .select_related("signoff__revision__decision", "signoff__team", "signoff__person")
        .first()
    )
    if point is None:
        raise NotFoundError("There is no such condition or follow-up in this workspace.")
    signoff = point.signoff
    act = replace(
        _act(standing, signoff, trace.authentication or Authentication("none"), trace.request_id or ""),
        action="point.refused",
        payload_type="topogate.point/v1",
        payload={"signer": signoff.person.token, "turn": signoff.turn, "kind": point.kind, "text": point.text},
    )
    with refusals_recorded(workspace, act), workspace_write(workspace.pk):
        require(may_comment(standing))
        if trace.authentication is not None and trace.authentication.method == "token":
            raise NotAllowedError("A condition or follow-up is settled with a login, not with an API token.")
        _require_settling(standing, point)
        said = require_prose("note", note)
        earlier = PointSettlement.objects.filter(point=point).first()
        if earlier is not None:
            return earlier
        settlement = PointSettlement.objects.create(
            point=point, person_id=standing.person_id, note=said, settled_at=database_now()
        )
        append(workspace, replace(act, action="point.settled", reason=said))
    return settlement


def _require_settling(standing: Standing, point: SignOffPoint) -> None:
    signoff = point.signoff
    revisions = signoff.revision.decision.revisions
    is_author = revisions.filter(author_id=standing.person_id).exists()
    if signoff.person_id == standing.person_id or (signoff.team.slug in standing.teams and not is_author):
        return
    if point.kind == PointKind.CONDITION:
        raise NotAllowedError(f"A condition is settled by its signer or another member of {signoff.team.slug}.")
    if not is_author:
        raise NotAllowedError(f"A follow-up is settled by {signoff.team.slug} or an author of the decision.")
