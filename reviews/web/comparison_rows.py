"""Two candidates side by side as rows: values with gain or loss, outcomes, trials, fields with their owners. Pure.

Rules kept: what differs comes first, what is the same is counted and folded; where figures may not be compared no
change, no gain and no loss is written, and every such row says why.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from planner.candidate_diff import CandidateDiff, Effect, Mismatch, OutcomeChange, TrialChange, ValueChange
from planner.document_diff import ABSENT, FieldChange
from planner.records.plan import LimitOutcome, Plan
from planner.shown import shown
from reviews.clock import when_exactly
from reviews.policies.document import PolicyDocument
from reviews.policies.owners import limit_owner
from reviews.selectors.comparison import ComparedSide, ComparisonView
from reviews.web.cells import ALWAYS
from reviews.web.contract_builder_diff import ChangeRow, change_rows
from reviews.web.formats import KEY_UNITS, count, key_title, limit_text, listed, moment, percent, quantity
from reviews.web.map_compare import Row
from reviews.web.words import DECISIONS, OUTCOMES, Word, state_word

__all__ = [
    "FieldGroup",
    "MismatchRow",
    "OutcomeRow",
    "TrialRow",
    "ValueRow",
    "caution_text",
    "facts",
    "field_groups",
    "mismatch_rows",
    "outcome_rows",
    "refusal_text",
    "trial_rows",
    "value_rows",
]

EFFECTS: dict[Effect, Word] = {
    "GAIN": Word("Gain", "gain", "plain"),
    "LOSS": Word("Loss", "loss", "plain"),
    "SAME": Word("Same", "na", "na"),
    "CHANGED": Word("Changed", "nd", "plain"),
    "NOT_COMPARED": Word("Not compared", "unk", "unk"),
}
NO_LIMIT = Word("No such limit", "nd", "nd")
NOT_MEASURED = Word("Not measured", "nd", "nd")
MOST_GATES = 3
"""Gates that a trial's row names."""
MOST_MISMATCHES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRow:
    """One value on both sides; ``limit`` is what holds it, with both where they differ."""

    name: str
    limit_id: str
    better: str
    before: str
    after: str
    limit: str
    change: str
    word: Word
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """A limit with another outcome, and what was said on either side."""

    gate: str
    limit_id: str
    owner: str
    before: Word
    after: Word
    said_before: str
    said_after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRow:
    """A trial that both revisions, or one of them, hold."""

    trial: str
    topology: str
    before: Word
    after: Word
    gates: str
    evidence: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MismatchRow:
    """A leaf that forbids comparing figures."""

    pointer: str
    of: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldGroup:
    """Fields that differ in one section of one document."""

    document: str
    section: str
    rows: tuple[ChangeRow, ...]


def value_rows(diff: CandidateDiff) -> tuple[tuple[ValueRow, ...], tuple[ValueRow, ...]]:
    """Return the values that differ and those that are the same."""
    made = [(row.differs, _value_row(row)) for row in diff.values]
    return tuple(row for differs, row in made if differs), tuple(row for differs, row in made if not differs)


def _value_row(row: ValueChange) -> ValueRow:
    unit = row.unit if row.limit_id else KEY_UNITS.get(row.name.partition("@")[0])
    limits = [limit_text(row.comparator, value, unit) for value in (row.limit_before, row.limit_after)]
    return ValueRow(
        name=row.name if row.limit_id else _key_name(row.name),
        limit_id="" if row.limit_id in (None, ALWAYS) else row.limit_id or "",
        better=f"{row.better} is better" if row.better else "",
        before=quantity(row.before, unit),
        after=quantity(row.after, unit),
        limit=limits[1] if limits[0] == limits[1] else f"{limits[0] or 'none'} → {limits[1] or 'none'}",
        change=percent(row.change) if row.change is not None else "from 0" if row.effect in ("GAIN", "LOSS") else "",
        word=EFFECTS[row.effect],
        reason=row.reason,
    )


def _key_name(label: str) -> str:
    key, _, load_point = label.partition("@")
    return f"{key_title(key)} at {load_point}" if load_point else key_title(key)


def outcome_rows(diff: CandidateDiff, policy: PolicyDocument) -> tuple[OutcomeRow, ...]:
    """Return every limit with another outcome."""
    return tuple(_outcome_row(row, policy) for row in diff.outcomes)


def _outcome_row(row: OutcomeChange, policy: PolicyDocument) -> OutcomeRow:
    return OutcomeRow(
        gate=row.gate,
        limit_id="" if row.limit_id == ALWAYS else row.limit_id,
        owner=policy.teams[limit_owner(policy, row.gate)].title,
        before=_outcome_word(row.before),
        after=_outcome_word(row.after),
        said_before=row.before.sentence if row.before else "",
        said_after=row.after.sentence if row.after else "",
    )


