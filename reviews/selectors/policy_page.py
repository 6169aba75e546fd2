"""The policy of a workspace and who signs in whose place, with what waits for a second person."""

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from planner.canonical import content_id
from reviews.blobs import checked
from reviews.models import Delegation, Person, Policy, Proposal, ProposalKind, Workspace
from reviews.policies.document import PolicyDocument, read_policy
from reviews.policies.permissions import SIGNING_ROLES, Verdict, may_administer
from reviews.selectors.countersigning_facts import proposed_body
from reviews.selectors.people import standing_of, team_roster
from reviews.selectors.proposals import ProposalRow, open_proposals


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVersionRow:
    """One version of the policy; the first is made by the system, with nobody who proposed it."""

    version: int
    content_id: str
    made_by: str
    proposed_by: str
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyPage:
    """The newest policy; ``versions`` are in order, newest first."""

    document: PolicyDocument
    tree: dict[str, Any]
    content_id: str
    version: int
    versions: tuple[PolicyVersionRow, ...]
    members: dict[str, tuple[str, ...]]
    proposals: tuple[ProposalRow, ...]
    may_change: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationRow:
    """A seat that is lent, was lent or will be; ``ended_at`` is given where it ended before its time."""

    id: int
    team: str
    giver: str
    taker: str
    starts_at: datetime
    ends_at: datetime
    ended_at: datetime | None
    reason: str
    may_end: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationPage:
    """Delegations, newest first; ``teams`` are those whose seat the reader can lend."""

    rows: tuple[DelegationRow, ...]
    teams: tuple[str, ...]


def policy_page(*, actor: Person, workspace: Workspace) -> PolicyPage:
    """Return the policy of a workspace to one of its members.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        TamperedError: the policy is not what was stored.
    """
    standing = standing_of(actor, workspace)
    rows = Policy.objects.filter(workspace=workspace).select_related("made_by", "blob").order_by("-version")
    newest = rows[0]
    raw = checked(bytes(newest.blob.data), newest.blob_id, "policy")
    proposers = _proposers(workspace, list(rows))
    members: dict[str, tuple[str, ...]] = {}
    for member in team_roster(workspace, newest.made_at).members:
        if member.is_active and member.in_place_of is None:
            members[member.team] = (
                *members.get(member.team, ()),
                f"{member.name}{' (lead)' if member.is_lead else ''}",
            )
    return PolicyPage(
        document=read_policy(raw),
        tree=msgspec.json.decode(raw),
        content_id=newest.content_id,
        version=newest.version,
        versions=tuple(
            PolicyVersionRow(
                version=row.version,
                content_id=row.content_id,
                made_by=row.made_by.display_name if row.made_by else "system",
                proposed_by=proposers.get(row.version, ""),
                made_at=row.made_at,
            )
            for row in rows
        ),
        members=members,
        proposals=open_proposals(actor=actor, workspace=workspace),
        may_change=may_administer(standing),
    )


def _proposers(workspace: Workspace, versions: Iterable[Policy]) -> dict[int, str]:
    """Return version -> who proposed it: of one content, the first that was carried out made the first version."""
    ascending = sorted((row for row in versions if row.made_by), key=lambda row: row.version)
    carried_out = Proposal.objects.filter(
        workspace=workspace, kind=ProposalKind.POLICY, countersignature__isnull=False
    ).select_related("body", "person")
    by_content: dict[str, deque[str]] = defaultdict(deque)
    for row in carried_out.order_by("countersignature__pk"):
        by_content[content_id(proposed_body(row)["policy"])].append(row.person.display_name)
    return {row.version: by_content[row.content_id].popleft() for row in ascending if by_content[row.content_id]}


def delegation_page(*, actor: Person, workspace: Workspace) -> DelegationPage:
    """Return every delegation of a workspace to one of its members.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing = standing_of(actor, workspace)
    rows = Delegation.objects.filter(workspace=workspace).select_related("team", "giver", "taker", "end")
    return DelegationPage(
        rows=tuple(
            DelegationRow(
                id=row.pk,
                team=row.team.slug,
                giver=row.giver.display_name,
                taker=row.taker.display_name,
                starts_at=row.starts_at,
                ends_at=row.ends_at,
                ended_at=row.end.ended_at if hasattr(row, "end") else None,
                reason=row.reason,
                may_end=not hasattr(row, "end") and (row.giver_id == actor.pk or standing.role == "admin"),
            )
            for row in rows.order_by("-pk")
        ),
        teams=tuple(sorted(standing.teams)) if standing.role in SIGNING_ROLES else (),
    )
