"""Facts beside sign-offs: delegations, what became of a sign-off, and threads."""

from collections.abc import Iterable

from reviews.models import (
    Delegation,
    DelegationEnd,
    Mention,
    PointSettlement,
    ReReview,
    SignOffCarry,
    SignOffWithdrawal,
    Thread,
    ThreadResolution,
)
from reviews.recorded.alike import Alike
from reviews.recorded.fact import Fact, Kind, Said, picked

DELEGATION = Alike(
    {
        "team": "team.slug",
        "person": "taker.token",
        "in_place_of": "giver.token",
        "starts_at": "starts_at",
        "ends_at": "ends_at",
        "reason": "reason",
    },
    entry={"team": "team", "reason": "reason"},
)
OF_REVISION = {"decision": "decision", "revision": "revision", "team": "team"}
SIGNOFF_WITHDRAWN = Alike(
    {
        "decision": "signoff.revision.decision.number",
        "revision": "signoff.revision.number",
        "team": "signoff.team.slug",
        "signer": "signoff.person.token",
        "meaning": "signoff.meaning",
        "turn": "signoff.turn",
        "signed_at": "signoff.signed_at",
        "reason": "reason",
    },
    entry={**OF_REVISION, "signer": "actor", "meaning": "meaning", "reason": "reason"},
    overruled=("signer",),  # the team's lead lifts an objection
)
CARRY = Alike(
    {
        "seq": "entry",
        "decision": "revision.decision.number",
        "to_revision": "revision.number",
        "from_revision": "signoff.revision.number",
        "team": "signoff.team.slug",
        "meaning": "signoff.meaning",
        "person": "signoff.person.token",
        "turn": "signoff.turn",
        "scope": "scope",
    },
    entry={"seq": "seq", "decision": "decision", "team": "team", "meaning": "meaning"},
)
SETTLEMENT = Alike(
    {
        "decision": "point.signoff.revision.decision.number",
        "revision": "point.signoff.revision.number",
        "team": "point.signoff.team.slug",
        "signer": "point.signoff.person.token",
        "turn": "point.signoff.turn",
        "kind": "point.kind",
        "text": "point.text",
        "person": "person.token",
        "note": "note",
    },
    entry={**OF_REVISION, "person": "actor", "note": "reason"},
)
RE_REVIEW = Alike(
    {
        "decision": "revision.decision.number",
        "revision": "revision.number",
        "team": "team.slug",
        "person": "person.token",
        "reason": "reason",
    }
)
THREAD = Alike(
    {
        "decision": "decision.number",
        "thread": "number",
        "kind": "kind",
        "name": "name",
        "item": "item_id",
        "revision": "revision.number",
        "team": "team?",
        "blocking": "is_blocking",
        "opener": "opener.token",
    }
)
MENTION = Alike(
    {
        "decision": "comment.thread.decision.number",
        "thread": "comment.thread.number",
        "comment": "comment.number",
        "person": "person.token",
    }
)
RESOLUTION = Alike(
    {
        "decision": "thread.decision.number",
        "thread": "thread.number",
        "person": "person.token",
        "reason": "reason?",
    },
    entry={"decision": "decision", "person": "actor", "reason": "reason"},
)


def _delegation_end(row: DelegationEnd) -> Fact:
    return DELEGATION.of_row(row.delegation) | {"ended_by": row.person.token}


def _delegation_end_said(said: Said) -> Iterable[Fact]:
    for fact in DELEGATION.of_entry(said):
        yield {name: value for name, value in fact.items() if name != "reason"} | {"ended_by": said.actor}


def _re_review_said(said: Said) -> Iterable[Fact]:
    for team in said.payload["teams"]:
        yield {
            "decision": said.decision,
            "revision": said.revision,
            "team": team,
            "person": said.actor,
            "reason": said.reason,
        }


def _thread_said(said: Said) -> Iterable[Fact]:
    for comment in said.payload["comments"]:
        if "opens" in comment:
            about = {"decision": said.decision, "thread": comment["thread"], "opener": said.actor}
            yield about | picked(comment["opens"], "kind", "name", "item", "revision", "team", "blocking")


def _mention_said(said: Said) -> Iterable[Fact]:
    for comment in said.payload["comments"]:
        for person in comment["mentions"]:
            about = {"decision": said.decision, "person": person}
            yield about | picked(comment, "thread", "comment")


SIGNED = ("signoff__revision__decision", "signoff__team", "signoff__person")
OF_SIGNOFF = "signoff__revision__decision__workspace"
OF_SIGNING = (
    Kind(
        what="delegation",
        model=Delegation,
        actions=("delegation.made",),
        workspace="workspace",
        related=("team", "taker", "giver"),
        key=("team", "person"),
        of_row=DELEGATION.of_row,
        of_entry=DELEGATION.of_entry,
    ),
    Kind(
        what="end of a delegation",
        model=DelegationEnd,
        actions=("delegation.ended",),
        workspace="delegation__workspace",
        related=("delegation__team", "delegation__taker", "delegation__giver", "person"),
        key=("team", "person"),
        of_row=_delegation_end,
        of_entry=_delegation_end_said,
    ),
    Kind(
        what="withdrawal of a sign-off",
        model=SignOffWithdrawal,
        actions=("signoff.withdrawn",),
        workspace=OF_SIGNOFF,
        related=SIGNED,
        key=("decision", "revision", "team"),
        of_row=SIGNOFF_WITHDRAWN.of_row,
        of_entry=SIGNOFF_WITHDRAWN.of_entry,
    ),
    Kind(
        what="carry of a sign-off",
        model=SignOffCarry,
        actions=("signoff.carried",),
        workspace=OF_SIGNOFF,
        related=("revision__decision", *SIGNED),
        key=("seq",),
        of_row=CARRY.of_row,
        of_entry=CARRY.of_entry,
    ),
    Kind(
        what="settlement",
        model=PointSettlement,
        actions=("point.settled",),
        workspace="point__signoff__revision__decision__workspace",
        related=(*(f"point__{path}" for path in SIGNED), "person"),
        key=("decision", "revision", "team"),
        of_row=SETTLEMENT.of_row,
        of_entry=SETTLEMENT.of_entry,
    ),
    Kind(
        what="request for another review",
        model=ReReview,
        actions=("re_review.asked",),
        workspace="revision__decision__workspace",
        related=("revision__decision", "team", "person"),
        key=("decision", "revision", "team"),
        of_row=RE_REVIEW.of_row,
        of_entry=_re_review_said,
    ),
    Kind(
        what="thread",
        model=Thread,
        actions=("comments.published",),
        workspace="decision__workspace",
        related=("decision", "revision", "opener"),
        key=("decision", "thread"),
        of_row=THREAD.of_row,
        of_entry=_thread_said,
    ),
    Kind(
        what="mention",
        model=Mention,
        actions=("comments.published",),
        workspace="comment__thread__decision__workspace",
        related=("comment__thread__decision", "person"),
        key=("decision", "thread", "comment"),
        of_row=MENTION.of_row,
        of_entry=_mention_said,
    ),
    Kind(
        what="resolution of a thread",
        model=ThreadResolution,
        actions=("thread.resolved",),
        workspace="thread__decision__workspace",
        related=("thread__decision", "person"),
        key=("decision", "thread"),
        of_row=RESOLUTION.of_row,
        of_entry=RESOLUTION.of_entry,
    ),
)
