"""Decisions as an inbox: what to do, because of what, who owes what, since when. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from reviews.clock import when
from reviews.policies.document import team_title
from reviews.selectors.breaches import Breaches, BreachRow
from reviews.selectors.inbox import BREACHES, SECONDS, Inbox, InboxChoices
from reviews.selectors.proposals import ProposalRow
from reviews.selectors.rows import DecisionRow
from reviews.selectors.turns import REVIEWED
from reviews.web.formats import ago, count, listed
from reviews.web.links import Query
from reviews.web.observation_rows import STATE_WORDS
from reviews.web.page_rows import STATES, said_against, state_word
from reviews.web.proposal_rows import proposed_by
from reviews.web.words import Word

TITLES = {
    SECONDS: ("Waits for your countersignature", "Proposed by somebody else; you can be the second person"),
    BREACHES: (
        "Above a limit in production",
        "Your decision, or a limit that your team owns; gone once it is back within",
    ),
    "mine": ("My turn", "Something only you or your team can do next"),
    "waiting": ("Waiting on others", "You owe nothing here"),
    "expiring": ("Expiring", "In force, and ends within {days}"),
    "stale": ("Stale", "Stale, expired or contested: it no longer says what to run"),
    "decided": ("Recently decided", "In force, closed or withdrawn, the last first"),
}
"""List -> its title and what is in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One decision, or a proposal; one of the policy has no slot, and no proposal a revision."""

    label: str
    title: str
    slot: str
    revision: int | None
    href: str
    verb: str
    because: str
    word: Word
    middle: tuple[str, ...]
    since: str
    action: str
    is_turn: bool


@dataclass(frozen=True, slots=True)
class Section:
    """One list of the inbox; ``size`` counts what is not shown as well. ``more`` is said where some is not."""

    id: str
    title: str
    note: str
    items: tuple[Item, ...]
    size: int
    href: str
    more: str


@dataclass(frozen=True, slots=True)
class Select:
    """A choice of one filter: (value, text, whether it is chosen)."""

    name: str
    label: str
    options: tuple[tuple[str, str, bool], ...]


def outcome_text(row: DecisionRow) -> str:
    """Say what the newest plan decided."""
    plan = row.newest.plan
    if plan is None:
        return ""
    counts = f"{plan.eligible} eligible, {plan.inconclusive} inconclusive, {plan.rejected} rejected"
    if plan.decision_word == "SELECT_TOPOLOGY":
        return f"{plan.selected_topology} selected: {counts}."
    if plan.decision_word == "INCONCLUSIVE":
        return f"No selection yet: {counts}."
    return f"Nothing is eligible: {counts}."


def planning_text(row: DecisionRow) -> str:
    """Say how planning stands."""
    job = row.newest.job
    if row.state == "EVALUATION_FAILED":
        return f"Planning stopped: {job.error_detail or job.error_code}"
    if job.state == "running" and job.candidates_total:
        return f"Checking gates, {job.candidates_done} of {count(job.candidates_total, 'candidate')}."
    return "Waiting for a worker."


def owed_text(row: DecisionRow) -> str:
    """Say who owes what, team by team."""
    parts = []
    for requirement in row.requirements:
        if requirement.status == "UNSATISFIABLE":
            parts.append(requirement.because)
        elif requirement.is_answered_by_author:
            parts.append(f"{team_title(requirement.team)}: {requirement.because}")
        elif requirement.status == "UNSATISFIED":
            missing = count(requirement.quorum - requirement.approvals, "approval")
            parts.append(f"{team_title(requirement.team)} owes {missing}: {listed(requirement.owed_by, 'or')}.")
    return " ".join(parts)


def item_of(row: DecisionRow, *, name: str, href: str, now: datetime) -> Item:
    """Make a line of the list ``name``."""
    verb, because, action = SAYING[name](row)
    middle = []
    if row.state in REVIEWED:
        asked = [requirement for requirement in row.requirements if requirement.status != "NOT_APPLICABLE"]
        middle.append(f"{row.satisfied} of {count(len(asked), 'requirement')}")
    if row.until is not None:
        middle.append(f"ends {when(row.until)}")
    return Item(
        label=row.label,
        title=row.title,
        slot=row.slot,
        revision=row.newest.number,
        href=href,
        verb=verb,
        because=because,
        word=state_word(row.state, approved=row.approval.approved, objections=row.objections),
        middle=tuple(middle),
        since=ago(row.until if name == "expiring" and row.until else row.state_since, now),
        action=action,
        is_turn=name == "mine",
    )


Said = tuple[str, str, str]
"""What to do, because of what, and the word on the button."""


def say_turn(row: DecisionRow) -> Said:
    """Say what the reader does next."""
    if row.is_my_answer and row.objections:
        said = [said_against(objection, row.newest.number) for objection in row.objections]
        return "Answer with a new revision.", " ".join(f"{who} {text}" for who, text in said), "Answer"
    if row.is_my_answer:
        asked = dict.fromkeys(r.because for r in row.requirements if r.blocks and r.is_answered_by_author)
        return "Make a new revision.", " ".join(asked), "Revise"
    if row.my_teams:
        teams = listed(tuple(team_title(team).lower() for team in row.my_teams))
        return f"Sign for {teams}.", outcome_text(row), "Review"
    return "Put it into force.", f"{row.approval.because} {outcome_text(row)}", "Release"


def say_waiting(row: DecisionRow) -> Said:
    """Say on whom a decision waits."""
    if row.state in REVIEWED:
        owed = f"{release_text(row)} puts it into force." if row.releasing else owed_text(row)
        return "Approved." if row.releasing else "", f"{outcome_text(row)} {owed}".strip(), "View"
    if row.newest.plan is None:
        return "", planning_text(row), "View"
    return "", outcome_text(row), "View"


def say_expiring(row: DecisionRow) -> Said:
    """Say what ends a decision in force."""
    if row.state == "EMERGENCY":
        return "Review owed.", f"The emergency runs out unless the review is done. {owed_text(row)}".strip(), "View"
    return "", f"{outcome_text(row)} A new decision has to take over before it ends.", "View"


def say_stale(row: DecisionRow) -> Said:
    """Say why a decision no longer applies, and who mends that."""
    if row.state == "CONTESTED":
        return "", contested_text(row), "View"
    why = row.state_because or STALE_BECAUSE[row.state]
    return "", f"{why} {row.newest.author} or another author owes a new revision.", "View"


def contested_text(row: DecisionRow) -> str:
    """Quote who objects to what is in force, say whether its evidence was retracted, and what settles that."""
    objecting = (objection for objection in row.objections if objection.meaning == "object")
    said = [" ".join(said_against(objection, row.newest.number)) for objection in objecting]
    # Lifting every objection gives faulty evidence no weight again.
    ends = "it is revoked or another one takes over" if row.state_because else "that is lifted, or it is revoked"
    return " ".join(filter(None, (*said, row.state_because, f"It is contested until {ends}.")))


def say_decided(row: DecisionRow) -> Said:
    """Say what came out."""
    return "", f"{outcome_text(row)} {row.state_because}".strip(), "View"


STALE_BECAUSE = {
    "STALE": "What runs differs from what was decided, or a waiver lapsed.",
    "EXPIRED": "Its time is over; the slot runs without a decision in force.",
}
SAYING: dict[str, Callable[[DecisionRow], Said]] = {
    "mine": say_turn,
    "waiting": say_waiting,
    "expiring": say_expiring,
    "stale": say_stale,
    "decided": say_decided,
}


def release_text(row: DecisionRow) -> str:
    """Name the teams that put a decision into force."""
    return listed(tuple(team_title(team) for team in row.releasing), "or")


def breach_item(row: BreachRow, *, href: str, now: datetime) -> Item:
    """Make a line of what production breaks: the worst of it, and how much there is besides."""
    more = f" And {row.count - 1:,} more." if row.count > 1 else ""
    return Item(
        label=row.label,
        title=row.title,
        slot=row.slot,
        revision=row.revision,
        href=href,
        verb="",
        because=f"{row.text}{more}",
        word=STATE_WORDS["BREACH"],
        middle=(f"limit of {team_title(row.team).lower()}",),
        since=ago(row.since, now),
        action="Observations",
        is_turn=False,
    )


def breach_section(
    found: Breaches, query: Query, href_of: Callable[[int], str], *, is_only: bool, now: datetime
) -> Section:
    """Make the list of what production breaks; ``href_of`` gives the address of the observations of a decision.

    ``is_only``: it is shown by itself, page by page.
    """
    title, note = TITLES[BREACHES]
    items = tuple(breach_item(row, href=href_of(row.number), now=now) for row in found.rows)
    is_cut = found.total > len(items) and not is_only
    if is_cut:
        note = f"{note}. Shown are the {len(items)} that are broken longest"
    return Section(
        id=BREACHES,
        title=title,
        note=note,
        items=items,
        size=found.total,
        href=query.link(list=BREACHES, page=None) if is_only or is_cut else f"#{BREACHES}",
        more=f"Show all {found.total}" if is_cut else "",
    )


KIND_WORDS = {"emergency": Word("Emergency", "stale", "unk")}


def second_item(row: ProposalRow, *, href: str, now: datetime) -> Item:
    """Make a line of a proposal that the reader can countersign."""
    others = len(row.seconds) - 1
    return Item(
        label=row.label,
        title=f"{row.title}: {row.title_of}" if row.title_of else row.title,
        slot=row.slot,
        revision=None,
        href=href,
        verb=proposed_by(row),
        because=f"{row.asks} “{row.reason}”",
        word=KIND_WORDS.get(row.kind, Word(row.title, "turn", "plain")),
        middle=(
            f"open until {when(row.until)}, {ago(row.until, now)}",
            f"or {count(others, 'other person', 'others')}" if others else "you alone",
        ),
        since=ago(row.proposed_at, now),
        action="Countersign",
        is_turn=True,
    )


def second_section(found: Inbox, query: Query, href_of: Callable[[ProposalRow], str], *, now: datetime) -> Section:
    """Make the list of what waits for the reader's countersignature; ``href_of`` leads to where they give it."""
    title, note = TITLES[SECONDS]
    is_only = found.only == SECONDS
    is_cut = found.all_seconds > len(found.seconds) and not is_only
    return Section(
        id=SECONDS,
        title=title,
        note=note,
        items=tuple(second_item(row, href=href_of(row), now=now) for row in found.seconds),
        size=found.all_seconds,
        href=query.link(list=SECONDS, page=None) if is_only or is_cut else f"#{SECONDS}",
        more=f"Show all {found.all_seconds}" if is_cut else "",
    )


