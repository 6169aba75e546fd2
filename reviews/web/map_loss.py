"""What a failure takes down and what is left, in words: one that is asked about, and the worst of every kind. Pure.

Rules kept: figures are those of ``planner.failure_report``; what is arithmetic says so, what an injection measured
names it, and what is not known is said with what is missing.
"""

from dataclasses import dataclass

from planner.failure import Range
from planner.failure_report import CapacityLeft, DomainLoss, Horizon, domain_loss, failure_kinds, worst_of
from planner.records.plan import Candidate
from planner.view import TrialView
from reviews.web.formats import count, number, percent
from reviews.web.links import Query
from reviews.web.rank_facts import Lost, RankFacts

ARITHMETIC = "arithmetic on measured rates, not a measurement"
HORIZONS: tuple[tuple[Horizon, str], ...] = (("immediate", "Left at once"), ("after_recovery", "Left after recovery"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure with what it is relative to."""

    name: str
    value: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LossFacts:
    """What a failure takes down. ``judged`` are the sentences of limits on this kind of domain."""

    lead: str
    figures: tuple[Figure, ...]
    judged: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRow:
    """The worst domain of a kind."""

    kind: str
    domain: str
    href: str
    groups: str
    ranks: str
    at_once: str
    after: str
    note: str
    after_note: str


def loss_facts(facts: RankFacts, lost: Lost, view: TrialView, candidate: Candidate | None) -> LossFacts:
    """Say what a failure takes down and what it leaves."""
    kind = lost.kind.replace("_", " ").capitalize()
    ranks, down, groups = len(lost.ranks), len(lost.down), len(facts.serving)
    found = domain_loss(view, lost.kind, lost.id) if facts.is_placed else None
    figures = [
        Figure(
            name="Ranks down",
            value=f"{ranks + down:,} of {len(facts.places):,}",
            note=f"{ranks:,} lost, {down:,} down with their serving group",
        ),
        Figure(
            name="Serving groups lost",
            value=f"{len(lost.groups):,} of {groups:,}" if groups else "not known",
            note=f"{groups - len(lost.groups):,} left" if groups else facts.refusal,
        ),
    ]
    figures += [left_figure(name, found.at_full_load(horizon) if found else None) for horizon, name in HORIZONS]
    return LossFacts(
        lead=f"{lost.id if lost.id.startswith(lost.kind) else f'{kind} {lost.id}'} lost.",
        figures=tuple(figures),
        judged=tuple(f"Worst of its kind: {sentence}" for sentence in judged(view, lost.kind, candidate)),
    )


def judged(view: TrialView, kind: str, candidate: Candidate | None) -> list[str]:
    """Return what the gate says of this kind of domain."""
    declared = view.limits.get("failure_domain", {})
    gate = candidate.gates.get("failure_domain") if candidate else None
    return [
        outcome.sentence
        for limit_id, outcome in (gate.limits.items() if gate else ())
        if limit_id in declared and declared[limit_id].domain == kind
    ]


def left_figure(name: str, left: CapacityLeft | None, *, in_full: bool = True) -> Figure:
    """Write what is left at one horizon; ``in_full`` says of arithmetic that it is."""
    if left is None:
        return Figure(name=name, value="not known", note="no counted window says what was served")
    if left.rate is None:
        return Figure(name=name, value="not known", note=" ".join(left.notes) or missing_text(left))
    parts = [f"{share} of what was served" for share in [whole_share(left)] if share]
    parts += (
        [f"{range_text(left.share_of_required, 'share')} of the required load after the replica reserve"]
        if left.share_of_required
        else []
    )
    parts.append(f"at {left.load_point}")
    parts += [f"measured with injection {left.injection}"] if left.injection else [ARITHMETIC] * in_full
    return Figure(name=name, value=range_text(left.rate, "tok/s", " tok/s"), note=", ".join(parts))


def missing_text(left: CapacityLeft) -> str:
    """Name what is missing."""
    return f"missing: {', '.join(left.missing[:2])}" if left.missing else "not recorded"


def whole_share(left: CapacityLeft) -> str:
    """Write what is left as a share of what was served; empty where one of both is not known."""
    if not left.whole or left.rate is None or left.rate.low != left.rate.high:
        return ""
    return percent(float(left.rate.low / left.whole), signed=False)


def range_text(found: Range, unit: str, suffix: str = "") -> str:
    """Write a quantity, or both its bounds."""
    low, high = number(found.low, unit), number(found.high, unit)
    return f"{low}{suffix}" if low == high else f"{low} to {high}{suffix}"


def failure_rows(facts: RankFacts, view: TrialView, query: Query) -> tuple[FailureRow, ...]:
    """Make a row for the worst domain of every kind that may be lost."""
    if not facts.is_placed:
        return ()
    found = [worst_of(view, kind) for kind in failure_kinds(view)]
    return tuple(failure_row(facts, worst, query) for worst in found if worst is not None)


def failure_row(facts: RankFacts, worst: DomainLoss, query: Query) -> FailureRow:
    """Write the worst domain of a kind."""
    figures = [left_figure(name, worst.at_full_load(horizon), in_full=False) for horizon, name in HORIZONS]
    return FailureRow(
        kind=worst.kind.replace("_", " ").capitalize(),
        domain=worst.loss.domain,
        href=query.link("map", lost=f"{worst.kind}:{worst.loss.domain}"),
        groups=f"{len(worst.loss.groups):,} of {len(facts.serving):,}",
        ranks=count(worst.loss.ranks, "rank"),
        at_once=figures[0].value,
        after=figures[1].value,
        note=figures[0].note,
        after_note=figures[1].note if figures[1].note != figures[0].note else "",
    )
