"""What somebody wants to sign, and whether they may: every problem with it at once."""

from dataclasses import dataclass, field
from datetime import datetime

from planner.canonical import canonical_bytes
from planner.records.plan import Plan
from reviews.blobs import blob_keep, blob_read
from reviews.clock import database_now
from reviews.errors import ConflictError, Finding, InvalidRequestError, is_prose, length_of
from reviews.facts import Authentication, Member, Standing
from reviews.models import Decision, DecisionState, Delegation, Meaning, PointKind, Revision, SignOff
from reviews.planning import decode_plan
from reviews.policies.opening import item_words, opened_record
from reviews.policies.permissions import may_sign
from reviews.policies.signoff_status import APPROVING, OBJECT
from reviews.selectors.judgement import author_ids
from reviews.selectors.openings import openings_of
from reviews.selectors.rollbacks import rollback_choices
from reviews.services.acting import PROSE, PROSE_LENGTH, require, require_proof

POINTS = 20
POINT_LENGTH = 1000
SIGNABLE = (DecisionState.IN_REVIEW, DecisionState.EMERGENCY)
OBJECTABLE = (*SIGNABLE, DecisionState.EFFECTIVE, DecisionState.CONTESTED)
"""What is in force is signed no more, but any owning team may object to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """What somebody wants to sign. ``conditions`` block until they are met, ``follow_ups`` never do."""

    team: str
    meaning: str
    statement: str
    seen_subject: str
    rollback: str = ""
    conditions: tuple[str, ...] = ()
    follow_ups: tuple[str, ...] = ()
    authentication: Authentication = field(default_factory=lambda: Authentication("none"))

    @property
    def approves(self) -> bool:
        """Whether it would fill a seat of the team's quorum."""
        return self.meaning in APPROVING

    @property
    def points(self) -> tuple[tuple[str, str], ...]:
        """Kind and text of conditions and follow-ups, in order."""
        return (
            *((PointKind.CONDITION.value, text) for text in self.conditions),
            *((PointKind.FOLLOW_UP.value, text) for text in self.follow_ups),
        )


def require_signing(standing: Standing, decision: Decision, signing: Signing) -> Delegation | None:
    """Raise unless the person may sign this for the team; return the delegation under which they would.

    Raises:
        InvalidRequestError: with every problem of what is to be signed.
        NotAllowedError: they may not sign for the team.
        ProofNeededError: they have not shown recently enough who they are.
        ConflictError: their own objection stands.
    """
    problems = _problems(signing)
    if not signing.team:  # nobody can say yet whether they may
        raise InvalidRequestError(tuple(problems))
    given = SignOff.objects.filter(revision__decision=decision, withdrawal__isnull=True)
    delegation = None if signing.team in standing.teams else delegation_to(standing, signing.team)
    giver = _giver(delegation)
    people = [standing.person_id] if giver is None else [standing.person_id, giver.person_id]
    require(
        may_sign(
            standing,
            team=signing.team,
            author_ids=author_ids(decision),
            other_seats=set(given.filter(person_id__in=people).values_list("team__slug", flat=True)),
            authentication=signing.authentication,
            giver=giver,
        )
    )
    if problems:
        raise InvalidRequestError(tuple(problems))
    require_proof(signing.authentication, standing.workspace_id)
    if signing.meaning != OBJECT and given.filter(person_id=standing.person_id, meaning=OBJECT).exists():
        raise ConflictError("Your objection stands over every revision. Withdraw it before you sign anything else.")
    return delegation


def _giver(delegation: Delegation | None) -> Member | None:
    if delegation is None:
        return None
    giver = delegation.giver
    return Member(giver.pk, giver.login, giver.display_name, delegation.team.slug, giver.is_active, is_lead=False)


def delegation_to(standing: Standing, team: str) -> Delegation | None:
    """Return the delegation under which the person signs for a team that they have no seat in, None without one."""
    held = Delegation.objects.filter(
        workspace_id=standing.workspace_id,
        taker_id=standing.person_id,
        team__slug=team,
        end__isnull=True,
        giver__is_active=True,
        giver__memberships__seats__team__slug=team,
        giver__memberships__seats__team__workspace_id=standing.workspace_id,
    )
    moment = database_now()
    return held.filter(starts_at__lte=moment, ends_at__gt=moment).select_related("giver", "team").order_by("pk").first()


def _problems(signing: Signing) -> list[Finding]:
    problems = []
    if signing.meaning not in Meaning.values:
        problems.append(_finding("meaning", ", ".join(Meaning.values), signing.meaning or "nothing"))
    if not signing.team:
        problems.append(_finding("team", "the team that you sign for", "nothing"))
    if not is_prose(signing.statement, PROSE_LENGTH):
        problems.append(_finding("statement", PROSE, length_of(signing.statement)))
    for name, texts in (("conditions", signing.conditions), ("follow_ups", signing.follow_ups)):
        if len(texts) > POINTS:
            problems.append(_finding(name, f"at most {POINTS}", str(len(texts))))
        problems += [
            _finding(f"{name}/{at}", f"1 to {POINT_LENGTH} characters", length_of(text))
            for at, text in enumerate(texts)
            if not is_prose(text, POINT_LENGTH)
        ]
    if (signing.meaning == Meaning.APPROVE_WITH_CONDITIONS) != bool(signing.conditions):
        expected = "at least one" if not signing.conditions else f"none unless you {Meaning.APPROVE_WITH_CONDITIONS}"
        problems.append(_finding("conditions", expected, str(len(signing.conditions) or "none")))
    return problems


def _finding(name: str, expected: str, found: str) -> Finding:
    return Finding("request", f"request/{name.partition('/')[0]}", name, expected, found)


def require_shown(revision: Revision, standing: Standing, signing: Signing, now: datetime) -> str | None:
    """Check what only an approval needs: everything opened, a rollback named. Returns the digest of what was opened.

    Raises:
        ConflictError: something is still to be opened.
        InvalidRequestError: no rollback is named, or one that there is not.
        TamperedError: the plan is not what was stored.
    """
    if not signing.approves:
        return None
    plan = decode_plan(blob_read(revision.planned.plan.blob_id, "plan"))
    openings = openings_of(revision, person_id=standing.person_id, team=signing.team, now=now, plan=plan)
    if openings.missing:
        shown = "; ".join(item_words(item) for item in openings.missing[:5])
        more = f" and {len(openings.missing) - 5} more" if len(openings.missing) > 5 else ""
        raise ConflictError(
            f"{len(openings.missing)} of {len(openings.items)} items are not opened yet: {shown}{more}. "
            "Open them before you approve."
        )
    _require_rollback(revision, plan, signing)
    return blob_keep(canonical_bytes(opened_record(openings.items, openings.opened_at))).sha256


def _require_rollback(revision: Revision, plan: Plan, signing: Signing) -> None:
    known = [choice.value for choice in rollback_choices(revision.decision, plan)]
    if signing.rollback not in known:
        problem = _finding("rollback", f"where to go back to: {', '.join(known)}", signing.rollback or "nothing")
        raise InvalidRequestError((problem,))
