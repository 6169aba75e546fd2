"""Puts a reviewed revision into force. Everything is judged again under the lock, and what was judged is kept.

Rules kept: every requirement is satisfied by people who are eligible now; a member of a releasing team does it who is
no author, with a recent proof, bound to the subject they saw; a newer decision on the slot supersedes the older one.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction

from planner.canonical import canonical_bytes
from planner.records.plan import Candidate, Plan
from reviews import queue
from reviews.audit import without_names
from reviews.blobs import blob_keep, blob_read
from reviews.clock import database_now, utc_text, when
from reviews.errors import ConflictError, Finding, InvalidRequestError, printable
from reviews.models import Activation, ActivationKind, Decision, DecisionState, Person, Revision, Workspace
from reviews.planning import contract_tree, decode_plan
from reviews.policies.transitions import STANDS
from reviews.policies.validity import valid_until
from reviews.policies.waiving import chosen_trial
from reviews.selectors.judgement import Judgement
from reviews.selectors.retractions import retracted_in
from reviews.selectors.revisions import with_digests
from reviews.selectors.rollbacks import rollback_choices
from reviews.selectors.waivers import waived_gates
from reviews.services.acting import (
    Acting,
    acting,
    not_what_was_seen,
    require_prose,
    require_release,
)
from reviews.services.footprints import footprint_keep
from reviews.services.people import UNTRACED, Trace
from reviews.services.signoffs import require_untouched
from reviews.services.states import decision_move, not_in_review


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What is put into force: one trial of a revision, with its plan and how long it holds."""

    revision: Revision
    plan: Plan
    trial: str
    at: datetime
    until: datetime | None
    statement: str
    rollback: str

    @property
    def candidate(self) -> Candidate:
        """The trial, judged."""
        return self.plan.candidates[self.trial]


def decision_activate(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    statement: str,
    seen_subject: str,
    rollback: str,
    trace: Trace = UNTRACED,
) -> Activation:
    """Put the newest revision of a decision into force; once more returns the activation that stands.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        NotAllowedError: the actor may not release it, or has not shown recently who they are.
        InvalidRequestError: no statement, or no rollback that there is.
        ConflictError: the subject moved, a requirement is not satisfied, or it would hold no more.
        TamperedError: stored bytes that the subject names were changed.
    """
    with acting(
        actor=actor,
        workspace=workspace,
        number=number,
        refused="activation.refused",
        trace=trace,
        subject=printable(seen_subject, 71) or None,
    ) as act:
        judgement = require_release(act)
        standing = _standing_activation(act, seen_subject)
        if standing is not None:
            return standing
        release = _release(act, judgement, seen_subject, require_prose("statement", statement), rollback)
        return activation_state(act, judgement, release, kind=ActivationKind.REVIEW)


def _standing_activation(act: Acting, seen_subject: str) -> Activation | None:
    """Return the activation that the same person made of this subject, as after a double click."""
    if act.decision.state != DecisionState.EFFECTIVE:
        return None
    last = Activation.objects.filter(revision__decision=act.decision).order_by("-pk").first()
    is_same = last is not None and (last.subject, last.person_id) == (seen_subject, act.standing.person_id)
    return last if is_same else None


def _release(act: Acting, judgement: Judgement, seen_subject: str, statement: str, rollback: str) -> Release:
    decision = act.decision
    if decision.state not in (DecisionState.IN_REVIEW, DecisionState.EMERGENCY):
        raise not_in_review(decision)
    newest = judgement.newest
    if newest.subject != seen_subject:
        raise not_what_was_seen(decision, newest.number, seen_subject)
    if not judgement.approval.approved:
        raise ConflictError(f"{decision.label} r{newest.number} is not approved. {judgement.approval.because}")
    if retracted_in(decision):
        raise ConflictError(f"{decision.label} r{newest.number} counts evidence that was retracted.")
    revision = (
        with_digests(Revision.objects.filter(decision=decision))
        .select_related("planned__basis")
        .get(number=newest.number)
    )
    require_untouched(revision)
    now = database_now()
    plan = decode_plan(blob_read(revision.planned.plan.blob_id, "plan"))
    trial = chosen_trial(plan, waived_gates(decision.pk, now))
    if trial is None:
        raise ConflictError(f"{decision.label} r{newest.number} selects nothing. Such a decision is closed as such.")
    known = [choice.value for choice in rollback_choices(decision, plan)]
    if rollback not in known:
        expected = f"where to go back to: {', '.join(known)}"
        problem = Finding("request", "request/rollback", "rollback", expected, printable(rollback, 64) or "nothing")
        raise InvalidRequestError((problem,))
    until = release_until(revision, judgement, now)
    if until is not None and until <= now:
        raise ConflictError(f"{decision.label} would hold no more: it was valid until {when(until)} UTC.")
    return Release(
        revision=revision, plan=plan, trial=trial, at=now, until=until, statement=statement, rollback=rollback
    )


