"""The sign-off form of a decision, with what the reader signed before, as rows of text. Pure.

Rules kept: the form shows the digests that it binds; approving is off until everything was opened, with the reason
beside it; what was typed is kept when the form is refused; whoever signed sees what, when, and what is still owed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from planner.records.plan import Plan
from reviews.policies.document import team_title
from reviews.policies.permissions import SIGNING_ROLES
from reviews.policies.requirements import NOTHING_SELECTED
from reviews.policies.signoff_status import APPROVING
from reviews.selectors.reviewing import Reviewing
from reviews.selectors.rows import DecisionPage
from reviews.web.formats import count
from reviews.web.opening_rows import OpeningPanel, opening_panel
from reviews.web.page_rows import STATES, my_open_teams, subject_digests
from reviews.web.signoff_rows import OwnSignOff, own_signoffs, still_owed

MEANINGS = (
    ("approve", "Approve"),
    ("approve_with_conditions", "Approve with conditions"),
    ("accept_risk", "Accept the risk (never carried)"),
    ("request_changes", "Request changes"),
    ("reject", "Reject"),
    ("object", "Object (veto, stays over revisions)"),
)
SIGNABLE = ("IN_REVIEW", "EMERGENCY")
FIELDS = ("team", "meaning", "statement", "rollback", "conditions", "follow_ups", "seen_subject")
"""What the form sends; conditions and follow-ups are texts with one of them on each line."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A meaning that may be signed, unless it is off (``SignPanel.off``)."""

    value: str
    title: str
    is_off: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SignPanel:
    """The sign-off form with what the reader signed before. ``reason`` says why the reader cannot sign.

    ``still_owed`` is what the decision waits for once the reader has signed, empty where it waits for nothing. ``off``
    says why some meanings cannot be chosen yet.
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
    opening: OpeningPanel | None
    meanings: tuple[Choice, ...]
    off: str
    meaning: str
    statement: str
    conditions: str
    follow_ups: str
    rollbacks: tuple[tuple[str, str], ...]
    rollback: str
    person: str
    button: str
    can_sign: bool
    only_objects: bool
    reason: str
    problems: tuple[str, ...]

    @property
    def has_form(self) -> bool:
        """Whether the form is shown: to who can sign, and to who tried, for it keeps what they wrote."""
        return self.can_sign or bool(self.problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What was typed and refused, with the reasons, and the addresses that the form leads to."""

    typed: Mapping[str, str]
    problems: tuple[str, ...]
    sign_href: str
    open_href: str
    withdraw: Callable[[int], str]


def sign_panel(
    page: DecisionPage, plan: Plan, reviewing: Reviewing | None, *, person: str, now: datetime, form: Form
) -> SignPanel:
    """Make the sign-off form of the shown revision; what was typed before is kept."""
    typed = form.typed
    reason = off_reason(page)
    open_teams = [seat for seat in page.seats if seat.verdict.allowed]
    mine = my_open_teams(page) if page.is_newest else ()
    first = mine[0] if mine else open_teams[0].team if open_teams else ""
    team = typed.get("team") or (reviewing.team if reviewing else first)
    title = team_title(team).lower() if team else ""
    own = own_signoffs(page, now, form.withdraw) if page.is_newest else ()
    has_signed = any(row.counts for row in own)
    opening = opening_panel(reviewing, plan, action=form.open_href) if reviewing else None
    return SignPanel(
        own=own,
        has_signed=has_signed,
        still_owed=still_owed(page) or (() if page.approval.approved else (page.approval.because,)),
        title=f"Your turn: {title}" if team in mine else "Signed" if has_signed else "Sign-off",
        since=f"r{page.shown.number}",
        lead="A sign-off is bound to these digests. Only what your team owns decides whether it is carried on."
        if plan.selected is not None
        else f"Nothing is selected. Approving says that this outcome is right. {NOTHING_SELECTED}",
        action=form.sign_href,
        subject=page.shown.subject or "",
        digests=subject_digests(page.shown),
        teams=tuple((seat.team, seat.title) for seat in open_teams),
        team=team,
        opening=opening,
        meanings=meanings_of(page, title, opening),
        off=off_text(opening),
        meaning=typed.get("meaning", ""),
        statement=typed.get("statement", ""),
        conditions=typed.get("conditions", ""),
        follow_ups=typed.get("follow_ups", ""),
        rollbacks=tuple((row.value, row.text) for row in reviewing.rollbacks) if reviewing else (),
        rollback=typed.get("rollback", ""),
        person=person,
        button=f"Sign {'again ' if has_signed else ''}for {title}" if title else "Sign",
        can_sign=not reason,
        only_objects=page.state not in SIGNABLE,
        reason=reason,
        problems=form.problems,
    )


def meanings_of(page: DecisionPage, title: str, opening: OpeningPanel | None) -> tuple[Choice, ...]:
    """Return what can be signed: of what is in force only an objection, and no approval of what was not opened."""
    if page.state not in SIGNABLE:
        return tuple(Choice(value, text, is_off=False) for value, text in MEANINGS if value == "object")
    is_owing = opening is not None and opening.missing > 0
    return tuple(
        Choice(
            value,
            f"{text} for {title}" if value == "approve" and title else text,
            is_off=is_owing and value in APPROVING,
        )
        for value, text in MEANINGS
    )


def off_text(opening: OpeningPanel | None) -> str:
    """Say why nothing can be approved yet, once for all meanings that approve."""
    if opening is None or not opening.missing:
        return ""
    return f"To approve, open {count(opening.missing, 'more item', 'more items')} first."


def off_reason(page: DecisionPage) -> str:
    """Say why the form is off; empty when it is on."""
    if not page.is_newest:
        return f"Sign-offs are given on r{page.newest.number}, the newest revision."
    if page.state not in (*SIGNABLE, "EFFECTIVE", "CONTESTED"):
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
