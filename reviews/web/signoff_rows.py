"""Requirements and sign-offs of a decision, as rows of text. Pure; ``sign_rows`` makes the form.

Rules kept: a sign-off that counts no more stays visible, struck through, with the reason; one that was carried is
never shown as given anew; every requirement that blocks says why, who owes what, and since when.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from reviews.clock import when
from reviews.policies.document import team_title
from reviews.policies.requirements import Requirement
from reviews.policies.transitions import STANDS
from reviews.selectors.rows import DecisionPage, PointRow, SignOffRow
from reviews.web.formats import ago, listed
from reviews.web.page_rows import GIVEN, SIGNED, moved_text, my_open_teams
from reviews.web.words import Word

REQUIREMENTS: dict[str, Word] = {
    "SATISFIED": Word("Satisfied", "pass-o", "pass"),
    "UNSATISFIED": Word("Unsatisfied", "wait", "plain"),
    "UNSATISFIABLE": Word("Unsatisfiable", "fail-o", "fail"),
    "ERROR": Word("Error", "fail-o", "fail"),
    "OVERRIDDEN": Word("Overridden", "stale", "unk"),
    "NOT_APPLICABLE": Word("Not applicable", "na", "na"),
}
CARRIED = Word("Satisfied, carried", "carry", "pass")
BOUND = ("subject", "contract", "evidence", "plan", "policy")
"""The digests of a sign-off that are shown; the audit log has all of them."""
REASONS = {
    "SIGNER_INELIGIBLE": "the signer has no seat in the team any more",
    "SIGNER_BECAME_AUTHOR": "the signer became an author",
    "REPLACED": "replaced by a later one",
    "RE_REVIEW_REQUESTED": "another review was asked for",
    "POLICY_CHANGED": "the policy changed",
    "PLANNER_CHANGED": "the planner version changed",
    "EVIDENCE_EXPIRED": "the evidence is older than the contract allows",
}
SCOPE_REASONS = {
    "SCOPE_CHANGED": "what the team owns changed",
    "IDENTITY_CHANGED": "identity keys of the team changed",
    "NEW_ITEM": "the team owns something new",
}
KEYS_SHOWN = 4
CONDITION, OBJECT = "condition", "object"


@dataclass(frozen=True, slots=True)
class PointLine:
    """A condition or follow-up of a sign-off, and whether it is done."""

    id: int
    lead: str
    text: str
    state: str
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedLine:
    """A sign-off under its team's requirement; ``is_struck`` where it counts no more.

    ``carried`` says that it was given on an earlier revision, ``carried_by`` is the seq of the entry that carries it.
    """

    id: int
    text: str
    reason: str
    statement: str
    is_struck: bool
    carried: str
    carried_by: int | None
    revision: int
    points: tuple[PointLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementLine:
    """What one team owes."""

    team: str
    word: Word
    icon_css: str
    progress: str
    because: str
    owed_by: str
    since: str
    is_turn: bool
    signoffs: tuple[SignedLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """All requirements with their count."""

    rows: tuple[RequirementLine, ...]
    summary: str
    note: str


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


def signed_line(row: SignOffRow) -> SignedLine:
    """Write one sign-off with its status; what was carried says from where."""
    text = f"{row.person} {SIGNED[row.meaning]} r{row.revision}, {when(row.signed_at)}"
    carried = f"Carried from r{row.revision}" if row.status == "CARRIED" else ""
    if carried and row.meaning != OBJECT:
        carried = f"{carried}: scope and topology are byte-equal"
    reason = why_not(row)
    return SignedLine(
        id=row.id,
        text=text,
        reason=reason,
        statement=row.statement,
        is_struck=bool(reason),
        carried=carried,
        carried_by=row.carried_by if carried else None,
        revision=row.revision,
        points=tuple(map(point_line, row.points)),
    )


def point_line(row: PointRow) -> PointLine:
    """Write one condition or follow-up."""
    lead = "Condition" if row.kind == CONDITION else "Follow-up"
    done = f"done, {row.settled_by}: {row.note}" if row.settled_by else "not met" if row.kind == CONDITION else "open"
    return PointLine(row.id, lead, row.text, done, is_open=not row.settled_by)


def why_not(row: SignOffRow) -> str:
    """Say why a sign-off counts no more; empty where it counts."""
    if row.judged.counts:
        return ""
    judged = row.judged
    reason = REASONS.get(judged.reason, judged.reason.replace("_", " ").lower())
    if row.status == "WITHDRAWN":
        reason = f"“{row.withdrawn_reason}”"
    if judged.reason == "SUBJECT_CHANGED":
        reason = f"since r{row.revision} {moved_text(judged.keys)} changed"
    if judged.reason in SCOPE_REASONS:
        reason = f"{SCOPE_REASONS[judged.reason]} since r{row.revision}: {keys_text(judged.keys)}"
    return f"{row.status.capitalize()}: {reason}."


def keys_text(keys: Sequence[str]) -> str:
    """Name the items of a scope that moved, the first few of many."""
    more = f" and {len(keys) - KEYS_SHOWN} more" if len(keys) > KEYS_SHOWN else ""
    return f"{', '.join(map(key_text, keys[:KEYS_SHOWN]))}{more}"


def key_text(key: str) -> str:
    """Name one item: a gate with its trial, an identity key with full stops, anything else as it is."""
    kind, _, name = key.partition(":")
    if kind == "gate":
        trial, _, gate = name.rpartition(":")
        return f"{gate} × {trial}"
    return name.removeprefix("/").replace("/", ".") or key


def own_signoff(row: SignOffRow, now: datetime, withdraw_href: str = "") -> OwnSignOff:
    """Write what the reader signed, with the digests that they were shown."""
    displayed = json.loads(row.displayed)
    return OwnSignOff(
        word=GIVEN[row.meaning] if row.judged.counts else Word(row.status.capitalize(), "stale", "unk"),
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
    kept = [row for row in latest.values() if row.status != "WITHDRAWN"]
    return tuple(own_signoff(row, now, withdraw(row.id) if _is_withdrawn_alone(page, row) else "") for row in kept)


def _is_withdrawn_alone(page: DecisionPage, row: SignOffRow) -> bool:
    """Whether its signer may take a sign-off back: not one that a decision in force rests on."""
    return row.meaning == "object" or page.state not in STANDS


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
        if row.blocks
    )


def word_of(row: Requirement, signed: Sequence[SignOffRow]) -> Word:
    """Name a requirement's status; one that nobody signed anew for is shown as carried, never with a fresh tick."""
    counting = [one for one in signed if one.judged.counts]
    if row.status == "SATISFIED" and counting and all(one.status == "CARRIED" for one in counting):
        return CARRIED
    return REQUIREMENTS[row.status]


