"""Whose seats an act of two persons takes, in which state it is carried out, and how long it waits. Pure."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from planner.times import parsed_time
from reviews.policies.document import PolicyDocument, gate_owner
from reviews.policies.transitions import STANDS

TAKEN_IN: dict[str, frozenset[str]] = {
    "waiver": frozenset({"IN_REVIEW"}),
    "emergency": frozenset({"IN_REVIEW"}),
    "revocation": frozenset({"CONTESTED"}),
    "rollback": STANDS,
}
"""Kind of proposal -> states of the decision in which it is; an objection is lifted in any."""
EMERGENCY_WAITS = timedelta(hours=24)
WAITS = timedelta(days=14)


def open_until(kind: str, body: Mapping[str, Any], proposed_at: datetime) -> datetime:
    """Return until when a second person can agree: an emergency is of its day, and a waiver ends with what it asks."""
    ends = proposed_at + (EMERGENCY_WAITS if kind == "emergency" else WAITS)
    waived_until = parsed_time(str(body.get("ends_at", ""))) if kind == "waiver" else None
    return min(ends, waived_until.astimezone(UTC)) if waived_until else ends


def waiving(document: PolicyDocument, family: str) -> frozenset[str]:
    """Return the teams that waive a gate of a family together: its owner, and the one that is in every waiver."""
    return frozenset({gate_owner(document, family), document.duties.waiver})


def waiving_second(document: PolicyDocument, family: str, proposer_team: str) -> frozenset[str]:
    """Return the teams of which one countersigns a waiver: the other one, where there are two."""
    teams = waiving(document, family)
    return teams - {proposer_team} or teams


def emergency_second(document: PolicyDocument, families: Collection[str]) -> frozenset[str]:
    """Return the teams of which one countersigns an emergency: whoever owns a gate that it goes past, else any."""
    return frozenset(gate_owner(document, family) for family in families) or frozenset(document.teams)


def revoking_second(document: PolicyDocument, proposer_team: str) -> frozenset[str]:
    """Return the team that countersigns a revocation: the one that did not propose it."""
    return frozenset(document.duties.revocation) - {proposer_team}
