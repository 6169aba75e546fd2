"""Entries of the audit log, and what its verification found, as rows of text. Pure."""

from dataclasses import dataclass

from django.urls import reverse

from reviews.selectors.log import ERASED, EntryRow
from reviews.verification import Verification
from reviews.web.event_rows import event_text
from reviews.web.formats import count, when
from reviews.web.page_rows import team_title

CHECKED = (
    "every entry's stored bytes are canonical and hash to its digest",
    "sequence without a gap, and every entry names the one before it",
    "the columns that pages filter by repeat what the bytes say",
)
NOT_CHECKED = (
    "documents, plans and sign-offs as they are stored: the command below checks them against their digests too",
    "whether a person read what was shown to them",
    "whether the measurements are true: only that they are the ones reviewed",
    "whether entries were cut off at the end: compare the head with one that you noted earlier",
)


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
    ("delegation.", "Delegations"),
    ("evidence.", "Retracted evidence"),
    ("identity.", "Identity reports"),
    ("policy.", "Policy"),
    ("roster.", "Roster"),
    ("token.", "API tokens"),
    ("webhook.", "Webhooks"),
    ("log.", "Keys of the log"),
    ("verification.", "Verifications"),
    ("export.", "Exports"),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """What verification found."""

    title: str
    text: str
    is_broken: bool
    checked: tuple[str, ...]
    not_checked: tuple[str, ...]
    head: str


def entry_line(row: EntryRow, slug: str) -> EntryLine:
    """Make a line of the log."""
    label = f"D-{row.decision:04d}" if row.decision else ""
    reason = f": {shortened(row.reason)}" if row.reason else ""
    team = f" · {team_title(row.team).lower()}" if row.team else ""
    return EntryLine(
        seq=row.seq,
        at=f"{when(row.at)}:{row.at:%S}",
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


def headline(found: Verification) -> Headline:
    """Say what verification found, and what it does not look at."""
    entries = count(found.entries, "entry", "entries")
    if found.holds:
        return Headline(
            title="The chain of entries holds",
            text=f"{entries}, unbroken from the first to seq {found.entries - 1}. This server checked itself.",
            is_broken=False,
            checked=CHECKED,
            not_checked=NOT_CHECKED,
            head=found.head,
        )
    where = "" if found.bad_seq is None else f" at seq {found.bad_seq}"
    return Headline(
        title=f"Broken{where}",
        text=f"{found.reason} {entries} read before it.",
        is_broken=True,
        checked=(),
        not_checked=NOT_CHECKED,
        head=found.head,
    )
