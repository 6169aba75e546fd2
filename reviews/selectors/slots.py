"""The portfolio: every slot of a workspace with what holds for it, filtered, counted up, a page of it in full."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from django.conf import settings

from planner.natural_order import natural
from reviews.asked_once import moment
from reviews.models import DecisionState, Person, Workspace
from reviews.selectors.observed import FindingCount, open_findings
from reviews.selectors.people import standing_of
from reviews.selectors.slot_facts import SlotFact, slots_of
from reviews.selectors.slot_reports import NOTHING_HEARD, Heard, heard_of

PAGE_SIZE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotFilter:
    """What to list: exact state of the decision that stands, owner, engine and model, and text: a decision's number,
    or part of slot, title, owner, model, engine or topology. An empty value asks for nothing.
    """

    state: str = ""
    owner: str = ""
    engine: str = ""
    model: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotRow:
    """A slot of a list, with what machines and production say of what was put into force last."""

    fact: SlotFact
    heard: Heard
    findings: FindingCount


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counts over the slots that fit a filter.

    Devices and cost are of what is in force; of these ``unpriced`` declare no price, and what ``unknown`` take is not
    known. ``standing`` no longer hold and may still run; ``soon`` end within ``notice``.
    """

    slots: int
    in_force: int
    standing: int
    devices: int
    types: Mapping[str, int]
    usd_per_hour: Fraction
    priced: int
    unpriced: int
    unknown: int
    soon: int
    notice: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotChoices:
    """What occurs in the workspace and may be filtered by."""

    states: tuple[str, ...]
    owners: tuple[str, ...]
    engines: tuple[str, ...]
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Portfolio:
    """One page of the slots that fit, in natural order of their names, and what all that fit come to."""

    rows: tuple[SlotRow, ...]
    page: int
    pages: int
    totals: Totals
    choices: SlotChoices


def portfolio(
    *, actor: Person, workspace: Workspace, wanted: SlotFilter, page: int = 1, page_size: int | None = PAGE_SIZE
) -> Portfolio:
    """Return a page of the slots that fit a filter; with no ``page_size`` all of them, with 0 none, only the counts.

    A page that does not exist is the first one.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    now = moment()
    facts = slots_of(workspace, now)
    fitting = sorted((fact for fact in facts if fits(fact, wanted)), key=lambda fact: (natural(fact.slot), fact.slot))
    size = page_size or max(1, len(fitting))
    pages = max(1, -(-len(fitting) // size))
    page = page if 1 <= page <= pages else 1
    shown = [] if page_size == 0 else fitting[(page - 1) * size : page * size]
    return Portfolio(
        rows=slot_rows(workspace, shown, now),
        page=page,
        pages=pages,
        totals=totals_of(fitting, now),
        choices=_choices(facts),
    )


def fits(fact: SlotFact, wanted: SlotFilter) -> bool:
    """Whether a filter asks for a slot."""
    decision = fact.decision
    asked = (wanted.state, wanted.owner, wanted.engine, wanted.model)
    found = (decision.state, decision.owner, decision.engine, decision.model)
    if any(one and one != other for one, other in zip(asked, found, strict=True)):
        return False
    topology = fact.held.topology if fact.held else ""
    texts = (fact.slot, decision.label, decision.title, decision.owner, decision.model, decision.engine, topology)
    return not wanted.text or any(wanted.text.strip().casefold() in text.casefold() for text in texts)


def slot_rows(workspace: Workspace, facts: Collection[SlotFact], now: datetime) -> tuple[SlotRow, ...]:
    """Return slots with what was reported and observed; four queries, none where nothing was put into force."""
    held = {fact.slot: fact.held for fact in facts if fact.held}
    heard = heard_of(workspace, held, now) if held else {}
    activated = [fact.decision.id for fact in facts if fact.held]
    findings = open_findings(workspace, activated) if activated else {}
    return tuple(
        SlotRow(
            fact=fact,
            heard=heard.get(fact.slot, NOTHING_HEARD),
            findings=findings.get(fact.decision.id, FindingCount()),
        )
        for fact in facts
    )


def totals_of(facts: Iterable[SlotFact], now: datetime) -> Totals:
    """Count slots up."""
    slots = list(facts)
    in_force = [fact for fact in slots if fact.hold == "in_force"]
    taken = [fact.held.footprint for fact in in_force if fact.held and fact.held.footprint]
    prices = [one.usd_per_hour for one in taken if one.usd_per_hour is not None]
    types: Counter[str] = Counter()
    for one in taken:
        types.update(one.types)
    notice = timedelta(days=settings.EXPIRY_NOTICE_DAYS)
    ends = [fact.decision.now.until for fact in in_force]
    return Totals(
        slots=len(slots),
        in_force=len(in_force),
        standing=sum(fact.hold == "standing" for fact in slots),
        devices=sum(one.devices for one in taken),
        types=dict(types.most_common()),
        usd_per_hour=sum(prices, Fraction(0)),
        priced=len(prices),
        unpriced=len(taken) - len(prices),
        unknown=len(in_force) - len(taken),
        soon=sum(end is not None and end <= now + notice for end in ends),
        notice=notice,
    )


def _choices(facts: Collection[SlotFact]) -> SlotChoices:
    decisions = [fact.decision for fact in facts]
    states = {decision.state for decision in decisions}
    return SlotChoices(
        states=tuple(state for state in DecisionState.values if state in states),
        owners=tuple(sorted({decision.owner for decision in decisions} - {""})),
        engines=tuple(sorted({decision.engine for decision in decisions} - {""})),
        models=tuple(sorted({decision.model for decision in decisions} - {""})),
    )
