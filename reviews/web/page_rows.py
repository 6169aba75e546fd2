"""Head, strips and states of a decision's pages, as rows of text. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from reviews.clock import when
from reviews.policies.document import team_title
from reviews.policies.requirements import Requirement
from reviews.policies.transitions import TAKES_REVISION
from reviews.selectors.rows import DecisionPage, Objection, RevisionRow
from reviews.web.formats import ago, count, listed, moment, percent
from reviews.web.words import Word

STATES: dict[str, Word] = {
    "DRAFT": Word("Draft", "doc", "plain"),
    "EVALUATING": Word("Planning", "wait", "plain"),
    "EVALUATION_FAILED": Word("Planning failed", "fail", "fail"),
    "IN_REVIEW": Word("In review", "turn", "plain"),
    "EFFECTIVE": Word("Effective", "pass", "pass"),
    "STALE": Word("Stale", "stale", "unk"),
    "EXPIRED": Word("Expired", "stale", "unk"),
    "CONTESTED": Word("Contested", "unk", "unk"),
    "EMERGENCY": Word("Emergency", "stale", "unk"),
    "WITHDRAWN": Word("Withdrawn", "na", "plain"),
    "REJECTED": Word("Rejected", "fail", "fail"),
    "SUPERSEDED": Word("Superseded", "na", "plain"),
    "REVOKED": Word("Revoked", "fail", "fail"),
    "CLOSED": Word("Closed without a selection", "na", "plain"),
}
APPROVED = Word("Approved", "pass-o", "plain")
GIVEN: dict[str, Word] = {
    "approve": Word("Approved", "pass-o", "pass"),
    "approve_with_conditions": Word("Approved with conditions", "pass-o", "pass"),
    "accept_risk": Word("Risk accepted", "stale", "unk"),
    "object": Word("Objected", "fail-o", "fail"),
    "request_changes": Word("Changes requested", "stale", "unk"),
    "reject": Word("Rejected", "fail-o", "fail"),
}
SIGNED = {
    "approve": "approved",
    "approve_with_conditions": "approved with conditions",
    "accept_risk": "accepted the risk of",
    "request_changes": "requested changes on",
    "reject": "rejected",
    "object": "objected to",
}
PARTS = {
    "contract": "the contract",
    "evidence": "the evidence",
    "identity": "the identity",
    "policy": "the policy",
    "planner_version": "the planner version",
    "plan": "the plan",
}


@dataclass(frozen=True, slots=True)
class Tab:
    """One page of a decision."""

    title: str
    href: str
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What every page of a decision begins with."""

    label: str
    title: str
    slot: str
    state: Word
    revision: int
    as_of: str
    as_of_ago: str
    author: str
    planner_version: str
    digests: tuple[tuple[str, str], ...]
    tabs: tuple[Tab, ...]
    operate: tuple[Tab, ...]
    revise_href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """One line above the page: whose turn it is, what moved, what went wrong."""

    lead: str
    text: str
    icon: str = "turn"
    css: str = "plain"
    more: str = ""
    href: str = ""
    action: str = ""
    is_turn: bool = False
    is_alert: bool = False
    id: str = ""


def subject_digests(row: RevisionRow) -> tuple[tuple[str, str], ...]:
    """Name every digest that a sign-off on this revision is bound to."""
    return (
        *((("subject", row.subject),) if row.subject else ()),
        ("contract", row.contract),
        ("evidence", row.evidence),
        *((("plan", row.plan.plan_id),) if row.plan else ()),
        ("policy", row.policy),
    )


def state_word(state: str, *, approved: bool, objections: Sequence[Objection]) -> Word:
    """Name a state; a review is called by what came of it: approved, or what the author has to answer."""
    if state != "IN_REVIEW":
        return STATES[state]
    if approved:
        return APPROVED
    given = {objection.meaning for objection in objections}
    return next(
        (GIVEN[meaning] for meaning in ("object", "reject", "request_changes") if meaning in given), STATES[state]
    )


def said_against(objection: Objection, revision: int) -> tuple[str, str]:
    """Say who is against a revision, and what they wrote."""
    title = team_title(objection.team).lower()
    return f"{objection.person} {SIGNED[objection.meaning]} r{revision} for {title}.", f"“{objection.statement}”"


def answer_strips(page: DecisionPage, revise_href: str) -> tuple[Strip, ...]:
    """Quote everybody who is against the newest revision, and tell its author what else asks for the next one."""
    mine = page.is_author and page.may_submit.allowed
    strips = []
    for objection in page.objections if page.state == "IN_REVIEW" else ():
        who, said = said_against(objection, page.newest.number)
        strips.append(
            Strip(
                lead=f"Your turn: {who}" if page.is_author else who,
                text=said,
                icon="turn" if page.is_author else "stale",
                more=answer_text(page, objection),
                href=revise_href if mine else "",
                action="New revision",
                is_turn=page.is_author,
            )
        )
    asked = dict.fromkeys(row.because for row in page.requirements if row.blocks and row.is_answered_by_author)
    if mine and asked and not strips and page.state == "IN_REVIEW":
        lead, text = "Your turn: make a new revision.", " ".join(asked)
        strips.append(Strip(lead=lead, text=text, icon="turn", href=revise_href, action="New revision", is_turn=True))
    return tuple(strips)


def answer_text(page: DecisionPage, objection: Objection) -> str:
    """Say what follows a word against a revision; an objection is answered by lifting it alone."""
    if objection.meaning == "object":
        return (
            f"It stays over every revision until {objection.person} lifts it, or the team's lead and a second member."
        )
    if page.is_author:
        return "Answer with a new revision, or ask them to withdraw it."
    return f"{page.newest.author} owes the answer: a new revision."


