"""One cell of the matrix: what one limit of one gate says about one candidate, as text and as an opened row."""

from dataclasses import dataclass

from planner.records.plan import Candidate, GateOutcome, LimitOutcome, Outcome
from reviews.web.bars import Bar, bar_of
from reviews.web.document_links import DocumentLinks
from reviews.web.formats import limit_text, percent, quantity
from reviews.web.words import OUTCOMES, Word

ALWAYS = "always"
"""Limit id of a gate that is always on and has no limit in the contract."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellKey:
    """Which cell; written ``trial~gate~limit`` in addresses."""

    trial: str
    gate: str
    limit: str

    def __str__(self) -> str:
        return f"{self.trial}~{self.gate}~{self.limit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell as the matrix shows it; ``x`` and ``y`` are its place for the arrow keys."""

    key: str
    href: str
    word: Word
    text: str
    margin: str
    bar: Bar | None
    label: str
    is_open: bool
    x: int
    y: int

    @property
    def short(self) -> str:
        """The label without the gate, which the column's heading names."""
        return self.word.text if self.text == self.word.text else f"{self.word.text}, {self.text}"


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and a value; a pointer has the address ``href`` at which its document shows it."""

    name: str
    value: str
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """An opened cell: the whole outcome; ``key`` names it in addresses."""

    key: str
    trial: str
    gate: str
    gate_title: str
    limit: str
    name: str
    word: Word
    would: str
    sentence: str
    because: str
    facts: tuple[Fact, ...]
    missing: tuple[Fact, ...]
    notes: tuple[str, ...]
    close_href: str
    map_href: str


def outcome_text(outcome: LimitOutcome) -> tuple[str, str]:
    """Return the text and the margin of a cell. Missing is named, never written as a number."""
    if outcome.outcome == "NOT_APPLICABLE":
        return "not applicable", ""
    if outcome.outcome == "UNKNOWN":
        would = {"PASS": "would pass", "FAIL": "would fail"}.get(outcome.would or "", "")
        if outcome.measured is None:
            return ("missing" if outcome.missing else "not known"), would
        return quantity(outcome.measured, outcome.unit), would
    text = OUTCOMES[outcome.outcome].text if outcome.measured is None else quantity(outcome.measured, outcome.unit)
    return text, percent(outcome.margin_share)


def cell_of(
    key: CellKey, outcome: LimitOutcome, *, href: str, is_open: bool, x: int, y: int, is_waived: bool = False
) -> Cell:
    """Make a cell of an outcome; a waiver stands beside it and changes neither word nor colour."""
    text, margin = outcome_text(outcome)
    word = OUTCOMES[outcome.outcome]
    waived = ", waived" if is_waived else ""
    spoken = f"{key.gate}{'' if key.limit == ALWAYS else ' ' + key.limit}: {word.text}{waived}"
    return Cell(
        key=str(key),
        href=href,
        word=word,
        text=text,
        margin="waived" if is_waived else margin,
        bar=bar_of(outcome.outcome, outcome.margin_share),
        label=spoken if text == word.text else f"{spoken}, {text}",
        is_open=is_open,
        x=x,
        y=y,
    )


def not_applicable(outcome: Outcome = "NOT_APPLICABLE") -> LimitOutcome:
    """Stand in for a limit that a candidate's plan does not list, so that a row has a cell for every candidate."""
    return LimitOutcome(outcome=outcome, sentence="This candidate has no outcome for this limit.")


def limit_outcome(gate: GateOutcome | None, limit: str) -> LimitOutcome:
    """Return the outcome of a limit; a gate that lists none stands for itself."""
    if gate is None:
        return not_applicable("NOT_DECLARED")
    return gate.limits.get(limit) or not_applicable(gate.outcome)


def margin_text(outcome: LimitOutcome) -> str:
    """Write a margin in its unit and as a share of the limit."""
    if outcome.margin is None:
        return ""
    share = percent(outcome.margin_share)
    text = quantity(outcome.margin, outcome.unit)
    signed = text if text.startswith(("−", "0")) else f"+{text}"
    return f"{signed} ({share})" if share else signed


def facts_of(outcome: LimitOutcome, documents: DocumentLinks) -> tuple[Fact, ...]:
    """List what an opened cell shows beside its sentence; what is absent is left out."""
    worst = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in outcome.worst.items())
    rows = [
        Fact("Measured", quantity(outcome.measured, outcome.unit) if outcome.measured is not None else ""),
        Fact("Limit", limit_text(outcome.comparator, outcome.limit, outcome.unit)),
        Fact("Margin", margin_text(outcome)),
        Fact("Worst", worst),
        *(Fact("Value at", pointer, documents.to(pointer)) for pointer in outcome.measured_at),
        Fact("Limit at", outcome.limit_at or "", documents.to(outcome.limit_at or "")),
    ]
    return tuple(row for row in rows if row.value)


def detail_of(
    key: CellKey,
    candidate: Candidate,
    *,
    name: str,
    title: str,
    close_href: str,
    map_href: str,
    documents: DocumentLinks,
    waiver: str = "",
) -> Detail | None:
    """Open a cell; None when the plan has no such gate or limit."""
    gate = candidate.gates.get(key.gate)
    if gate is None or key.limit not in gate.limits:
        return None
    outcome = gate.limits[key.limit]
    return Detail(
        key=str(key),
        trial=key.trial,
        gate=key.gate,
        gate_title=title,
        limit="" if key.limit == ALWAYS else key.limit,
        name=name,
        word=OUTCOMES[outcome.outcome],
        would={"PASS": "It would pass.", "FAIL": "It would fail."}.get(outcome.would or "", ""),
        sentence=outcome.sentence,
        because=outcome.because or "",
        facts=facts_of(outcome, documents),
        missing=tuple(Fact("Missing", pointer, documents.to(pointer)) for pointer in outcome.missing),
        notes=(*((waiver,) if waiver else ()), *outcome.notes),
        close_href=close_href,
        map_href=map_href,
    )
