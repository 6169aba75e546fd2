"""Writes the emails of notices: plain text, one line that says what, one that says why, one link.

What people typed comes in as text and in one line where it stands in a header. The message id is that of the delivery,
so a message that is sent twice is known as one.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage
from django.urls import reverse

from reviews.clock import when
from reviews.models.notices import Delivery, Notice, NoticeReason
from reviews.selectors.proposals import proposal_said

TITLE_LENGTH = 120
DONE, NOT_DONE = " It is carried out.", " It is not carried out."
"""What follows from the end of a proposal; a subject line leaves it out."""
WHAT = {
    "revision.planned": "r{revision} is planned and in review.",
    "revision.not_planned": "r{revision} could not be planned.",
    "re_review.asked": "{actor} asks {team} for another review of r{revision}.",
    "signoff.withdrawn": "{actor} withdrew a sign-off for {team}.",
    "emergency.declared": "{actor} declared an emergency.",
    "identity.differs": "What runs differs from what was decided.",
    "observations.breached": "Production left its envelope.",
    "observations.drifted": "Production drifts from what was measured.",
    "observations.cleared": "Production is back within its envelope.",
    "decision.activated": "{actor} put r{revision} into force.",
    "decision.closed": "{actor} closed it without a selection.",
    "decision.contested": "It is contested: evidence that it counted was retracted.",
    "decision.expired": "It expired.",
    "decision.expiring": "It ends soon.",
    "decision.ran_out": "The emergency ran out before the review was done.",
    "decision.rejected": "{actor} rejected it.",
    "decision.revoked": "{actor} revoked it.",
    "decision.rolled_back": "{actor} rolled the slot back.",
    "decision.stale": "It is stale.",
    "comments.published": "{actor} commented.",
    "proposal.made": "{actor} proposed {what}.",
    "proposal.countersigned": f"{{actor}} countersigned {{what}}.{DONE}",
    "proposal.declined": f"{{actor}} declined {{what}}.{NOT_DONE}",
    "proposal.lapsed": "Nobody countersigned {what}.",
}
PROPOSED = {
    "policy": "a change of the policy",
    "lift_objection": "to lift an objection",
    "waiver": "a waiver",
    "emergency": "an emergency",
    "revocation": "a revocation",
    "rollback": "a rollback",
}
"""Kind of proposal -> what was proposed."""
SIGNED = {
    "approve": "{actor} approved r{revision} for {team}. Every team approved now.",
    "approve_with_conditions": "{actor} approved r{revision} for {team} with conditions. Every team approved now.",
    "accept_risk": "{actor} accepted the risk of r{revision} for {team}. Every team approved now.",
    "request_changes": "{actor} requested changes on r{revision} for {team}.",
    "object": "{actor} objects to r{revision} for {team}.",
    "reject": "{actor} rejected r{revision} for {team}.",
}
SIGN = ("revision.planned", "re_review.asked", "signoff.withdrawn", "emergency.declared")


def notice_message(delivery: Delivery) -> EmailMessage:
    """Write the message of one notice."""
    notice = delivery.notice
    lines = [*_lines(delivery), "", f"You are told because {_why(delivery)}.", _end(notice)]
    subject = f"[{notice.workspace.slug}] {_headline(notice)}: {_lead(delivery)}"
    return _message(delivery, subject, lines)


def digest_message(deliveries: Sequence[Delivery]) -> EmailMessage:
    """Write one message of all that one person is told of one workspace."""
    first = deliveries[0]
    lines = [f"Since the last digest, {len(deliveries)} {'thing' if len(deliveries) == 1 else 'things'}:"]
    for delivery in deliveries:
        lines += ["", *_lines(delivery)]
    decisions = {delivery.notice.decision_id for delivery in deliveries}
    named = len(decisions - {None})
    about = " and ".join(
        [
            *([f"{named} {'decision' if named == 1 else 'decisions'}"] if named else []),
            *(["the policy"] * (None in decisions)),
        ]
    )
    return _message(first, f"[{first.notice.workspace.slug}] Daily digest: {about}", [*lines, "", _end(first.notice)])


def _message(delivery: Delivery, subject: str, lines: Sequence[str]) -> EmailMessage:
    host = urlsplit(settings.PUBLIC_URL).hostname
    if delivery.person is None:
        raise ValueError(f"delivery {delivery.pk} goes to no person")
    return EmailMessage(
        subject=subject,
        body="\n".join(lines) + "\n",
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[delivery.person.email],
        headers={"Message-ID": f"<{delivery.uid}@{host}>", "Auto-Submitted": "auto-generated"},
    )


def _lines(delivery: Delivery) -> list[str]:
    notice = delivery.notice
    said = [f"“{_one_line(notice.reason)}”"] if notice.reason and notice.actor else []
    plain = [_one_line(notice.reason)] if notice.reason and notice.actor is None else []
    return [
        _headline(notice),
        *([f"Slot {notice.decision.slot}"] if notice.decision else []),
        f"{what_text(notice)} {_asked(delivery)}".strip(),
        *_proposed_lines(notice),
        *said,
        *plain,
        settings.PUBLIC_URL + notice_path(notice),
    ]


def _proposed_lines(notice: Notice) -> list[str]:
    """Say what is to be done, and until when somebody can agree to it."""
    if notice.proposal is None:
        return []
    asks, until = proposal_said(notice.proposal)
    open_until = [f"It is open until {when(until)} UTC."] if until and notice.kind == "proposal.made" else []
    return [" ".join([_one_line(asks), *open_until])] if asks else []


def notice_path(notice: Notice) -> str:
    """Return the path of the page on which what a notice asks for is done."""
    slug, place = notice.workspace.slug, f"#proposal-{notice.proposal_id}" if notice.kind == "proposal.made" else ""
    if notice.decision is None:
        return reverse("policy-detail", args=[slug]) + place
    page = "decision-release" if place else "decision-detail"
    return reverse(page, args=[slug, notice.decision.number]) + place


def _headline(notice: Notice) -> str:
    if notice.decision is None:
        return "Policy"
    return f"{notice.decision.label} {_one_line(notice.decision.title)}"


def what_text(notice: Notice) -> str:
    """Say what happened, in one sentence."""
    pattern = SIGNED.get(notice.meaning, "") if notice.kind == "signoff.given" else WHAT.get(notice.kind, "")
    actor = _one_line(notice.actor.display_name) if notice.actor else "Somebody"
    what = PROPOSED.get(notice.meaning, "something") if notice.proposal_id else ""
    return pattern.format(actor=actor, revision=notice.revision, team=notice.team, what=what)


def _asked(delivery: Delivery) -> str:
    kind = delivery.notice.kind
    if delivery.why == NoticeReason.OUTDATED:
        return "Your sign-off on the revision before counts no more: look at what changed, and sign again."
    if delivery.why == NoticeReason.SECOND:
        return "It takes a second person, and you can be it."
    if delivery.why != NoticeReason.TURN:
        return ""
    if kind in SIGN:
        return "It is your turn to sign."
    return (
        "It is your turn to answer." if delivery.notice.meaning in ANSWERED else "It is your turn to put it into force."
    )


ANSWERED = ("request_changes", "object", "reject")


def _lead(delivery: Delivery) -> str:
    return {
        NoticeReason.TURN: "your turn",
        NoticeReason.OUTDATED: "your sign-off is outdated",
        NoticeReason.MENTIONED: "you were mentioned",
        NoticeReason.AUTHOR: what_text(delivery.notice).rstrip("."),
        NoticeReason.OWNER: what_text(delivery.notice).rstrip("."),
        NoticeReason.SECOND: f"your countersignature, {what_text(delivery.notice).rstrip('.')}",
        NoticeReason.PROPOSER: what_text(delivery.notice).removesuffix(NOT_DONE).removesuffix(DONE).rstrip("."),
    }[NoticeReason(delivery.why)]


def _why(delivery: Delivery) -> str:
    if delivery.why == NoticeReason.OWNER and delivery.notice.kind == "identity.differs":
        return "your team owns a key that differs"
    return str(NoticeReason(delivery.why).label)


def _end(notice: Notice) -> str:
    page = settings.PUBLIC_URL + reverse("notification-list", args=[notice.workspace.slug])
    return f"Change how you are told, or stop it: {page}"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LENGTH else f"{line[: TITLE_LENGTH - 1]}…"