def head_of(
    page: DecisionPage, *, now: datetime, tabs: tuple[Tab, ...], operate: tuple[Tab, ...], revise_href: str
) -> Head:
    """Make the head of a decision's page; who may submit gets the link to a new revision, where one is taken."""
    as_of = moment(page.shown.as_of)
    return Head(
        label=page.label,
        title=page.title,
        slot=page.slot,
        state=state_word(page.state, approved=page.approval.approved, objections=page.objections),
        revision=page.shown.number,
        as_of=when(as_of),
        as_of_ago=ago(as_of, now),
        author=page.shown.author,
        planner_version=page.shown.planner_version,
        digests=subject_digests(page.shown),
        tabs=tabs,
        operate=operate,
        revise_href=revise_href if page.may_submit.allowed and page.state in TAKES_REVISION else "",
    )


def my_open_teams(page: DecisionPage) -> tuple[str, ...]:
    """Return the teams for which the reader may sign now and has not."""
    owed = {
        row.team
        for row in page.requirements
        if row.status in ("UNSATISFIED", "OVERRIDDEN") and not row.is_answered_by_author
    }
    given = {row.team for row in page.signoffs if row.is_mine and row.judged.counts}
    return tuple(seat.team for seat in page.seats if seat.verdict.allowed and seat.team in owed - given)


def waiting_text(requirements: Sequence[Requirement], without: Sequence[str] = ()) -> str:
    """Say who else is waited for."""
    owing = [row for row in requirements if row.blocks and row.team not in without]
    teams = [team_title(row.team).lower() for row in owing if not row.is_answered_by_author]
    author = ["the author"] if len(teams) < len(owing) else []
    return listed((*author, *teams)) if owing else ""


def turn_strip(page: DecisionPage) -> Strip:
    """Say whose turn it is."""
    mine = my_open_teams(page)
    others = waiting_text(page.requirements, mine)
    if page.state != "IN_REVIEW":
        text = page.state_because or in_force_text(page) or page.approval.because
        is_stale = page.state == "STALE"
        return Strip(
            lead=f"{STATES[page.state].text}.",
            text=text,
            icon=STATES[page.state].icon,
            href="identity/" if is_stale else "",
            action="What runs now" if is_stale else "",
        )
    if page.approval.approved:
        return Strip(
            lead="Approved.",
            text=page.approval.because,
            icon="pass-o",
            href="release/" if page.may_release.allowed else "",
            action="Put into force",
            is_turn=page.may_release.allowed,
        )
    if mine:
        return Strip(
            lead=f"Your turn: {listed(tuple(team_title(team).lower() for team in mine))}.",
            text="Read the failing and unknown gates, then sign.",
            more=f"Also waiting on {others}." if others else "",
            href="#sign",
            action="Go to sign-off",
            is_turn=True,
        )
    owed = tuple(dict.fromkeys(name for row in page.requirements for name in row.owed_by))
    text = f"Owed by {listed(owed)}." if owed else page.approval.because
    return Strip(lead=f"Waiting on {others}." if others else "Not approved.", text=text, icon="wait")


def in_force_text(page: DecisionPage) -> str:
    """Say what is in force, until when; empty where nothing was put into force."""
    row = page.activation
    if row is None or page.state not in ("EFFECTIVE", "EMERGENCY", "CONTESTED"):
        return ""
    until = f", valid until {when(row.valid_until)} UTC" if row.valid_until else ""
    incident = f" for incident {row.incident}" if row.incident else ""
    return f"{row.topology} since {when(row.activated_at)} UTC{until}{incident}."


def moved_text(parts: Sequence[str]) -> str:
    """Name what moved between two revisions."""
    return listed(tuple(PARTS.get(part, part) for part in parts))


def stale_strip(page: DecisionPage, newest_href: str) -> Strip:
    """Say that the shown revision is not the newest."""
    moved = moved_text(page.moved)
    return Strip(
        lead=f"You read r{page.shown.number}. The newest is r{page.newest.number}.",
        text=f"Changed since: {moved}. Sign-offs are given on the newest revision only."
        if moved
        else "Sign-offs are given on the newest revision only.",
        icon="stale",
        css="unk",
        href=newest_href,
        action=f"Go to r{page.newest.number}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a planner run is, or why it stopped; ``width`` of 100."""

    title: str
    text: str
    label: str
    width: int
    note: str
    is_running: bool


def progress_of(page: DecisionPage) -> Progress:
    """Say how far planning is, in counts."""
    job, revision = page.shown.job, page.shown.number
    if not job.is_open and job.state != "done":
        attempts = count(job.attempts, "attempt")
        return Progress(
            title=f"Planning r{revision} stopped",
            text=f"{job.error_detail or job.error_code} After {attempts}. Nothing was decided.",
            label="stopped",
            width=0,
            note="Submit the documents again to start another run. An operator finds the error in the worker's log.",
            is_running=False,
        )
    done, total = job.candidates_done, job.candidates_total
    if job.state == "queued":
        text = "Waiting for a worker."
    elif total:
        text = f"Checking gates, {done} of {count(total, 'candidate')}."
    else:
        text = "Reading the documents."
    share = percent(done / total, signed=False) if total else "0 %"
    return Progress(
        title=f"Planning r{revision}",
        text=text,
        label=f"{share} of the candidates checked",
        width=100 * done // total if total else 0,
        note="You can leave this page; the decision appears in the list when it is planned.",
        is_running=True,
    )
