"""Facts beside sign-offs: delegations, what became of a sign-off, and threads."""

from collections.abc import Iterable

from reviews.clock import utc_text
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
from reviews.recorded.fact import Fact, Kind, Said, picked


def _delegation(row: Delegation) -> Fact:
    return {
        "team": row.team.slug,
        "person": row.taker.token,
        "in_place_of": row.giver.token,
        "starts_at": utc_text(row.starts_at),
        "ends_at": utc_text(row.ends_at),
        "reason": row.reason,
    }


def _delegation_said(said: Said) -> Iterable[Fact]:
    lent = picked(said.payload, "person", "in_place_of", "starts_at", "ends_at")
    yield {"team": said.team, "reason": said.reason, **lent}


def _delegation_end(row: DelegationEnd) -> Fact:
    return _delegation(row.delegation) | {"ended_by": row.person.token}


def _delegation_end_said(said: Said) -> Iterable[Fact]:
    for fact in _delegation_said(said):
        yield {name: value for name, value in fact.items() if name != "reason"} | {"ended_by": said.actor}


def _signoff_withdrawn(row: SignOffWithdrawal) -> Fact:
    signoff = row.signoff
    return {
        "decision": signoff.revision.decision.number,
        "revision": signoff.revision.number,
        "team": signoff.team.slug,
        "signer": signoff.person.token,
        "meaning": signoff.meaning,
        "turn": signoff.turn,
        "signed_at": utc_text(signoff.signed_at),
        "reason": row.reason,
    }


def _signoff_withdrawn_said(said: Said) -> Iterable[Fact]:
    yield {
        "decision": said.decision,
        "revision": said.revision,
        "team": said.team,
        "signer": said.actor,  # unless the payload names another: the team's lead lifts an objection
        "meaning": said.meaning,
        "reason": said.reason,
        **picked(said.payload, "turn", "signed_at", "signer"),
    }


def _carry(row: SignOffCarry) -> Fact:
    return {
        "seq": row.entry,
        "decision": row.revision.decision.number,
        "to_revision": row.revision.number,
        "from_revision": row.signoff.revision.number,
        "team": row.signoff.team.slug,
        "meaning": row.signoff.meaning,
        "person": row.signoff.person.token,
        "turn": row.signoff.turn,
        "scope": row.scope,
    }


def _carry_said(said: Said) -> Iterable[Fact]:
    fields = picked(said.payload, "person", "turn", "scope", "from_revision", "to_revision")
    yield {"seq": said.seq, "decision": said.decision, "team": said.team, "meaning": said.meaning, **fields}


def _settlement(row: PointSettlement) -> Fact:
    signoff = row.point.signoff
    return {
        "decision": signoff.revision.decision.number,
        "revision": signoff.revision.number,
        "team": signoff.team.slug,
        "signer": signoff.person.token,
        "turn": signoff.turn,
        "kind": row.point.kind,
        "text": row.point.text,
        "person": row.person.token,
        "note": row.note,
    }


def _settlement_said(said: Said) -> Iterable[Fact]:
    yield {
        "decision": said.decision,
        "revision": said.revision,
        "team": said.team,
        "person": said.actor,
        "note": said.reason,
        **picked(said.payload, "signer", "turn", "kind", "text"),
    }


def _re_review(row: ReReview) -> Fact:
    return {
        "decision": row.revision.decision.number,
        "revision": row.revision.number,
        "team": row.team.slug,
        "person": row.person.token,
        "reason": row.reason,
    }


def _re_review_said(said: Said) -> Iterable[Fact]:
    for team in said.payload["teams"]:
        yield {
            "decision": said.decision,
            "revision": said.revision,
            "team": team,
            "person": said.actor,
            "reason": said.reason,
        }


def _thread(row: Thread) -> Fact:
    return {
        "decision": row.decision.number,
        "thread": row.number,
        "kind": row.kind,
        "name": row.name,
        "item": row.item_id,
        "revision": row.revision.number,
        "team": row.team or None,
        "blocking": row.is_blocking,
        "opener": row.opener.token,
    }


def _thread_said(said: Said) -> Iterable[Fact]:
    for comment in said.payload["comments"]:
        if "opens" in comment:
            about = {"decision": said.decision, "thread": comment["thread"], "opener": said.actor}
            yield about | picked(comment["opens"], "kind", "name", "item", "revision", "team", "blocking")


def _mention(row: Mention) -> Fact:
    return {
        "decision": row.comment.thread.decision.number,
        "thread": row.comment.thread.number,
        "comment": row.comment.number,
        "person": row.person.token,
    }


def _mention_said(said: Said) -> Iterable[Fact]:
    for comment in said.payload["comments"]:
        for person in comment["mentions"]:
            about = {"decision": said.decision, "person": person}
            yield about | picked(comment, "thread", "comment")


def _resolution(row: ThreadResolution) -> Fact:
    return {
        "decision": row.thread.decision.number,
        "thread": row.thread.number,
        "person": row.person.token,
        "reason": row.reason or None,
    }


def _resolution_said(said: Said) -> Iterable[Fact]:
    about = {"decision": said.decision, "person": said.actor, "reason": said.reason}
    yield about | picked(said.payload, "thread")


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
        of_row=_delegation,
        of_entry=_delegation_said,
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
        of_row=_signoff_withdrawn,
        of_entry=_signoff_withdrawn_said,
    ),
    Kind(
        what="carry of a sign-off",
        model=SignOffCarry,
        actions=("signoff.carried",),
        workspace=OF_SIGNOFF,
        related=("revision__decision", *SIGNED),
        key=("seq",),
        of_row=_carry,
        of_entry=_carry_said,
    ),
    Kind(
        what="settlement",
        model=PointSettlement,
        actions=("point.settled",),
        workspace="point__signoff__revision__decision__workspace",
        related=(*(f"point__{path}" for path in SIGNED), "person"),
        key=("decision", "revision", "team"),
        of_row=_settlement,
        of_entry=_settlement_said,
    ),
    Kind(
        what="request for another review",
        model=ReReview,
        actions=("re_review.asked",),
        workspace="revision__decision__workspace",
        related=("revision__decision", "team", "person"),
        key=("decision", "revision", "team"),
        of_row=_re_review,
        of_entry=_re_review_said,
    ),
    Kind(
        what="thread",
        model=Thread,
        actions=("comments.published",),
        workspace="decision__workspace",
        related=("decision", "revision", "opener"),
        key=("decision", "thread"),
        of_row=_thread,
        of_entry=_thread_said,
    ),
    Kind(
        what="mention",
        model=Mention,
        actions=("comments.published",),
        workspace="comment__thread__decision__workspace",
        related=("comment__thread__decision", "person"),
        key=("decision", "thread", "comment"),
        of_row=_mention,
        of_entry=_mention_said,
    ),
    Kind(
        what="resolution of a thread",
        model=ThreadResolution,
        actions=("thread.resolved",),
        workspace="thread__decision__workspace",
        related=("thread__decision", "person"),
        key=("decision", "thread"),
        of_row=_resolution,
        of_entry=_resolution_said,
    ),
)
