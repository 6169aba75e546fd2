"""Signing off, taking a sign-off back, and settling what it asked for.

A sign-off is bound to the subject its signer saw: when that is no longer the newest revision's subject, it is refused
and the refusal says what moved. Refused attempts are entries of the audit log as well.
"""

from dataclasses import replace
from datetime import datetime

from planner.canonical import canonical_bytes
from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.blobs import blob_read
from reviews.clock import database_now, utc_text
from reviews.errors import ConflictError, TamperedError, printable
from reviews.facts import Authentication, Standing
from reviews.models import (
    Decision,
    DecisionState,
    Delegation,
    Person,
    Revision,
    SignOff,
    SignOffPoint,
    Team,
    TeamScope,
    Workspace,
)
from reviews.models.fields import DIGEST_LENGTH
from reviews.planning import plan_tree, subject_digest
from reviews.policies.signoff_status import OBJECT
from reviews.selectors.judgement import waiver_digests
from reviews.selectors.people import standing_of
from reviews.selectors.revisions import with_digests
from reviews.services.planned import subject_parts
from reviews.services.signing import OBJECTABLE, SIGNABLE, Signing, require_shown, require_signing
from reviews.services.states import decision_move, not_in_review
from reviews.services.sweeps import decision_to_act_on


def signoff_give(
    *,
    actor: Person,
    decision_number: int,
    workspace: Workspace,
    team: str,
    meaning: str,
    statement: str,
    seen_subject: str,
    rollback: str = "",
    conditions: tuple[str, ...] = (),
    follow_ups: tuple[str, ...] = (),
    request_id: str = "",
    authentication: Authentication | None = None,
) -> SignOff:
    """Sign the newest revision of a decision for a team.

    ``seen_subject`` is the subject on the page that the signer read. The same sign-off again (person, team, subject,
    all that is said) returns the one that stands; anything else said replaces it. An objection to what is in force
    makes it contested.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        NotAllowedError: the actor may not sign for the team, or has not shown recently who they are.
        InvalidRequestError: with every problem of what is to be signed.
        ConflictError: the subject moved, the decision is not in review, or something is still to be opened.
        TamperedError: stored bytes that the subject names were changed.
    """
    signing = Signing(
        team=printable(team),
        meaning=printable(meaning, 24),
        statement=statement.strip(),
        seen_subject=printable(seen_subject, DIGEST_LENGTH),
        rollback=printable(rollback, 512),
        conditions=tuple(text.strip() for text in conditions),
        follow_ups=tuple(text.strip() for text in follow_ups),
        authentication=authentication or Authentication("none"),
    )
    return _signed(standing_of(actor, workspace), workspace, decision_number, signing, request_id)


def _signed(standing: Standing, workspace: Workspace, number: int, signing: Signing, request_id: str) -> SignOff:
    attempt = Act(
        action="signoff.refused",
        actor=standing.token,
        decision=number,
        subject=signing.seen_subject or None,
        team=signing.team,
        meaning=signing.meaning,
        authentication=signing.authentication,
        request_id=request_id,
    )
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        decision = decision_to_act_on(workspace, number)
        delegation = require_signing(standing, decision, signing)
        revision = _signable(decision, signing)
        latest = _latest(revision, standing, signing)
        if latest is not None and _says_the_same(latest, signing):
            return latest
        now = database_now()
        opened = require_shown(revision, standing, signing, now)
        signoff = _signoff(revision, standing, signing, now, turn=latest.turn + 1 if latest else 1)
        signoff.opened_id, signoff.delegation = opened, delegation
        signoff.save(force_insert=True)
        _points(signoff, signing)
        append(workspace, _given(attempt, signoff))
        if signing.meaning == OBJECT and decision.state == DecisionState.EFFECTIVE:
            decision_move(decision, "object", now)
    return signoff


def _signable(decision: Decision, signing: Signing) -> Revision:
    """Return the newest revision if it is the one that was seen.

    Raises:
        ConflictError: naming what moved.
    """
    revisions = with_digests(Revision.objects.filter(decision=decision))
    newest = revisions.order_by("-number")[0]
    planned = getattr(newest, "planned", None)
    if planned is not None and planned.subject == signing.seen_subject:
        if decision.state not in (OBJECTABLE if signing.meaning == OBJECT else SIGNABLE):
            raise not_in_review(decision)
        return newest
    seen = revisions.filter(planned__subject=signing.seen_subject).order_by("-number").first()
    if seen is None:
        raise ConflictError(
            f"The subject that you saw belongs to no revision of {decision.label}. Read the page again.",
            revision=newest.number,
        )
    now_parts = subject_parts(newest, planned.plan.plan_id if planned else None)
    moved = now_parts.moved_from(subject_parts(seen, seen.planned.plan.plan_id))
    words = ", ".join(part.replace("_", " ") for part in moved)
    raise ConflictError(
        f"{decision.label} moved while you read it: r{newest.number} replaced r{seen.number}. Changed: {words}.",
        moved=moved,
        revision=newest.number,
    )


