"""Signing off and taking a sign-off back.

A sign-off is bound to the subject its signer saw: when that is no longer the newest revision's subject, it is refused
and the refusal says what moved. Refused attempts are entries of the audit log as well.
"""

from dataclasses import dataclass, replace

from planner.canonical import canonical_bytes
from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.blobs import blob_read
from reviews.clock import database_now, utc_text
from reviews.errors import (
    ConflictError,
    Finding,
    InvalidRequestError,
    NotAllowedError,
    NotFoundError,
    TamperedError,
    is_prose,
    length_of,
    printable,
)
from reviews.facts import Authentication, Standing
from reviews.models import (
    Decision,
    DecisionState,
    Meaning,
    Person,
    Revision,
    SignOff,
    SignOffWithdrawal,
    Team,
    TeamScope,
    Workspace,
)
from reviews.models.fields import DIGEST_LENGTH
from reviews.planning import plan_tree, subject_digest
from reviews.policies.permissions import may_sign
from reviews.selectors.decision_page import decision_named
from reviews.selectors.people import standing_of
from reviews.services.planned import subject_parts

STATEMENT_LENGTH = 4000
PROSE = f"1 to {STATEMENT_LENGTH} characters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """What somebody wants to sign."""

    team: str
    meaning: str
    statement: str
    seen_subject: str
    authentication: Authentication


def signoff_give(
    *,
    actor: Person,
    decision_number: int,
    workspace: Workspace,
    team: str,
    meaning: str,
    statement: str,
    seen_subject: str,
    request_id: str = "",
    authentication: Authentication | None = None,
) -> SignOff:
    """Sign the newest revision of a decision for a team.

    ``seen_subject`` is the subject on the page that the signer read. The same sign-off again (person, team, subject,
    meaning, statement) returns the one that stands; another meaning or statement replaces it.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        NotAllowedError: the actor may not sign for the team.
        InvalidRequestError: an unknown meaning or an empty statement.
        ConflictError: the subject moved, or the decision is not in review.
        TamperedError: stored bytes that the subject names were changed.
    """
    standing = standing_of(actor, workspace)
    signing = Signing(
        team=printable(team),
        meaning=printable(meaning, 24),
        statement=statement.strip(),
        seen_subject=printable(seen_subject, DIGEST_LENGTH),
        authentication=authentication or Authentication(),
    )
    attempt = Act(
        action="signoff.refused",
        actor=standing.token,
        decision=decision_number,
        subject=signing.seen_subject or None,
        team=signing.team,
        meaning=signing.meaning,
        authentication=signing.authentication,
        request_id=request_id,
    )
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        decision = decision_named(workspace, decision_number)
        require_signing(standing, decision, signing)
        revision = _signable(decision, signing.seen_subject)
        latest = _latest(revision, standing, signing)
        if latest is not None and _says_the_same(latest, signing):
            return latest
        signoff = _signoff(revision, standing, signing, turn=latest.turn + 1 if latest else 1)
        append(workspace, _given(attempt, signoff))
    return signoff


def require_signing(standing: Standing, decision: Decision, signing: Signing) -> None:
    """Raise unless the person may sign this for the team; see ``signoff_give``."""
    problems = []
    if signing.meaning not in Meaning.values:
        expected = ", ".join(Meaning.values)
        problems.append(Finding("request", "request/meaning", "meaning", expected, signing.meaning or "nothing"))
    if not signing.team:
        problems.append(Finding("request", "request/team", "team", "the team that you sign for", "nothing"))
    if not is_prose(signing.statement, STATEMENT_LENGTH):
        found = length_of(signing.statement)
        problems.append(Finding("request", "request/statement", "statement", PROSE, found))
    if problems:
        raise InvalidRequestError(tuple(problems))
    signed = SignOff.objects.filter(revision__decision=decision, person_id=standing.person_id, withdrawal__isnull=True)
    verdict = may_sign(
        standing,
        team=signing.team,
        author_ids=set(Revision.objects.filter(decision=decision).values_list("author_id", flat=True)),
        other_seats=set(signed.values_list("team__slug", flat=True)),
        authentication=signing.authentication,
    )
    if not verdict.allowed:
        raise NotAllowedError(verdict.reason)


def _signable(decision: Decision, seen_subject: str) -> Revision:
    """Return the newest revision if it is the one that was seen.

    Raises:
        ConflictError: naming what moved.
    """
    revisions = Revision.objects.filter(decision=decision).select_related(
        "contract", "evidence", "policy", "planned__plan"
    )
    newest = revisions.order_by("-number")[0]
    planned = getattr(newest, "planned", None)
    if planned is not None and planned.subject == seen_subject:
        if decision.state != DecisionState.IN_REVIEW:
            raise ConflictError(f"{decision.label} is {DecisionState(decision.state).label.lower()}, not in review.")
        return newest
    seen = revisions.filter(planned__subject=seen_subject).order_by("-number").first()
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
    return given.select_related("withdrawal").order_by("-turn").first()


def _says_the_same(latest: SignOff, signing: Signing) -> bool:
    """Whether the sign-off stands and says what is to be signed, as after a double click."""
    stands = not hasattr(latest, "withdrawal")
    return stands and (latest.meaning, latest.statement) == (signing.meaning, signing.statement)


def _signoff(revision: Revision, standing: Standing, signing: Signing, *, turn: int) -> SignOff:
    planned = revision.planned
    require_untouched(revision)
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
    return SignOff.objects.create(
        revision=revision,
        team=Team.objects.get(workspace_id=standing.workspace_id, slug=signing.team),
        person_id=standing.person_id,
        turn=turn,
        subject=planned.subject,
        scope=scope_digest(revision, signing.team),
        meaning=signing.meaning,
        statement=signing.statement,
        displayed=canonical_bytes(displayed).decode(),
        auth_method=signing.authentication.method,
        auth_age_s=signing.authentication.age_s,
        signed_at=database_now(),
    )


def require_untouched(revision: Revision) -> None:
    """Raise TamperedError unless what is stored of a planned revision is still what its subject is made of."""
    plan = revision.planned.plan
    blob_read(revision.evidence.blob_id, "evidence")
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
            f"The policy of r{revision.number} has no team {team}. A newer revision is judged by its own."
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


def signoff_payload(signoff: SignOff) -> dict[str, str | int]:
    """Return what the audit log says of a sign-off, from its row."""
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
    }


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

    Raises:
        NotFoundError: no such sign-off, or the actor is no member of the workspace.
        NotAllowedError: it is somebody else's, or the actor came with an API token.
        InvalidRequestError: no reason.
    """
    standing = standing_of(actor, workspace)
    authentication = authentication or Authentication()
    signoff = (
        SignOff.objects.filter(pk=signoff_id, revision__decision__workspace=workspace)
        .select_related("revision__decision", "team")
        .first()
    )
    if signoff is None:
        raise NotFoundError("There is no such sign-off in this workspace.")
    act = Act(
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
    with refusals_recorded(workspace, act), workspace_write(workspace.pk):
        if signoff.person_id != standing.person_id or authentication.method == "token":
            raise NotAllowedError("Only its signer withdraws a sign-off, on the page.")
        if not is_prose(reason.strip(), STATEMENT_LENGTH):
            found = length_of(reason.strip())
            raise InvalidRequestError((Finding("request", "request/reason", "reason", PROSE, found),))
        earlier = SignOffWithdrawal.objects.filter(signoff=signoff).first()
        if earlier is not None:
            return earlier
        withdrawal = SignOffWithdrawal.objects.create(
            signoff=signoff, reason=reason.strip(), withdrawn_at=database_now()
        )
        append(workspace, replace(act, action="signoff.withdrawn", reason=withdrawal.reason))
    return withdrawal
