"""Facts that acts beside signing leave: waivers, identity reports, proposals, retractions, reproductions."""

from collections.abc import Iterable

from planner.canonical import content_id
from reviews.clock import utc_text
from reviews.models import (
    Countersignature,
    IdentityReport,
    Proposal,
    ProposalWithdrawal,
    Reproduction,
    Retraction,
    Waiver,
)
from reviews.recorded.fact import Fact, Kind, Said, canonical_text, picked


def _waiver(row: Waiver) -> Fact:
    return {
        "decision": row.decision.number,
        "trial": row.trial,
        "gate": row.gate,
        "reason": row.reason,
        "owner": row.owner.token,
        "ends_at": utc_text(row.ends_at),
    }


def _waiver_said(said: Said) -> Iterable[Fact]:
    yield {
        "decision": said.decision,
        "reason": said.reason,
        **picked(said.payload, "trial", "gate", "owner", "ends_at"),
    }


def _report(row: IdentityReport) -> Fact:
    return {
        "decision": row.decision.number if row.decision else None,
        "slot": row.slot,
        "identity": row.identity_id,
        "matches": row.matches,
        "differences": row.differences,
        "person": row.person.token,
    }


def _report_said(said: Said) -> Iterable[Fact]:
    named = said.payload["differences"]
    about = {"decision": said.decision, "person": said.actor, "differences": canonical_text(named) if named else ""}
    yield about | picked(said.payload, "slot", "identity", "matches")


def _proposal(row: Proposal) -> Fact:
    return {
        "kind": row.kind,
        "decision": row.decision.number if row.decision else None,
        "body": row.body_id,
        "reason": row.reason,
        "team": row.team or None,
        "person": row.person.token,
    }


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
    return _proposal(row.proposal) | {
        "team": row.team or None,
        "person": row.person.token,
        "proposed_by": row.proposal.person.token,
    }


def _countersigned_said(said: Said) -> Iterable[Fact]:
    for fact in _proposal_said(said):
        yield fact | {"proposed_by": said.payload["proposed_by"]}


def _proposal_withdrawn(row: ProposalWithdrawal) -> Fact:
    decision = row.proposal.decision
    return {
        "kind": row.proposal.kind,
        "decision": decision.number if decision else None,
        "person": row.person.token,
        "reason": row.reason,
    }


def _proposal_withdrawn_said(said: Said) -> Iterable[Fact]:
    yield {"kind": said.meaning, "decision": said.decision, "person": said.actor, "reason": said.reason}


def _retraction(row: Retraction) -> Fact:
    return {
        "content_id": row.content_id,
        "is_trial": row.is_trial,
        "person": row.person.token,
        "reason": row.reason,
    }


def _retraction_said(said: Said) -> Iterable[Fact]:
    yield {"person": said.actor, "reason": said.reason, **picked(said.payload, "content_id", "is_trial")}


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
        of_row=_waiver,
        of_entry=_waiver_said,
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
        what="proposal",
        model=Proposal,
        actions=("proposal.made",),
        workspace="workspace",
        related=("decision", "person"),
        key=("kind", "decision"),
        of_row=_proposal,
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
        actions=("proposal.withdrawn",),
        workspace="proposal__workspace",
        related=PROPOSED,
        key=("kind", "decision"),
        of_row=_proposal_withdrawn,
        of_entry=_proposal_withdrawn_said,
    ),
    Kind(
        what="retraction",
        model=Retraction,
        actions=("evidence.retracted",),
        workspace="workspace",
        related=("person",),
        key=("content_id",),
        of_row=_retraction,
        of_entry=_retraction_said,
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