def _outcome_word(found: LimitOutcome | None) -> Word:
    return OUTCOMES[found.outcome] if found else NO_LIMIT


def trial_rows(changes: Sequence[TrialChange], href: Callable[[TrialChange], str]) -> tuple[TrialRow, ...]:
    """Return trials that came, went, were measured anew or are judged otherwise."""
    return tuple(_trial_row(change, href(change)) for change in changes)


def _trial_row(change: TrialChange, href: str) -> TrialRow:
    names = [side.topology for side in (change.before, change.after) if side]
    gates = [
        f"{gate} {OUTCOMES[old].text if old else '–'} → {OUTCOMES[new].text if new else '–'}"
        for gate, old, new in change.gates[:MOST_GATES]
    ]
    more = len(change.gates) - len(gates)
    is_in_both = bool(change.before and change.after)
    return TrialRow(
        trial=change.trial,
        topology=" → ".join(dict.fromkeys(names)),
        before=state_word(change.before.state) if change.before else NOT_MEASURED,
        after=state_word(change.after.state) if change.after else NOT_MEASURED,
        gates="; ".join([*gates, *([f"{count(more, 'more gate')}"] if more else [])]),
        evidence="other evidence" if is_in_both and change.is_measured_anew else "",
        href=href if is_in_both else "",
    )


def mismatch_rows(found: Sequence[Mismatch]) -> tuple[MismatchRow, ...]:
    """Return the first leaves that forbid comparing figures."""
    return tuple(
        MismatchRow(
            pointer=row.pointer,
            of="contract" if row.of == "contract" else "what ran",
            before=_field(row.before),
            after=_field(row.after),
        )
        for row in found[:MOST_MISMATCHES]
    )


def _field(value: object) -> str:
    return "–" if value is ABSENT else shown(value)


def refusal_text(diff: CandidateDiff) -> str:
    """Say what differs so that figures may not be compared; empty where nothing does."""
    if not diff.differing:
        return ""
    return (
        f"{listed(diff.differing).capitalize()} {'differs' if len(diff.differing) == 1 else 'differ'} between the "
        "sides, so no change, gain or loss is given. Outcomes and fields are."
    )


def caution_text(view: ComparisonView) -> str:
    """Say what must be known when figures are read; empty where there is nothing."""
    found = dict.fromkeys(row.section for row in view.diff.cautions) if view.diff else {}
    words = ["prices or charging" if section == "fleet" else section for section in found]
    if view.before.row.planner_version != view.after.row.planner_version:
        words.append("planner version")
    if not words:
        return ""
    return f"{listed(words).capitalize()} {'differs' if len(words) == 1 else 'differ'} as well."


def facts(view: ComparisonView) -> tuple[Row, ...]:
    """Lay what both sides are beside one another; what is equal comes last."""
    pairs = list(zip(_said(view.before), _said(view.after), strict=True))
    rows = [Row(name=old[0], before=old[1], after=new[1], differs=old[1] != new[1]) for old, new in pairs]
    return tuple(sorted((row for row in rows if row.before or row.after), key=lambda row: not row.differs))


def _said(side: ComparedSide) -> Iterator[tuple[str, str]]:
    yield "Slot", side.slot
    yield "As of", f"{when_exactly(moment(side.row.as_of))} UTC"
    yield "Planner", side.row.planner_version
    yield "Policy", f"version {side.row.policy_version}"
    yield "Decision", DECISIONS[side.plan.decision].text if side.plan else "not planned"
    yield "Selected", _selected(side.plan)
    found = side.plan.candidates.get(side.trial) if side.plan else None
    yield "Candidate", found.topology if found else ""
    yield "State", state_word(found.state).text if found else ""
    yield "Ranks", f"{found.ranks:,} on {count(found.nodes, 'node')}" if found else ""
    yield "Charged devices", f"{found.charged_devices:,}" if found else ""


def _selected(plan: Plan | None) -> str:
    if plan is None or plan.selected is None:
        return "none"
    return f"{plan.selected.topology} ({plan.selected.trial})"


def field_groups(fields: Iterable[tuple[str, FieldChange]], policy: PolicyDocument) -> tuple[FieldGroup, ...]:
    """Return every field that differs, by document and section; what came or went as a whole is one row."""
    groups = groupby(fields, key=lambda pair: (pair[0], pair[1].section))
    return tuple(
        FieldGroup(document=document, section=section, rows=change_rows([change for _, change in found], policy))
        for (document, section), found in groups
    )