def _latest(revision: Revision, standing: Standing, signing: Signing) -> SignOff | None:
    given = SignOff.objects.filter(revision=revision, team__slug=signing.team, person_id=standing.person_id)
    return given.select_related("withdrawal").prefetch_related("points").order_by("-turn").first()


def _says_the_same(latest: SignOff, signing: Signing) -> bool:
    """Whether the sign-off stands and says what is to be signed, as after a double click."""
    points = tuple((point.kind, point.text) for point in latest.points.all())
    said = (latest.meaning, latest.statement, latest.rollback, points)
    rollback = signing.rollback if signing.approves else ""
    return not hasattr(latest, "withdrawal") and said == (signing.meaning, signing.statement, rollback, signing.points)


def _signoff(revision: Revision, standing: Standing, signing: Signing, now: datetime, *, turn: int) -> SignOff:
    planned = revision.planned
    require_untouched(revision)
    waivers = waiver_digests([revision.decision_id], now).get(revision.decision_id, "")
    displayed = {
        "contract": revision.contract.content_id,
        "contract_file_sha256": revision.contract.file_sha256,
        "evidence": revision.evidence.content_id,
        "evidence_file_sha256": revision.evidence.file_sha256,
        "identity": revision.identity,
        "plan": planned.plan.plan_id,
        "planner_version": revision.planner_version,
        "policy": revision.policy.content_id,
        "subject": planned.subject,
    }
    return SignOff(
        revision=revision,
        team=Team.objects.get(workspace_id=standing.workspace_id, slug=signing.team),
        person_id=standing.person_id,
        turn=turn,
        subject=planned.subject,
        scope=scope_digest(revision, signing.team),
        meaning=signing.meaning,
        statement=signing.statement,
        rollback=signing.rollback if signing.approves else "",
        displayed=canonical_bytes(displayed).decode(),
        waivers=waivers,
        auth_method=signing.authentication.method,
        auth_age_s=signing.authentication.age_s,
        signed_at=now,
    )


def _points(signoff: SignOff, signing: Signing) -> None:
    SignOffPoint.objects.bulk_create(
        SignOffPoint(signoff=signoff, number=number, kind=kind, text=text)
        for number, (kind, text) in enumerate(signing.points, 1)
    )


def require_untouched(revision: Revision) -> None:
    """Raise TamperedError unless what is stored of a planned revision is still what its subject is made of."""
    plan = revision.planned.plan
    blob_read(revision.contract.blob_id, "contract")
    blob_read(revision.evidence.blob_id, "evidence")
    blob_read(revision.policy.blob_id, "policy")
    found = plan_tree(blob_read(plan.blob_id, "plan")).get("plan_id")
    subject = subject_digest(subject_parts(revision, plan.plan_id))
    for what, stored, expected in (("plan id", found, plan.plan_id), ("subject", subject, revision.planned.subject)):
        if stored != expected:
            raise TamperedError(f"The stored {what} is not what was stored: expected {expected}, found {stored}.")


def scope_digest(revision: Revision, team: str) -> str:
    """Return the digest of what the team owns in a planned revision.

    Raises:
        ConflictError: the revision's policy has no such team.
    """
    scope = TeamScope.objects.filter(basis__planned__revision=revision, team=team).values_list("digest", flat=True)
    digest = scope.first()
    if digest is None:
        raise ConflictError(
            f"The policy of r{revision.number} has no team {team}. A new revision is judged by the policy of today."
        )
    return digest


def _given(attempt: Act, signoff: SignOff) -> Act:
    return replace(
        attempt,
        action="signoff.given",
        revision=signoff.revision.number,
        subject=signoff.subject,
        reason=None,
        payload_type="topogate.signoff/v1",
        payload=signoff_payload(signoff),
    )


def signoff_payload(signoff: SignOff) -> dict[str, object]:
    """Return what the audit log says of a sign-off, from its row; what it does not say is left out.

    Entries from before there were rollbacks, conditions and delegations have none of these fields.
    """
    delegation: Delegation | None = signoff.delegation
    points = [{"kind": point.kind, "text": point.text} for point in signoff.points.order_by("number")]
    optional = {
        "rollback": signoff.rollback,
        "opened": signoff.opened_id,
        "waivers": signoff.waivers,
        "points": points,
        "in_place_of": delegation.giver.token if delegation else None,
    }
    return {
        "subject": signoff.subject,
        "scope": signoff.scope,
        "team": signoff.team.slug,
        "meaning": signoff.meaning,
        "statement": signoff.statement,
        "person": signoff.person.token,
        "turn": signoff.turn,
        "at": utc_text(signoff.signed_at),
        "displayed": signoff.displayed,
        **{name: value for name, value in optional.items() if value},
    }
