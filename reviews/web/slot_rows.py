"""Slots as rows of text: what holds, for whom, on what, at what price, until when, and what runs. Pure.

Rules kept: what the contract does not price is "not declared", what nobody reported is unknown, and neither is shown as
zero; a month has 730 hours.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from planner.footprint import HOURS_A_MONTH, Footprint
from planner.numbers import rounded
from reviews.clock import when
from reviews.selectors.observed import FindingCount
from reviews.selectors.slot_facts import DecisionFact, SlotFact
from reviews.selectors.slot_reports import Heard
from reviews.selectors.slots import SlotChoices, SlotRow, Totals
from reviews.web.formats import ago, count, grouped, listed, number
from reviews.web.inbox_rows import Select
from reviews.web.links import Query
from reviews.web.page_rows import STATES
from reviews.web.words import Word

MATCHES = Word("Matches", "pass", "pass")
AGREES = Word("Nothing differs", "pass-o", "pass")
DIFFERS = Word("Differs", "fail", "fail")
SILENT = Word("Silent", "unk", "unk")
UNREPORTED = Word("Not reported", "unk", "unk")
WITHIN = Word("As qualified", "pass", "pass")
BREACH = Word("Breach", "fail", "fail")
DRIFT = Word("Drift", "unk", "unk")
UNOBSERVED = Word("Not observed", "unk", "unk")
ENDS_SOON = Word("Ends soon", "stale", "unk")
NOT_DECLARED = "not declared"
NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Line:
    """A verdict, or none, with what is said beside it."""

    word: Word | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a decision takes: devices by type, what of them does not run ranks, price by the hour and the month."""

    devices: str = ""
    unit: str = ""
    types: str = ""
    beside: str = ""
    hourly: str = ""
    monthly: str = ""
    unpriced: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotLine:
    """One slot of the list. ``because`` says why nothing holds; ``others`` are (text, link) of its other decisions."""

    slot: str
    href: str
    about: str
    owner: str
    word: Word
    label: str
    decision_href: str
    topology: str
    because: str
    others: tuple[tuple[str, str], ...]
    taken: Taken
    until: str
    until_ago: str
    ends: Word | None
    identity: Line
    production: Line


@dataclass(frozen=True, slots=True)
class Sum:
    """A figure above the list, with what it leaves out."""

    name: str
    value: str
    unit: str
    note: str


Links = Callable[[str, int], str]
"""Name of a page of a decision and the decision's number -> its address."""


def slot_line(row: SlotRow, *, href: str, link: Links, now: datetime, soon: datetime) -> SlotLine:
    """Make a row of the list; what ends before ``soon`` is marked."""
    fact, decision = row.fact, row.fact.decision
    until = decision.now.until
    return SlotLine(
        slot=fact.slot,
        href=href,
        about=" · ".join(part for part in (decision.model, decision.engine) if part),
        owner=decision.owner,
        word=STATES[decision.state],
        label=decision.label,
        decision_href=link("decision-detail", decision.number),
        topology=fact.held.topology if fact.held else "",
        because=because_of(fact, now),
        others=tuple(other_line(other, link) for other in fact.others),
        taken=taken_of(fact.held.footprint) if fact.held else Taken(),
        until=when(until) if until else "",
        until_ago=ago(until, now) if until else "",
        ends=ENDS_SOON if until and until <= soon else None,
        identity=identity_line(row.heard, now) if fact.held else Line(None, ""),
        production=production_line(row.findings, now) if fact.held else Line(None, ""),
    )


def other_line(other: DecisionFact, link: Links) -> tuple[str, str]:
    """Name another decision of a slot that has not ended."""
    return f"{other.label} {STATES[other.state].text.lower()}", link("decision-detail", other.number)


def because_of(fact: SlotFact, now: datetime) -> str:
    """Say why no decision holds for a slot, and whether something may run all the same; empty where one holds."""
    decision, state = fact.decision, STATES[fact.decision.state].text.lower()
    if fact.hold == "in_force":
        return ""
    since = f"{state} since {when(decision.now.since)} UTC ({ago(decision.now.since, now)})"
    if fact.hold == "standing":
        said = f"No decision holds: {decision.label} is {since}. {decision.now.because}".strip()
        return f"{said} It may still run."
    if any(row.is_activated for row in fact.decisions):
        return f"No decision holds: {decision.label} is {since}. {decision.now.because}".strip()
    return f"None was ever in force: {decision.label} is {since}."


