"""Facts that acts beside signing leave: waivers, identity reports, diagnoses, proposals, retractions, reproductions."""

from collections.abc import Iterable

from planner.canonical import content_id
from reviews.models import (
    Countersignature,
    Diagnosis,
    IdentityReport,
    Proposal,
    ProposalLapse,
    ProposalWithdrawal,
    Reproduction,
    Retraction,
    Waiver,
)
from reviews.recorded.alike import Alike
from reviews.recorded.fact import Fact, Kind, Said, canonical_text, picked

WAIVER = Alike(
    {
        "decision": "decision.number",
        "trial": "trial",
        "gate": "gate",
        "reason": "reason",
        "owner": "owner.token",
        "ends_at": "ends_at",
    },
    entry={"decision": "decision", "reason": "reason"},
)
PROPOSAL_WITHDRAWN = Alike(
    {
        "kind": "proposal.kind",
        "decision": "proposal.decision.number",
        "person": "person.token",
        "reason": "reason",
    },
    entry={"kind": "meaning", "decision": "decision", "person": "actor", "reason": "reason"},
)
RETRACTION = Alike(
    {"content_id": "content_id", "is_trial": "is_trial", "person": "person.token", "reason": "reason"},
    entry={"person": "actor", "reason": "reason"},
)
PROPOSAL = Alike(
    {
        "kind": "kind",
        "decision": "decision.number",
        "body": "body_id",
        "reason": "reason",
        "team": "team?",
        "person": "person.token",
    }
)


def _report(row: IdentityReport) -> Fact:
    return {
        "decision": row.decision.number if row.decision else None,
        "slot": row.slot,
        "place": row.place,
        "identity": row.identity_id,
        "matches": row.matches,
        "differences": row.differences,
        "person": row.person.token,
    }


def _report_said(said: Said) -> Iterable[Fact]:
    about = {"decision": said.decision, "person": said.actor, "slot": said.payload["slot"]}
    for told in said.payload.get("reports", (said.payload,)):
        named = told["differences"]
        yield {
            **about,
            "place": told.get("place"),
            "differences": canonical_text(named) if named else "",
            **picked(told, "identity", "matches"),
        }


def _diagnosis(row: Diagnosis) -> Fact:
    files = [
        {"name": one.name, "kind": one.kind, "sha256": one.sha256, "uploaded_sha256": one.uploaded_sha256}
        for one in row.files.all()
    ]
    return {
        "decision": row.decision.number,
        "revision": row.revision.number,
        "number": row.number,
        "trial": row.trial,
        "late_us": row.late_us,
        "pattern": row.pattern,
        "points_at": row.points_at,
        "planner_version": row.planner_version,
        "diagnosis": row.result_id,
        "note": row.note,
        "person": row.person.token,
        "files": canonical_text(files),
    }


def _diagnosis_said(said: Said) -> Iterable[Fact]:
    of = {"decision": said.decision, "revision": said.revision, "person": said.actor, "note": said.reason or ""}
    fields = ("number", "trial", "late_us", "pattern", "points_at", "planner_version", "diagnosis")
    yield of | {"files": canonical_text(said.payload["files"])} | picked(said.payload, *fields)


def _proposal_said(said: Said) -> Iterable[Fact]:
    yield {
        "kind": said.payload["kind"],
        "decision": said.decision,
        "body": content_id(said.payload["body"]),
        "reason": said.reason,
        "team": said.team,
        "person": said.actor,
    }


def _countersigned(row: Countersignature) -> Fact:
    return PROPOSAL.of_row(row.proposal) | {
        "team": row.team or None,
        "person": row.person.token,
        "proposed_by": row.proposal.person.token,
    }


def _countersigned_said(said: Said) -> Iterable[Fact]:
    for fact in _proposal_said(said):
        yield fact | {"proposed_by": said.payload["proposed_by"]}


def _lapsed(row: ProposalLapse) -> Fact:
    proposal = row.proposal
    return {
        "kind": proposal.kind,
        "decision": proposal.decision.number if proposal.decision else None,
        "body": proposal.body_id,
        "proposed_by": proposal.person.token,
        "because": row.because,
    }


def _lapsed_said(said: Said) -> Iterable[Fact]:
    yield {
        "kind": said.payload["kind"],
        "decision": said.decision,
        "body": content_id(said.payload["body"]),
        "proposed_by": said.payload["proposed_by"],
        "because": said.reason,
    }


def _reproduction(row: Reproduction) -> Fact:
    return {
        "decision": row.revision.decision.number,
        "revision": row.revision.number,
        "person": row.person.token,
        "plan": row.plan_id,
        "is_same": row.is_same,
    }


def _reproduction_said(said: Said) -> Iterable[Fact]:
    yield {
        "decision": said.decision,
        "revision": said.revision,
        "person": said.actor,
        "plan": said.payload["plan"],
        "is_same": said.action == "revision.reproduced",
    }


PROPOSED = ("proposal__decision", "proposal__person", "person")
OF_ACTS = (
    Kind(
        what="waiver",
        model=Waiver,
        actions=("waiver.granted",),
        workspace="decision__workspace",
        related=("decision", "owner"),
        key=("decision", "trial", "gate"),
        of_row=WAIVER.of_row,
        of_entry=WAIVER.of_entry,
    ),
    Kind(
        what="identity report",
        model=IdentityReport,
        actions=("identity.reported", "identity.differs"),
        workspace="workspace",
        related=("decision", "person"),
        key=("slot",),
        of_row=_report,
        of_entry=_report_said,
    ),
    Kind(
        what="diagnosis",
        model=Diagnosis,
        actions=("diagnosis.made",),
        workspace="decision__workspace",
        related=("decision", "revision", "person"),
        prefetched=("files",),
        key=("decision", "number"),
        of_row=_diagnosis,
        of_entry=_diagnosis_said,
    ),
    Kind(
        what="proposal",
        model=Proposal,
        actions=("proposal.made",),
        workspace="workspace",
        related=("decision", "person"),
        key=("kind", "decision"),
        of_row=PROPOSAL.of_row,
        of_entry=_proposal_said,
    ),
    Kind(
        what="countersignature",
        model=Countersignature,
        actions=("proposal.countersigned",),
        workspace="proposal__workspace",
        related=PROPOSED,
        key=("kind", "decision"),
        of_row=_countersigned,
        of_entry=_countersigned_said,
    ),
    Kind(
        what="withdrawal of a proposal",
        model=ProposalWithdrawal,
        actions=("proposal.withdrawn", "proposal.declined"),
        workspace="proposal__workspace",
        related=PROPOSED,
        key=("kind", "decision"),
        of_row=PROPOSAL_WITHDRAWN.of_row,
        of_entry=PROPOSAL_WITHDRAWN.of_entry,
    ),
    Kind(
        what="lapse of a proposal",
        model=ProposalLapse,
        actions=("proposal.lapsed",),
        workspace="proposal__workspace",
        related=("proposal__decision", "proposal__person"),
        key=("kind", "decision"),
        of_row=_lapsed,
        of_entry=_lapsed_said,
    ),
    Kind(
        what="retraction",
        model=Retraction,
        actions=("evidence.retracted",),
        workspace="workspace",
        related=("person",),
        key=("content_id",),
        of_row=RETRACTION.of_row,
        of_entry=RETRACTION.of_entry,
    ),
    Kind(
        what="reproduction",
        model=Reproduction,
        actions=("revision.reproduced", "revision.not_reproduced"),
        workspace="revision__decision__workspace",
        related=("revision__decision", "person"),
        key=("decision", "revision"),
        of_row=_reproduction,
        of_entry=_reproduction_said,
    ),
)
