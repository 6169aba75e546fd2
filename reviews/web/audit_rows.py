"""Entries of the audit log as rows of text. Pure."""

from dataclasses import dataclass

from django.urls import reverse

from planner.decision_numbers import decision_label
from reviews.clock import when_exactly
from reviews.policies.document import team_title
from reviews.selectors.log import ERASED, EntryRow
from reviews.web.event_rows import event_text

ACTIONS = (
    ("", "Any"),
    ("refused", "Refused, of any kind"),
    ("submission.", "Submissions"),
    ("revision.", "Revisions and plans"),
    ("signoff.", "Sign-offs"),
    ("decision.", "States of decisions"),
    ("comments.", "Comments"),
    ("thread.", "Threads"),
    ("proposal.", "Acts of two persons"),
    ("waiver.", "Waivers"),
    ("emergency.", "Emergencies"),
    ("point.", "Conditions and follow-ups"),
    ("re_review.", "Reviews asked again"),
    ("delegation.", "Delegations"),
    ("evidence.", "Retracted evidence"),
    ("identity.", "Identity reports"),
    ("observations.", "Observations of production"),
    ("diagnosis.", "Slowest ranks"),
    ("draft.", "Drafts of contracts and evidence"),
    ("policy.", "Policy"),
    ("roster.", "Roster"),
    ("account.", "Accounts"),
    ("person.", "Erased persons"),
    ("token.", "API tokens"),
    ("webhook.", "Webhooks"),
    ("log.", "Keys of the log, restored backups"),
    ("verification.", "Verifications"),
    ("export.", "Exports"),
    ("workspace.", "The workspace"),
)
"""Beginning of an action -> what a list of entries calls it."""
DIGESTS_IN_PAYLOADS = frozenset(
    {"contract", "contract_file", "evidence", "evidence_file", "identity", "plan", "plan_file", "policy", "subject"}
)
"""Fields of payloads, without ``_sha256`` at their end, whose digests have a page."""
REASON_LENGTH = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryLine:
    """One entry."""

    seq: int
    at: str
    action: str
    decision: str
    decision_href: str
    who: str
    what: str
    sha256: str
    subject: str
    href: str
    is_refusal: bool


def entry_line(row: EntryRow, slug: str) -> EntryLine:
    """Make a line of the log."""
    label = decision_label(row.decision) if row.decision else ""
    reason = f": {shortened(row.reason)}" if row.reason else ""
    team = f" · {team_title(row.team).lower()}" if row.team else ""
    return EntryLine(
        seq=row.seq,
        at=when_exactly(row.at),
        action=row.action,
        decision=f"{label} r{row.revision}" if row.revision else label,
        decision_href=_decision_href(row, slug),
        who=f"{row.who if len(row.who) < 48 else ERASED}{team}",
        what=f"{event_text(row)}{reason}",
        sha256=row.sha256,
        subject=row.subject,
        href=reverse("audit-entry", args=[slug, row.seq]),
        is_refusal=row.is_refusal or row.is_changed,
    )


def shortened(reason: str) -> str:
    """Shorten a reason for a line of the log; the entry itself has all of it."""
    return reason if len(reason) <= REASON_LENGTH else f"{reason[:REASON_LENGTH].rstrip()}… (the entry has all of it)"


def _decision_href(row: EntryRow, slug: str) -> str:
    if not row.decision:
        return ""
    href = reverse("decision-detail", args=[slug, row.decision])
    return f"{href}?revision={row.revision}" if row.revision else href
