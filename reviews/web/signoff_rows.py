"""Requirements and the sign-off form of a decision, as rows of text. Pure; who may sign was judged before.

Rules kept: a sign-off that counts no more stays visible, struck through, with the reason; the form shows the digests
that it binds; what was typed is kept when the form is refused.
"""

from dataclasses import dataclass
from typing import Any

from reviews.selectors.rows import DecisionPage, SignOffRow
from reviews.web.formats import listed, when
from reviews.web.page_rows import SIGNED, STATES, moved_text, my_open_teams, subject_digests, team_title
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
class SignPanel:
    """The sign-off form. ``reason`` says under the button why it is off."""

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


def signed_line(row: SignOffRow) -> SignedLine:
    """Write one sign-off with its status."""
    text = f"{row.person} {SIGNED[row.meaning]} r{row.revision}, {when(row.signed_at)}"
    if row.status == "CURRENT":
        return SignedLine(text, "", row.statement, False)
    reason = REASONS.get(row.judged.reason, row.judged.reason.replace("_", " ").lower())
    if row.status == "WITHDRAWN":
        reason = f"“{row.withdrawn_reason}”"
    if row.judged.reason == "SUBJECT_CHANGED":
        reason = f"since r{row.revision} {moved_text(row.judged.keys)} changed"
    return SignedLine(text, f"{row.status.capitalize()}: {reason}.", row.statement, True)


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
    form: dict[str, Any] | None = None,
    problems: tuple[str, ...] = (),
) -> SignPanel:
    """Make the sign-off form of the shown revision; what was typed before is kept."""
    typed = form or {}
    reason = off_reason(page)
    open_teams = [seat for seat in page.seats if seat.verdict.allowed]
    mine = my_open_teams(page)
    team = typed.get("team") or (mine[0] if mine else open_teams[0].team if open_teams else "")
    title = team_title(team).lower() if team else ""
    has_winner = page.shown.plan is not None and page.shown.plan.decision_word == "SELECT_TOPOLOGY"
    return SignPanel(
        title=f"Your turn: {title}" if mine else "Sign-off",
        since=f"r{page.shown.number}",
        lead="A sign-off is bound to these digests. Anything that changes makes it stale."
        if has_winner
        else "Nothing is selected. Approving says that this outcome is right; it can be closed, not activated.",
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
        button=f"Sign for {title}" if title else "Sign",
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
    if not page.seats:
        return "You have no seat in a team that this policy asks."
    if not any(seat.verdict.allowed for seat in page.seats):
        return page.seats[0].verdict.reason
    return ""
