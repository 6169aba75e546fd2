"""Entries of the log as lines of a history: what happened, in words. Pure."""

from dataclasses import dataclass

from reviews.clock import when
from reviews.policies.document import team_title
from reviews.selectors.log import EntryRow
from reviews.web.formats import count, listed
from reviews.web.page_rows import SIGNED

ICONS = {
    "signoff.given": "pass-o",
    "signoff.carried": "carry",
    "revision.created": "doc",
    "revision.planned": "gear",
    "signoff.withdrawn": "na",
}
MOST_NAMED = 8
"""Threads that a line names; more are counted alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One entry of the log as a line of a decision's history."""

    icon: str
    text: str
    when: str
    seq: int
    href: str


def event_text(row: EntryRow) -> str:
    """Say in words what an entry records."""
    team = f" for {team_title(row.team).lower()}" if row.team else ""
    about = row.about or "somebody not known"
    texts = {
        "revision.created": f"{row.who} submitted r{row.revision}",
        "revision.planned": f"Planned r{row.revision}",
        "revision.not_planned": f"r{row.revision} was not planned",
        "signoff.given": f"{row.who} {SIGNED.get(row.meaning, 'signed')} r{row.revision}{team}",
        "signoff.refused": f"Refused: sign-off by {row.who}{team}",
        "decision.contested": "Contested: evidence that it counted was retracted",
        "evidence.retracted": f"{row.who} retracted evidence",
        "re_review.asked": f"{row.who} asked for another review of r{row.revision}",
        "revision.reproduced": f"{row.who} reproduced r{row.revision}",
        "revision.not_reproduced": f"{row.who} could not reproduce r{row.revision}",
        "delegation.made": f"{row.who} lent a seat{team} to {about}",
        "delegation.ended": f"{row.who} ended a delegation{team} to {about}",
        "delegation.refused": f"Refused: delegation by {row.who}",
        "re_review.refused": f"Refused: asking for another review by {row.who}",
        "reproduction.refused": f"Refused: reproducing by {row.who}",
        "retraction.refused": f"Refused: retraction by {row.who}",
        "decision.activated": f"{row.who} put r{row.revision} into force",
        "decision.superseded": "Superseded by a newer decision on the slot",
        "decision.withdrawn": f"{row.who} withdrew the decision",
        "decision.rejected": f"{row.who} closed the decision as rejected",
        "decision.closed": f"{row.who} closed the decision without a selection",
        "decision.expired": "Expired",
        "decision.stale": "Stale",
        "decision.ran_out": "The emergency ran out",
        "identity.differs": f"{row.who} reported {reported_places(row)}: it differs",
        "identity.reported": f"{row.who} reported {reported_places(row)}",
        "identity.report_refused": f"Refused: an identity report by {row.who}",
        "activation.refused": f"Refused: putting into force by {row.who}",
        "withdrawal.refused": f"Refused: withdrawing the decision by {row.who}",
        "rejection.refused": f"Refused: closing as rejected by {row.who}",
        "closing.refused": f"Refused: closing by {row.who}",
        "signoff.carried": f"{about} is carried to r{row.revision}{team}",
        **texts_beside_signing(row, team),
        **texts_of_the_log(row),
        **texts_of_machines(row),
        **texts_of_production(row),
        **texts_of_the_roster(row, about, team),
        **texts_of_two_persons(row, team),
        "signoff.withdrawal_refused": f"Refused: withdrawal by {row.who}{team}",
        "submission.refused": f"Refused: submission by {row.who}",
        "workspace.created": "Workspace made",
        "policy.set": f"Policy set by {row.who}",
        "token.refused": f"Refused: an API token for {row.who}",
        "account.changed": f"{row.who} changed how they log in, or their name",
    }
    return texts.get(row.action, f"{row.action.replace('.', ' ').replace('_', ' ').capitalize()} by {row.who}")


def texts_of_two_persons(row: EntryRow, team: str) -> dict[str, str]:
    """Say what an entry about an act of two persons records, by action; both are named once it is carried out."""
    what = row.meaning.replace("_", " ")
    both = f"{row.about} and {row.who}" if row.about else row.who
    by = f", proposed by {row.about}" if row.about else ""
    took_back = f"{both} lifted an objection" if row.about else f"{row.who} withdrew a sign-off"
    return {
        "proposal.made": f"{row.who} proposed: {what}",
        "proposal.countersigned": f"{row.who} countersigned: {what}{by}",
        "proposal.declined": f"{row.who} declined: {what}{by}",
        "proposal.withdrawn": f"{row.who} took a proposal back: {what}",
        "proposal.lapsed": f"Nobody countersigned: {what}{by}",
        "proposal.refused": f"Refused: proposal by {row.who}",
        "proposal.decline_refused": f"Refused: declining a proposal by {row.who}",
        "countersignature.refused": f"Refused: countersignature by {row.who}",
        "decision.revoked": f"{both} revoked the decision",
        "decision.rolled_back": f"{both} rolled the slot back",
        "emergency.declared": f"Emergency declared by {both}",
        "waiver.granted": f"Waiver granted by {both}{team}",
        "signoff.withdrawn": f"{took_back}{team}",
    }


