"""The page of one slot as rows of text: what was put into force and why, what runs, where to go back to. Pure."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from planner.records.plan import Candidate, Plan
from reviews.clock import when
from reviews.policies.document import team_title
from reviews.selectors.live_identity import LiveIdentity
from reviews.selectors.rollbacks import NO_ROLLBACK
from reviews.selectors.slot_facts import DecisionFact, HeldFact, SlotFact
from reviews.selectors.slot_page import SlotPage
from reviews.web.banner_rows import CLAIM, Figure, figure_of, shown_outcomes
from reviews.web.cells import CellKey
from reviews.web.formats import ago, count, listed
from reviews.web.page_rows import STATES, Strip
from reviews.web.slot_rows import DIFFERS, MATCHES, UNREPORTED, Line, Links, because_of
from reviews.web.words import Word

NEAREST = 10
"""Candidates that were not put into force, of which the page shows every failing gate."""
MOST_DECISIONS = 50
SELECTED = Word("Selected by the plan", "pass-o", "pass")
ENDED = Word("No longer in force", "stale", "unk")
CHOSEN_OTHERWISE = {
    "emergency": Word("Put into force in an emergency", "stale", "unk"),
    "review": Word("Put into force under waivers", "stale", "unk"),
    "rollback": Word("Gone back to", "carry", "unk"),
}
"""How a trial came into force that the plan does not select, by kind of activation."""
HOW = {"differs": "differs", "missing": "was not reported", "unknown": "is not known"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What was put into force, with its exact measurements."""

    word: Word
    name: str
    trial: str
    sentence: str
    figures: tuple[Figure, ...]
    claim: str
    claim_sentence: str
    is_illustrative: bool


@dataclass(frozen=True, slots=True)
class Way:
    """A link to something of the slot, and what is found there."""

    title: str
    href: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One decision of the slot; ``ran`` says what of it was in force, and from when."""

    label: str
    href: str
    title: str
    word: Word
    since: str
    ran: str
    topology: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class KeyLine:
    """A key of the decided identity that the slot does not show."""

    key: str
    how: str
    team: str


def strips_of(found: SlotPage, now: datetime, soon: datetime) -> tuple[Strip, ...]:
    """Say what has to be known first: that nothing holds, that an emergency does, that the end is near."""
    fact = found.fact
    decision, until = fact.decision, fact.decision.now.until
    if fact.hold != "in_force":
        word = STATES[decision.state]
        text = because_of(fact, now).removeprefix("No decision holds: ").removeprefix("None was ever in force: ")
        lead = "No decision holds." if any(row.is_activated for row in fact.decisions) else "None was ever in force."
        css = "unk" if fact.hold == "standing" else "plain"
        return (Strip(lead=lead, text=f"{text} {_differing(found)}".strip(), icon=word.icon, css=css),)
    strips = []
    if decision.state == "EMERGENCY" and fact.held:
        text = f"For {fact.held.incident}. The review is owed before it runs out."
        strips.append(Strip(lead="An emergency is in force.", text=text, icon="stale", css="unk"))
    if until is not None and until <= soon:
        text = f"Valid until {when(until)} UTC, {ago(until, now)}. Then the slot runs without a decision in force."
        strips.append(Strip(lead="It ends soon.", text=text, icon="stale", css="unk"))
    return tuple(strips)


def _differing(found: SlotPage) -> str:
    """Name the first key that a report did not show as decided, and who owns it."""
    lines = key_lines(found)
    if not lines:
        return ""
    more = f", and {len(lines) - 1} more" if len(lines) > 1 else ""
    return f"{lines[0].key} {lines[0].how} ({lines[0].team}){more}."


def chosen_of(plan: Plan, held: HeldFact, decision_href: str, *, is_in_force: bool) -> Chosen:
    """Say what was put into force, with the figures of its trial."""
    candidate = plan.candidates[held.trial]
    is_selected = plan.selected is not None and plan.selected.trial == held.trial
    chosen = SELECTED if is_selected else CHOSEN_OTHERWISE[held.kind]
    query = {"revision": held.revision}
    figures = tuple(
        figure_of(gate, limit, outcome, f"{decision_href}?{_cell(query, held.trial, gate, limit)}#cell")
        for gate, limit, outcome in shown_outcomes(candidate)
    )
    return Chosen(
        word=chosen if is_in_force else ENDED,
        name=candidate.topology,
        trial=held.trial,
        sentence=_sentence(plan, candidate),
        figures=figures,
        claim=plan.claim,
        claim_sentence=CLAIM,
        is_illustrative=plan.illustrative,
    )


def _cell(query: dict[str, int], trial: str, gate: str, limit: str) -> str:
    return urlencode({**query, "cell": str(CellKey(trial=trial, gate=gate, limit=limit))}, safe="~")


def _sentence(plan: Plan, candidate: Candidate) -> str:
    others = len(plan.candidates) - 1
    beside = f"beside {count(others, 'other candidate')}" if others else "the only candidate that was measured"
    blocked = (*candidate.failing, *candidate.unknown)
    said = f" It does not pass {listed(blocked)}." if blocked else ""
    return f"{count(candidate.ranks, 'rank')} on {count(candidate.nodes, 'node')}, {beside}.{said}"


def rollback_of(found: SlotPage, link: Links, map_href: str) -> Way:
    """Say what to go back to when what was decided turns out wrong."""
    held, plan = found.fact.held, found.plan
    if held is None or plan is None or held.rollback in ("", NO_ROLLBACK):
        return Way("Nothing to go back to", "", "None was named when this was put into force.")
    target = next((row for row in found.fact.decisions if row.label == held.rollback), None)
    if target is not None:
        before = target.held.topology if target.held else target.title
        return Way(f"{target.label}, {before}", link("decision-detail", target.number), "Was in force here before.")
    if held.rollback in plan.candidates:
        name = f"{plan.candidates[held.rollback].topology} ({held.rollback})"
        return Way(name, f"{map_href}&{urlencode({'trial': held.rollback})}", "Eligible in the same plan.")
    return Way(held.rollback, "", "")


def past_of(fact: SlotFact, link: Links, now: datetime) -> tuple[Past, ...]:
    """List the decisions of a slot, newest first."""
    return tuple(
        Past(
            label=row.label,
            href=link("decision-detail", row.number),
            title=row.title,
            word=STATES[row.state],
            since=f"since {when(row.now.since)} UTC, {ago(row.now.since, now)}",
            ran=_ran(row),
            topology=row.held.topology if row.held else "",
            is_shown=row is fact.decision and fact.held is not None,
        )
        for row in fact.decisions[:MOST_DECISIONS]
    )


def _ran(row: DecisionFact) -> str:
    if row.held is None:
        return "never"
    how = {"emergency": " in an emergency", "rollback": " by going back"}.get(row.held.kind, "")
    return f"from {when(row.held.activated_at)} UTC{how}"


def key_lines(found: SlotPage) -> tuple[KeyLine, ...]:
    """List the keys that the last report of a host did not show as decided."""
    return tuple(KeyLine(one.key, HOW[one.how], team_title(one.team)) for one in found.row.heard.differences)


def runs_of(live: LiveIdentity, now: datetime) -> Line:
    """Say whether what runs is what was decided, from all that hosts report."""
    at = f"last report {ago(live.last_report, now)}" if live.last_report else "since it is in force"
    if live.differences or live.flapping:
        return Line(DIFFERS, at)
    return Line(MATCHES if live.agrees else UNREPORTED, at)
