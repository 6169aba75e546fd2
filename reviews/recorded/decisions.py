"""Facts about revisions, their plans, and what was put into force."""

from collections.abc import Iterable

from planner.canonical import content_id
from reviews.clock import utc_text
from reviews.models import Activation, Emergency, PlannedRevision, Policy, Revision
from reviews.recorded.fact import Fact, Kind, Said, canonical_text, picked, time_said


def _revision(row: Revision) -> Fact:
    return {
        "decision": row.decision.number,
        "revision": row.number,
        "slot": row.decision.slot,
        "contract": row.contract.content_id,
        "contract_file_sha256": row.contract.blob_id,
        "evidence": row.evidence.content_id,
        "evidence_file_sha256": row.evidence.blob_id,
        "identity": row.identity,
        "policy": row.policy.content_id,
        "planner_version": row.planner_version,
        "as_of": row.as_of,
        "author": row.author.token,
        "contract_by": row.contract.stored_by.token,
        "evidence_by": row.evidence.stored_by.token,
    }


def _revision_said(said: Said) -> Iterable[Fact]:
    if said.action == "decision.rolled_back":
        yield {"decision": said.decision, "revision": said.revision}
        return
    names = ("slot", "contract", "contract_file_sha256", "evidence", "evidence_file_sha256", "identity", "policy")
    more = ("planner_version", "as_of", "author", "contract_by", "evidence_by")
    yield {"decision": said.decision, "revision": said.revision, **picked(said.payload, *names, *more)}


def _planned(row: PlannedRevision) -> Fact:
    basis = row.basis
    scopes = {scope.team: {"digest": scope.digest, "is_touched": scope.is_touched} for scope in basis.scopes.all()}
    return {
        "decision": row.revision.decision.number,
        "revision": row.revision.number,
        "subject": row.subject,
        "plan": row.plan.plan_id,
        "plan_sha256": row.plan.blob_id,
        "planner_version": row.revision.planner_version,
        "word": row.plan.decision_word,
        "topology": row.plan.selected_topology or None,
        "evidence_until": time_said(basis.evidence_until),
        "scopes": canonical_text(scopes),
    }


def _planned_said(said: Said) -> Iterable[Fact]:
    fact = picked(said.payload, "plan", "plan_sha256", "planner_version", "topology", "evidence_until", word="decision")
    if "scopes" in said.payload:
        fact["scopes"] = canonical_text(said.payload["scopes"])
    yield {"decision": said.decision, "revision": said.revision, "subject": said.subject, **fact}


ACTIVATION_FIELDS = ("kind", "trial", "topology", "rank_map_digest", "rollback", "activated_at", "valid_until")
EMERGENCY_FIELDS = ("trial", "topology", "incident", "failing_gates", "until")


def _activation(row: Activation) -> Fact:
    return {
        "decision": row.revision.decision.number,
        "revision": row.revision.number,
        "kind": row.kind,
        "person": row.person.token,
        "statement": row.statement,
        "subject": row.subject,
        "trial": row.trial,
        "topology": row.topology,
        "rank_map_digest": row.rank_map_digest,
        "rollback": row.rollback,
        "requirements": row.requirements_id,
        "activated_at": utc_text(row.activated_at),
        "valid_until": time_said(row.valid_until),
    }


def _activation_said(said: Said) -> Iterable[Fact]:
    about: tuple[str, ...]
    if said.action == "emergency.declared":
        own = {"kind": "emergency", **picked(said.payload, "trial", "topology", valid_until="until")}
        about = EMERGENCY_FIELDS
    else:
        own, about = picked(said.payload, *ACTIVATION_FIELDS), ACTIVATION_FIELDS
    # Who proposed an act of two persons is a fact of the countersignature.
    snapshot = {name: value for name, value in said.payload.items() if name not in (*about, "proposed_by")}
    yield {
        "decision": said.decision,
        "revision": said.revision,
        "person": said.actor,
        "statement": said.reason,
        "subject": said.subject,
        "requirements": content_id(snapshot),
        **own,
    }


def _emergency(row: Emergency) -> Fact:
    revision = row.activation.revision
    return {
        "decision": revision.decision.number,
        "revision": revision.number,
        "trial": row.activation.trial,
        "incident": row.incident,
        "failing_gates": row.failing_gates,
    }


def _emergency_said(said: Said) -> Iterable[Fact]:
    gates = canonical_text(said.payload["failing_gates"])
    about = {"decision": said.decision, "revision": said.revision, "failing_gates": gates}
    yield about | picked(said.payload, "trial", "incident")


def _policy(row: Policy) -> Fact:
    made_by = row.made_by.token if row.made_by else None
    return {"policy": row.content_id, "blob": row.blob_id, "version": row.version, "person": made_by}


def _policy_said(said: Said) -> Iterable[Fact]:
    named = content_id(said.payload)
    yield {"policy": named, "blob": named, "version": said.ordinal, "person": said.actor}


IN_REVISION = "revision__decision__workspace"
OF_DECISIONS = (
    Kind(
        what="policy",
        model=Policy,
        actions=("policy.set",),
        workspace="workspace",
        related=("made_by",),
        key=("policy",),
        of_row=_policy,
        of_entry=_policy_said,
    ),
    Kind(
        what="revision",
        model=Revision,
        actions=("revision.created",),
        # Rolling back made a revision without an entry of its own once.
        perhaps=("decision.rolled_back",),
        workspace="decision__workspace",
        related=("decision", "contract__stored_by", "evidence__stored_by", "policy", "author"),
        key=("decision", "revision"),
        of_row=_revision,
        of_entry=_revision_said,
    ),
    Kind(
        what="planned revision",
        model=PlannedRevision,
        actions=("revision.planned",),
        workspace=IN_REVISION,
        related=("revision__decision", "plan", "basis"),
        prefetched=("basis__scopes",),
        key=("decision", "revision"),
        of_row=_planned,
        of_entry=_planned_said,
    ),
    Kind(
        what="activation",
        model=Activation,
        actions=("decision.activated", "decision.rolled_back", "emergency.declared"),
        workspace=IN_REVISION,
        related=("revision__decision", "person"),
        key=("decision", "revision"),
        of_row=_activation,
        of_entry=_activation_said,
    ),
    Kind(
        what="emergency",
        model=Emergency,
        actions=("emergency.declared",),
        workspace="activation__revision__decision__workspace",
        related=("activation__revision__decision",),
        key=("decision", "revision"),
        of_row=_emergency,
        of_entry=_emergency_said,
    ),
)