def taken_of(footprint: Footprint | None) -> Taken:
    """Write what a decision takes."""
    if footprint is None:
        return Taken(devices=NOT_KNOWN, hourly=NOT_KNOWN, unpriced="The stored bytes could not be read.")
    parts = [(footprint.spares, "spare"), (footprint.stranded, "stranded")]
    beside = [f"{many:,} {name}" for many, name in parts if many]
    hourly, monthly = footprint.usd_per_hour, footprint.usd_per_month
    return Taken(
        devices=f"{footprint.devices:,}",
        unit="device" if footprint.devices == 1 else "devices",
        types=types_text(footprint.types, with_counts=len(footprint.types) > 1),
        beside=f"{footprint.used:,} with ranks, {listed(beside)}" if beside else "",
        hourly=_money(hourly, "USD/h") if hourly is not None else NOT_DECLARED,
        monthly=f"{_money(monthly, 'USD')} a month" if monthly is not None else "",
        unpriced=footprint.unpriced,
    )


def types_text(types: Mapping[str, int], *, with_counts: bool = True) -> str:
    """Name device types, with how many of each."""
    return ", ".join(f"{many:,} {name}" if with_counts else name for name, many in types.items())


def identity_line(heard: Heard, now: datetime) -> Line:
    """Say whether what runs is what was decided, as it was reported last; hosts that agree may not be all."""
    if heard.differences:
        keys = count(len(heard.differences), "key")
        return Line(DIFFERS, f"{keys}, {ago(heard.at, now)}" if heard.at else keys)
    if heard.at is None:
        return Line(UNREPORTED, "since it is in force")
    who = [count(heard.hosts, "host")] * bool(heard.hosts)
    said = ", ".join([*who, ago(heard.at, now)])
    if not heard.is_fresh:
        return Line(SILENT, f"last {said}")
    return Line(MATCHES if heard.is_whole else AGREES, said)


def production_line(findings: FindingCount, now: datetime) -> Line:
    """Say whether production behaves as qualified."""
    if findings.last_batch_at is None:
        return Line(UNOBSERVED, "")
    at = ago(findings.last_batch_at, now)
    counts = [(findings.breaches, "breach", "breaches"), (findings.drifts, "drift", "drifts")]
    said = [count(found, one, many) for found, one, many in counts if found]
    word = BREACH if findings.breaches else DRIFT if findings.drifts else WITHIN
    return Line(word, ", ".join([*said, at]))


def sums(totals: Totals) -> tuple[Sum, ...]:
    """Make the figures above the list."""
    taking = totals.in_force - totals.unknown
    left_out = [f"{count(totals.unpriced, 'slot')} {NOT_DECLARED}"] * bool(totals.unpriced)
    unknown = [f"{count(totals.unknown, 'slot')} {NOT_KNOWN}"] * bool(totals.unknown)
    monthly = f"{_money(totals.usd_per_hour * HOURS_A_MONTH, 'USD')} a month of {HOURS_A_MONTH} h"
    return (
        Sum(
            "In force",
            f"{totals.in_force:,}",
            f"of {count(totals.slots, 'slot')}",
            f"{totals.standing:,} more may still run" if totals.standing else "",
        ),
        Sum(
            "Devices charged",
            f"{totals.devices:,}" if taking else NOT_KNOWN if unknown else "0",
            "",
            ", ".join([types_text(totals.types), *unknown] if totals.types else unknown),
        ),
        Sum(
            "Cost",
            number(totals.usd_per_hour, "USD/h")
            if totals.priced
            else NOT_DECLARED
            if totals.in_force
            else "nothing in force",
            "USD/h" if totals.priced else "",
            ", ".join([monthly, *left_out, *unknown] if totals.priced else []),
        ),
        Sum("Ends soon", f"{totals.soon:,}", "", f"within {count(totals.notice.days, 'day')}"),
    )


def selects(choices: SlotChoices, query: Query) -> tuple[Select, ...]:
    """Make the filters; they offer what occurs, and what an address asks for."""
    offered: tuple[tuple[str, str, tuple[str, ...]], ...] = (
        ("state", "State", choices.states),
        ("owner", "Owner", choices.owners),
        ("engine", "Engine", choices.engines),
        ("model", "Model", choices.models),
    )
    made = []
    for name, label, values in offered:
        chosen = query.get(name)
        shown = values if chosen in ("", *values) else (*values, chosen)
        options = tuple((value, _choice_text(name, value), value == chosen) for value in shown)
        made.append(Select(name, label, options))
    return tuple(made)


def _choice_text(name: str, value: str) -> str:
    return STATES[value].text if name == "state" and value in STATES else value


def _money(value: Fraction, unit: str) -> str:
    """Write money; whole dollars from a thousand on, where nobody reads cents."""
    if value >= 1000:
        return f"{grouped(rounded(value, 0))} {unit}"
    return f"{number(value, unit)} {unit}"