def reported_places(row: EntryRow) -> str:
    """Name the hosts that a report is of."""
    reports = (row.payload or {}).get("reports", ())
    names = [str(one.get("place", "")) for one in reports]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"what runs on {', '.join(names[:3])}{more}" if names else "what runs"


def texts_of_the_roster(row: EntryRow, about: str, team: str) -> dict[str, str]:
    """Say what an entry about a person's place and account records, by action."""
    return {
        "roster.role_set": f"Role {(row.payload or {}).get('role', 'not known')} given to {about} by {row.who}",
        "roster.seat_given": f"Seat{team} given to {about} by {row.who}",
        "roster.seat_taken": f"Seat{team} taken from {about} by {row.who}",
        "roster.removed": f"{about} removed from the workspace by {row.who}",
        "roster.account_closed": f"Account of {about} closed by {row.who}",
        "roster.account_opened": f"Account of {about} opened by {row.who}",
        "roster.link_made": f"Link for a password made for {about} by {row.who}",
        "roster.link_used": f"{about} set a password with a link",
        "roster.refused": f"Refused: change of people by {row.who}",
        "person.erased": f"{about} erased by {row.who}",
    }


def texts_of_machines(row: EntryRow) -> dict[str, str]:
    """Say what an entry about hosts and ranks records, by action."""
    return {
        "diagnosis.made": f"{row.who} diagnosed the slowest rank",
        "diagnosis.refused": f"Refused: a diagnosis by {row.who}",
    }


def texts_of_production(row: EntryRow) -> dict[str, str]:
    """Say what an entry about observations records, by action."""
    if not row.action.startswith("observations."):
        return {}
    said = row.payload or {}
    opened, eased = (f"{said.get(name, 0):,}" for name in ("opened", "eased"))
    return {
        "observations.began": f"{row.who} began to report as {said.get('source', 'a collector')}",
        "observations.breached": f"Production left its envelope, {opened} more",
        "observations.drifted": f"Production drifts from what was measured, {opened} more",
        "observations.cleared": f"Production is back within its envelope, {eased} fewer",
        "observations.lapsed": "What was out of its envelope is not known to be so any more",
        "observations.refused": f"Refused: observations by {row.who}",
    }


def texts_of_the_log(row: EntryRow) -> dict[str, str]:
    """Say what an entry about the log itself, or a token that reads it, records, by action."""
    return {
        "token.created": f"{row.who} made an API token",
        "token.revoked": f"{row.who} revoked an API token",
        "verification.requested": f"{row.who} asked to verify the log",
        "verification.finished": "The log was verified",
        "export.requested": f"{row.who} asked for an export",
        "export.downloaded": f"{row.who} downloaded an export",
        "export.refused": f"Refused: export by {row.who}",
        "log.key_set": "The log is signed with a key that is new to it",
    }


def texts_beside_signing(row: EntryRow, team: str) -> dict[str, str]:
    """Say what an entry about a thread, a point or a webhook records, by action."""
    return {
        "comments.published": f"{row.who} published {published_text(row)}",
        "comments.refused": f"Refused: comment by {row.who}",
        "thread.resolved": f"{row.who} resolved thread {(row.payload or {}).get('thread', 'not known')}{team}",
        "thread.resolution_refused": f"Refused: resolving a thread by {row.who}",
        "point.settled": f"{row.who} settled a point{team}",
        "point.refused": f"Refused: settling a point by {row.who}{team}",
        "webhook.added": f"{row.who} added a webhook",
        "webhook.removed": f"{row.who} removed a webhook",
        "webhook.refused": f"Refused: webhook by {row.who}",
    }


def published_text(row: EntryRow) -> str:
    """Say how many comments a publication holds, and in which threads."""
    said = (row.payload or {}).get("comments", [])
    numbers = tuple(dict.fromkeys(str(comment["thread"]) for comment in said))
    threads = f" in thread{'' if len(numbers) == 1 else 's'} {listed(numbers)}" if len(numbers) <= MOST_NAMED else ""
    return f"{count(len(said), 'comment')}{threads}"


def event_of(row: EntryRow, entry_href: str) -> Event:
    """Make a line of history."""
    is_told = row.is_changed or row.action != "revision.planned"
    detail = f": {row.reason}" if row.reason and is_told else ""
    return Event(
        icon="fail" if row.is_refusal or row.is_changed else ICONS.get(row.action, "nd"),
        text=f"{event_text(row)}{detail}",
        when=when(row.at),
        seq=row.seq,
        href=entry_href,
    )