def release_until(revision: Revision, judgement: Judgement, now: datetime) -> datetime | None:
    """Return until when a revision put into force now would stay so."""
    validity = contract_tree(blob_read(revision.contract.blob_id, "contract")).get("validity", {})
    return valid_until(
        now,
        policy_max_age_s=judgement.document.max_age_s,
        expires_after_s=validity.get("decision_expires_after_s"),
        evidence_until=revision.planned.basis.evidence_until,
    )


def activation_state(act: Acting, judgement: Judgement, release: Release, *, kind: ActivationKind) -> Activation:
    """State that a revision is in force, with what it rests on. Call it inside ``workspace_write``."""
    supersede_older(act, release.at)
    is_emergency = act.decision.state == DecisionState.EMERGENCY
    decision_move(act.decision, "complete_review" if is_emergency else "activate", release.at)
    snapshot = requirements_record(judgement)
    activation = Activation.objects.create(
        revision=release.revision,
        kind=kind,
        person_id=act.standing.person_id,
        statement=release.statement,
        subject=release.revision.planned.subject,
        trial=release.trial,
        topology=release.candidate.topology,
        rank_map_digest=release.candidate.rank_map_digest,
        rollback=release.rollback,
        requirements_id=blob_keep(canonical_bytes(snapshot)).sha256,
        activated_at=release.at,
        valid_until=release.until,
    )
    footprint_keep(activation, release.plan)
    act.record(
        "decision.activated",
        revision=release.revision.number,
        subject=activation.subject,
        reason=release.statement,
        payload_type="topogate.activation/v1",
        payload={**activation_record(activation), **snapshot},
    )
    # A checkpoint that covers the entry soon: the next turn of the sweep may be a minute away.
    transaction.on_commit(partial(queue.wake, act.workspace.pk, queue.SIGN_TASK))
    return activation


def activation_record(activation: Activation) -> dict[str, Any]:
    """Return what the audit log says of an activation, from its row."""
    return {
        "kind": str(activation.kind),
        "trial": activation.trial,
        "topology": activation.topology,
        "rank_map_digest": activation.rank_map_digest,
        "rollback": activation.rollback,
        "activated_at": utc_text(activation.activated_at),
        "valid_until": utc_text(activation.valid_until) if activation.valid_until else None,
    }


def requirements_record(judgement: Judgement) -> dict[str, Any]:
    """Return every requirement and every sign-off that counts, as an outsider can check the quorum from."""
    return {
        "requirements": [
            {
                "team": row.team,
                "quorum": row.quorum,
                "approvals": row.approvals,
                "status": row.status,
                "because": without_names(row.because),
            }
            for row in judgement.requirements
        ],
        "signoffs": [
            {
                "team": row.team.slug,
                "person": row.person.token,
                "meaning": row.meaning,
                "revision": row.revision.number,
                "turn": row.turn,
                "status": judged.status,
                "subject": row.subject,
                "scope": row.scope,
            }
            for row, judged in judgement.signoffs
            if judged.counts
        ],
        "authors": sorted(Person.objects.filter(pk__in=judgement.author_ids).values_list("token", flat=True)),
    }


def supersede_older(act: Acting, now: datetime) -> None:
    """End what was in force on the slot before. Call it inside ``workspace_write``."""
    older = Decision.objects.filter(workspace=act.workspace, slot=act.decision.slot, state__in=STANDS)
    for decision in older.exclude(pk=act.decision.pk).order_by("number"):
        decision_move(decision, "supersede", now)
        act.record(
            "decision.superseded",
            decision=decision.number,
            subject=None,
            payload_type="topogate.superseded/v1",
            payload={"by": act.decision.number, "slot": decision.slot},
        )
