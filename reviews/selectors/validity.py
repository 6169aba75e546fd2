"""The validity of a decision or a slot as a document for other tools (``topogate.validity/v1``).

State, end, waivers and reports are read at every ask and are of one moment. No person is named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from planner.canonical import file_sha256
from planner.records.validity import (
    Difference,
    DocumentDigests,
    EmergencyInForce,
    IdentityReported,
    InForce,
    Observed,
    Signed,
    ValidDecision,
    Validity,
    WaivedGate,
)
from reviews.asked_once import moment
from reviews.blobs import blob_read
from reviews.clock import utc_text
from reviews.errors import NotFoundError, printable
from reviews.models import (
    Activation,
    AuditEntry,
    Decision,
    Person,
    Revision,
    StoredDocument,
    Waiver,
    Workspace,
)
from reviews.selectors.decision_page import decision_of_member
from reviews.selectors.people import workspace_of_member
from reviews.selectors.reported_keys import keys_from
from reviews.selectors.revisions import revisions_of
from reviews.selectors.slot_check import gates_past
from reviews.selectors.slots_now import DecisionNow, decisions_now, slots_now

__all__ = [
    "Links",
    "ValidityNow",
    "decision_validity",
    "differences_since",
    "slot_validity",
    "validity_of",
    "version_of",
]

MOST_REPORTS, MOST_KEYS = 20, 50
Links = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ValidityNow:
    """What is known of a decision as of a moment; ``record`` writes it down with addresses."""

    found: DecisionNow
    revision: Revision
    differences: tuple[Difference, ...]
    newest: int
    signoffs: tuple[Signed, ...]
    as_of: datetime

    def record(self, workspace: str, links: Links) -> Validity:
        """Return the document."""
        return Validity(
            schema="topogate.validity/v1",
            as_of=utc_text(self.as_of),
            workspace=workspace,
            slot=self.found.decision.slot,
            holds=self.found.holds,
            because=self.found.because,
            decision=self._decision(),
            identity=self._identity(),
            observations=Observed(
                breaches=self.found.findings.breaches,
                drifts=self.found.findings.drifts,
                last_batch_at=_text(self.found.findings.last_batch_at),
            ),
            links=dict(links),
        )

    def _identity(self) -> IdentityReported:
        reported = self.found.reported
        return IdentityReported(
            matches=reported.differing == 0 if reported.hosts else None,
            hosts=reported.hosts,
            hosts_differing=reported.differing,
            last_report_at=_text(reported.last_at),
            differences=self.differences,
        )

    def _decision(self) -> ValidDecision:
        decision, revision, state = self.found.decision, self.revision, self.found.state
        planned = getattr(revision, "planned", None)
        return ValidDecision(
            number=decision.number,
            label=decision.label,
            state=state.state,  # type: ignore[arg-type] # a check of the database knows the states
            state_since=utc_text(state.since),
            revision=revision.number,
            newest_revision=self.newest,
            subject=planned.subject if planned else None,
            contract=_digests(revision.contract),
            evidence=_digests(revision.evidence),
            identity=revision.identity,
            plan=planned.plan.plan_id if planned else None,
            policy=revision.policy.content_id,
            policy_version=revision.policy.version,
            planner_version=revision.planner_version,
            in_force=_in_force(self.found.activation),
            waivers=tuple(_waived(row, self.as_of) for row in self.found.waivers),
            signoffs=self.signoffs,
        )


def version_of(document: Validity) -> str:
    """Return what changes when anything does but times that pass by themselves: of asking, of the last reports."""
    replace = msgspec.structs.replace
    timeless = replace(
        document,
        as_of="",
        identity=replace(document.identity, last_report_at=None),
        observations=replace(document.observations, last_batch_at=None),
    )
    return file_sha256(msgspec.json.encode(timeless))


def decision_validity(*, actor: Person, workspace: Workspace, number: int) -> ValidityNow:
    """Return the validity of a decision as of now.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        TamperedError: what was recorded when it was put into force is not what was stored.
    """
    decision = decision_of_member(actor=actor, workspace=workspace, number=number)
    now = moment()
    return validity_of(decisions_now(workspace, [decision], now)[0], now)


def slot_validity(*, actor: Person, workspace: Workspace, slot: str) -> ValidityNow:
    """Return the validity of what holds in a slot, or of what held there last.

    Raises:
        NotFoundError: nothing was ever decided for the slot, or the actor is no member of the workspace.
        TamperedError: what was recorded when it was put into force is not what was stored.
    """
    workspace_of_member(actor, workspace.slug)
    now = moment()
    found = slots_now(workspace, now, slot)
    if not found:
        raise NotFoundError(f"There is no decision for {printable(slot, 128)} in {workspace.slug}.")
    return validity_of(found[0], now)


def validity_of(found: DecisionNow, now: datetime) -> ValidityNow:
    """Return what else is known of a decision as of now; three queries.

    Raises:
        TamperedError: what was recorded when it was put into force is not what was stored.
    """
    revisions = {row.number: row for row in revisions_of((found.decision.pk,))}
    newest = max(revisions)
    shown = revisions[found.activation.revision.number if found.activation else newest]
    signoffs = _signed(found.decision, found.activation) if found.activation else ()
    return ValidityNow(found, shown, differences_since(found.activation), newest, signoffs, now)


def differences_since(activation: Activation | None) -> tuple[Difference, ...]:
    """Return the keys that hosts reported otherwise than decided, each once with its team, from their last reports."""
    if activation is None:
        return ()
    last = activation.revision.decision.identity_reports.exclude(differences="")
    rows = last.filter(reported_at__gte=activation.activated_at).order_by("-pk").values_list("differences", flat=True)
    found: dict[str, Difference] = {}
    for text in rows[:MOST_REPORTS]:
        for one in keys_from(text):
            found.setdefault(one.key, one)
    return tuple(found[key] for key in sorted(found)[:MOST_KEYS])


def _signed(decision: Decision, activation: Activation) -> tuple[Signed, ...]:
    """Return the sign-offs that counted when it was put into force, with their entries."""
    snapshot = msgspec.json.decode(blob_read(activation.requirements_id, "requirements"))
    rows: Sequence[Mapping[str, Any]] = snapshot.get("signoffs", ())
    entries = AuditEntry.objects.filter(
        workspace_id=decision.workspace_id, action="signoff.given", decision_number=decision.number
    )
    said = entries.order_by("seq").values_list("revision_number", "team", "actor_token", "seq")
    seqs = {tuple(key): seq for *key, seq in said}
    return tuple(
        Signed(
            team=row["team"],
            meaning=row["meaning"],
            revision=row["revision"],
            status=row["status"],
            seq=seqs.get((row["revision"], row["team"], row["person"])),
        )
        for row in rows
    )


def _digests(document: StoredDocument) -> DocumentDigests:
    return DocumentDigests(content_id=document.content_id, file_sha256=document.file_sha256)


def _in_force(row: Activation | None) -> InForce | None:
    if row is None:
        return None
    emergency = getattr(row, "emergency", None)
    return InForce(
        kind=row.kind,  # type: ignore[arg-type] # a check of the database knows the kinds
        trial=row.trial,
        topology=row.topology,
        rank_map_digest=row.rank_map_digest,
        rollback=row.rollback,
        valid_from=utc_text(row.activated_at),
        valid_until=_text(row.valid_until),
        emergency=EmergencyInForce(
            incident=emergency.incident,
            failing_gates=gates_past(emergency),
        )
        if emergency
        else None,
    )


def _waived(row: Waiver, now: datetime) -> WaivedGate:
    return WaivedGate(
        trial=row.trial,
        gate=row.gate,
        granted_at=utc_text(row.granted_at),
        ends_at=utc_text(row.ends_at),
        holds=row.ends_at > now,
    )


def _text(at: datetime | None) -> str | None:
    return utc_text(at) if at else None