def requirements_of(page: DecisionPage, now: datetime) -> Requirements:
    """Make the panel of requirements; sign-offs stand under the team they were given for."""
    mine = my_open_teams(page) if page.state in ("IN_REVIEW", "EMERGENCY") else ()
    rows = []
    for row in page.requirements:
        is_turn = row.team in mine
        signed = [one for one in page.signoffs if one.team == row.team]
        word = Word("Your turn", "turn", "plain") if is_turn else word_of(row, signed)
        rows.append(
            RequirementLine(
                team=team_title(row.team),
                word=word,
                icon_css="" if word.css == "plain" else word.icon_css,
                progress=f"{row.approvals} of {row.quorum}" if row.status != "NOT_APPLICABLE" else "",
                because=row.because,
                owed_by=listed(row.owed_by, "or"),
                since=f"{when(row.since)} ({ago(row.since, now)})" if row.since and row.blocks else "",
                is_turn=is_turn,
                signoffs=tuple(map(signed_line, signed)),
            )
        )
    asked = [row for row in page.requirements if row.status != "NOT_APPLICABLE"]
    done = sum(row.status == "SATISFIED" for row in asked)
    return Requirements(
        rows=tuple(rows),
        summary=f"{done} of {len(asked)} satisfied",
        note=page.approval.because if done == len(asked) else "At least two people must agree, and no author counts.",
    )
