"""Requirements and the sign-off form of a decision, as rows of text. Pure; who may sign was judged before.

Rules kept: a sign-off that counts no more stays visible, struck through, with the reason; the form shows the digests
that it binds; what was typed is kept when the form is refused; whoever signed sees what, when, and what is still owed.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reviews.policies.permissions import SIGNING_ROLES
from reviews.policies.requirements import NOTHING_SELECTED, Requirement
from reviews.selectors.rows import DecisionPage, SignOffRow
from reviews.web.formats import ago, listed, when
from reviews.web.page_rows import GIVEN, SIGNED, STATES, moved_text, my_open_teams, subject_digests, team_title
from reviews.web.words import Word

REQUIREMENTS: dict[str, Word] = {
    "SATISFIED": Word("Satisfied", "pass-o", "pass"),
    "UNSATISFIED": Word("Unsatisfied", "wait", "plain"),
    "UNSATISFIABLE": Word("Unsatisfiable", "fail-o", "fail"),
    "ERROR": Word("Error", "fail-o", "fail"),
    "OVERRIDDEN": Word("Overridden", "stale", "unk"),
    "NOT_APPLICABLE": Word("Not applicable", "na", "na"),
}
MEANINGS = (("approve", "Approve"), ("request_changes", "Request changes"), ("reject", "Reject"))
BOUND = ("subject", "contract", "evidence", "plan", "policy")
"""The digests of a sign-off that are shown; the audit log has all of them."""
REASONS = {
    "SUBJECT_CHANGED": "what was signed changed",
    "SIGNER_INELIGIBLE": "the signer has no seat in the team any more",
    "SIGNER_BECAME_AUTHOR": "the signer became an author",
    "REPLACED": "replaced by a later one",
}


@dataclass(frozen=True, slots=True)
class SignedLine:
    """A sign-off under its team's requirement; ``is_struck`` where it counts no more."""

    text: str
    reason: str
    statement: str
    is_struck: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementLine:
    """What one team owes."""

    team: str
    word: Word
    icon_css: str
    progress: str
    because: str
    owed_by: str
    is_turn: bool
    signoffs: tuple[SignedLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """All requirements with their count."""

    rows: tuple[RequirementLine, ...]
    summary: str
    note: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A meaning that may be signed; ``off`` says why not."""

    value: str
    title: str
    off: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSignOff:
    """What the reader signed, as it was shown to them; ``why_not`` says why it counts no more."""

    word: Word
    lead: str
    signed_at: str
    ago: str
    statement: str
    digests: tuple[tuple[str, str], ...]
    why_not: str
    withdraw_href: str

    @property
    def counts(self) -> bool:
        """Whether it stands for the newest revision."""
        return not self.why_not


@dataclass(frozen=True, slots=True, kw_only=True)
class SignPanel:
    """The sign-off form with what the reader signed before. ``reason`` says why the reader cannot sign.

    ``still_owed`` is what the decision waits for once the reader has signed, empty where it waits for nothing.
    """

    own: tuple[OwnSignOff, ...]
    has_signed: bool
    still_owed: tuple[str, ...]
    title: str
    since: str
    lead: str
    action: str
    subject: str
    digests: tuple[tuple[str, str], ...]
    teams: tuple[tuple[str, str], ...]
    team: str
    meanings: tuple[Choice, ...]
    meaning: str
    statement: str
    person: str
    button: str
    can_sign: bool
    reason: str
    problems: tuple[str, ...]

    @property
    def has_form(self) -> bool:
        """Whether the form is shown: to who can sign, and to who tried, for it keeps what they wrote."""
        return self.can_sign or bool(self.problems)


def signed_line(row: SignOffRow) -> SignedLine:
    """Write one sign-off with its status."""
    text = f"{row.person} {SIGNED[row.meaning]} r{row.revision}, {when(row.signed_at)}"
    reason = why_not(row)
    return SignedLine(text, reason, row.statement, bool(reason))


def why_not(row: SignOffRow) -> str:
    """Say why a sign-off counts no more; empty where it counts."""
    if row.status == "CURRENT":
        return ""
    reason = REASONS.get(row.judged.reason, row.judged.reason.replace("_", " ").lower())
    if row.status == "WITHDRAWN":
        reason = f"“{row.withdrawn_reason}”"
    if row.judged.reason == "SUBJECT_CHANGED":
        reason = f"since r{row.revision} {moved_text(row.judged.keys)} changed"
    return f"{row.status.capitalize()}: {reason}."


def own_signoff(row: SignOffRow, now: datetime, withdraw_href: str = "") -> OwnSignOff:
    """Write what the reader signed, with the digests that they were shown."""
    displayed = json.loads(row.displayed)
    return OwnSignOff(
        word=GIVEN[row.meaning] if row.status == "CURRENT" else Word(row.status.capitalize(), "stale", "unk"),
        lead=f"You {SIGNED[row.meaning]} r{row.revision} for {team_title(row.team).lower()}",
        signed_at=when(row.signed_at),
        ago=ago(row.signed_at, now),
        statement=row.statement,
        digests=tuple((name, displayed[name]) for name in BOUND if name in displayed),
        why_not=why_not(row),
        withdraw_href=withdraw_href,
    )


def own_signoffs(page: DecisionPage, now: datetime, withdraw: Callable[[int], str]) -> tuple[OwnSignOff, ...]:
    """Return the reader's last sign-off for each team, unless they took it back: that one is history."""
    latest: dict[str, SignOffRow] = {}
    for row in page.signoffs:
        if row.is_mine:
            latest.setdefault(row.team, row)
    return tuple(own_signoff(row, now, withdraw(row.id)) for row in latest.values() if row.status != "WITHDRAWN")


def owed_by_text(row: Requirement) -> str:
    """End a sentence on a requirement with who owes what."""
    if not row.owed_by:
        return "."
    names = listed(row.owed_by, "or")
    return f", {names} owes the answer." if row.is_answered_by_author else f", owed by {names}."


def still_owed(page: DecisionPage) -> tuple[str, ...]:
    """Say for each team what it owes, and who."""
    return tuple(
        f"{team_title(row.team)}: {row.because.rstrip('.')}" + owed_by_text(row)
        for row in page.requirements
        if row.status != "SATISFIED"
    )


def requirements_of(page: DecisionPage) -> Requirements:
    """Make the panel of requirements; sign-offs stand under the team they were given for."""
    mine = my_open_teams(page) if page.state == "IN_REVIEW" else ()
    rows = []
    for row in page.requirements:
        is_turn = row.team in mine
        word = Word("Your turn", "turn", "plain") if is_turn else REQUIREMENTS[row.status]
        rows.append(
            RequirementLine(
                team=team_title(row.team),
                word=word,
                icon_css="" if word.css == "plain" else word.icon_css,
                progress=f"{row.approvals} of {row.quorum}",
                because=row.because,
                owed_by=listed(row.owed_by, "or"),
                is_turn=is_turn,
                signoffs=tuple(signed_line(signed) for signed in page.signoffs if signed.team == row.team),
            )
        )
    done = sum(row.status == "SATISFIED" for row in page.requirements)
    return Requirements(
        rows=tuple(rows),
        summary=f"{done} of {len(rows)} satisfied",
        note=page.approval.because if done == len(rows) else "At least two people must agree, and no author counts.",
    )


def sign_panel(
    page: DecisionPage,
    *,
    action: str,
    person: str,
    now: datetime,
    withdraw: Callable[[int], str],
    form: dict[str, Any] | None = None,
    problems: tuple[str, ...] = (),
) -> SignPanel:
    """Make the sign-off form of the shown revision; what was typed before is kept.

    ``withdraw`` gives the address at which a sign-off of the reader is taken back.
    """
    typed = form or {}
    reason = off_reason(page)
    open_teams = [seat for seat in page.seats if seat.verdict.allowed]
    mine = my_open_teams(page) if page.is_newest else ()
    team = typed.get("team") or (mine[0] if mine else open_teams[0].team if open_teams else "")
    title = team_title(team).lower() if team else ""
    own = own_signoffs(page, now, withdraw) if page.is_newest else ()
    has_signed = any(row.counts for row in own)
    has_winner = page.shown.plan is not None and page.shown.plan.decision_word == "SELECT_TOPOLOGY"
    return SignPanel(
        own=own,
        has_signed=has_signed,
        still_owed=still_owed(page) or (() if page.approval.approved else (page.approval.because,)),
        title=f"Your turn: {title}" if mine else "Signed" if has_signed else "Sign-off",
        since=f"r{page.shown.number}",
        lead="A sign-off is bound to these digests. Anything that changes makes it stale."
        if has_winner
        else f"Nothing is selected. Approving says that this outcome is right. {NOTHING_SELECTED}",
        action=action,
        subject=page.shown.subject or "",
        digests=subject_digests(page.shown),
        teams=tuple((seat.team, seat.title) for seat in open_teams),
        team=team,
        meanings=tuple(
            Choice(value, f"{text} for {title}" if value == "approve" and title else text, "")
            for value, text in MEANINGS
        ),
        meaning=typed.get("meaning") or "",
        statement=typed.get("statement") or "",
        person=person,
        button=f"Sign {'again ' if has_signed else ''}for {title}" if title else "Sign",
        can_sign=not reason,
        reason=reason,
        problems=problems,
    )


def off_reason(page: DecisionPage) -> str:
    """Say why the form is off; empty when it is on."""
    if not page.is_newest:
        return f"Sign-offs are given on r{page.newest.number}, the newest revision."
    if page.state != "IN_REVIEW":
        return f"{page.label} is {STATES[page.state].text.lower()}. Sign-offs are given while it is in review."
    if page.shown.subject is None:
        return "There is no plan yet."
    if page.is_author:
        return "You made a revision of this decision. Its authors never sign it."
    if page.role not in SIGNING_ROLES:
        return f"Your role here is {page.role}. Nobody with this role signs."
    if not page.seats:
        return "You have no seat in a team that this policy asks."
    if not any(seat.verdict.allowed for seat in page.seats):
        return page.seats[0].verdict.reason
    return ""