def sections(
    found: Inbox, query: Query, href_of: Callable[[DecisionRow], str], *, now: datetime
) -> tuple[Section, ...]:
    """Make the lists of a page; ``href_of`` gives the address of a decision."""
    made = []
    for part in found.lists:
        title, note = TITLES[part.name]
        items = tuple(item_of(row, name=part.name, href=href_of(row), now=now) for row in part.rows)
        is_cut = part.total > len(items) and not found.only
        made.append(
            Section(
                id=part.name,
                title=title,
                note=note.format(days=count(found.notice.days, "day")),
                items=items,
                size=part.total,
                href=query.link(list=part.name, page=None) if found.only or is_cut else f"#{part.name}",
                more=f"Show all {part.total}" if is_cut else "",
            )
        )
    return tuple(made)


def selects(choices: InboxChoices, query: Query) -> tuple[Select, ...]:
    """Make the filters of the inbox; they offer what occurs, and what an address asks for."""
    offered: tuple[tuple[str, str, tuple[str, ...], Callable[[str], str]], ...] = (
        ("team", "Waits on team", choices.teams, team_title),
        ("state", "State", choices.states, lambda state: STATES[state].text if state in STATES else state),
        ("engine", "Engine", choices.engines, str),
        ("model", "Model", choices.models, str),
    )
    made = []
    for name, label, values, text_of in offered:
        chosen = query.get(name)
        shown = values if chosen in ("", *values) else (*values, chosen)
        made.append(Select(name, label, tuple((value, text_of(value), value == chosen) for value in shown)))
    return tuple(made)


def empty_text(found: Inbox, *, is_filtered: bool) -> tuple[str, str]:
    """Return heading and text for an inbox in which nothing is to be done; empty where something is."""
    if found.of("mine").total or found.breaches.total or found.all_seconds or found.only:
        return "", ""
    if not any(part.total for part in found.lists):
        if is_filtered:
            return "Nothing fits these filters", "Change or clear them."
        return "No decision yet", "Upload a contract and the evidence of your trials to get one."
    waiting = found.of("waiting").total
    others = f"{count(waiting, 'decision')} {'waits' if waiting == 1 else 'wait'} on others." if waiting else ""
    return "Nothing needs you", f"{others} You will see one here when it is your turn.".strip()
