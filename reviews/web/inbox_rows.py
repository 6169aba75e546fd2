"""Decisions as an inbox: what to do, because of what, who owes what, since when. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from reviews.selectors.inbox import OPEN, InboxChoices
from reviews.selectors.rows import DecisionRow
from reviews.web.formats import ago, count, listed
from reviews.web.links import Query
from reviews.web.page_rows import STATES, said_against, state_word, team_title
from reviews.web.words import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One decision."""

    label: str
    title: str
    slot: str
    revision: int
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
    """One list of the inbox; ``size`` counts what other pages hold as well, None where that is not known."""

    id: str
    title: str
    note: str
    items: tuple[Item, ...]
    size: int | None


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


def item_of(row: DecisionRow, *, href: str, now: datetime) -> Item:
    """Make a line of the inbox."""
    is_turn = bool(row.my_teams) or row.is_my_answer
    in_review = row.state == "IN_REVIEW"
    if row.is_my_answer:
        said = [said_against(objection, row.newest.number) for objection in row.objections]
        verb, because = "Answer with a new revision.", " ".join(f"{who} {text}" for who, text in said)
    elif is_turn:
        teams = listed(tuple(team_title(team).lower() for team in row.my_teams))
        verb, because = f"Sign for {teams}.", outcome_text(row)
    elif in_review:
        verb = "" if not row.approval.approved else "Approved."
        because = f"{outcome_text(row)} {owed_text(row)}".strip()
    elif row.newest.plan is None:
        verb, because = "", planning_text(row)
    else:
        verb, because = "", outcome_text(row)
    middle = [f"{row.satisfied} of {count(len(row.requirements), 'requirement')}"] if in_review else []
    if row.state == "EVALUATING":
        middle.append("the worker is at it")
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
        since=ago(row.state_since, now),
        action="Answer" if row.is_my_answer else "Review" if is_turn else "View",
        is_turn=is_turn,
    )


def sections(
    rows: Iterable[tuple[DecisionRow, str]], *, now: datetime, turns: int, is_all: bool
) -> tuple[Section, ...]:
    """Sort decisions, given with their address, into my turn, waiting, and settled.

    ``turns`` counts the reader's turns over all pages; ``is_all`` says that there is no other page.
    """
    mine: list[Item] = []
    waiting: list[Item] = []
    settled: list[Item] = []
    for row, href in rows:
        item = item_of(row, href=href, now=now)
        is_open = row.state in OPEN and not row.approval.approved
        (mine if item.is_turn else waiting if is_open else settled).append(item)
    return (
        Section("mine", "My turn", "Something only you or your team can do next", tuple(mine), turns),
        Section("waiting", "Waiting on others", "You owe nothing here", *sized(waiting, is_all)),
        Section("settled", "Settled", "Approved, effective, closed or withdrawn", *sized(settled, is_all)),
    )


def sized(items: list[Item], is_all: bool) -> tuple[tuple[Item, ...], int | None]:
    """Return items with their number, where it is known."""
    return tuple(items), len(items) if is_all else None


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


def empty_text(found: tuple[Section, ...], *, is_filtered: bool) -> tuple[str, str]:
    """Return heading and text for an inbox in which nothing is to be done; empty where something is."""
    mine, waiting, settled = (len(section.items) for section in found)
    if mine:
        return "", ""
    if not waiting and not settled:
        if is_filtered:
            return "Nothing fits these filters", "Change or clear them."
        return "No decision yet", "Upload a contract and the evidence of your trials to get one."
    others = f"{count(waiting, 'decision')} {'waits' if waiting == 1 else 'wait'} on others." if waiting else ""
    return "Nothing needs you", f"{others} You will see one here when it is your turn.".strip()
