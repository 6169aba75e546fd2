"""Verdicts that were reached at a glance: figures stand in columns, and are written where one is asked for."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from planner.alike.columns import Pair, Ratios
from planner.alike.limits import Answers
from planner.alike.values import point_of
from planner.evaluate import Verdict
from planner.gates.base import Finding, Quantity
from planner.gates.base import Verdict as Outcome
from planner.numbers import plain_ratio
from planner.records.evidence import Trial
from planner.records.plan import Candidate, FrontierPoint, LimitOutcome, State, Value

__all__ = ["Block", "Figure", "Glance", "Member", "figure_of", "figures_of", "outcomes_of"]


class Member(Struct, frozen=True, gc=False):
    """A trial among others."""

    id: str
    trial: Trial
    content_id: str


class Figure(Struct, frozen=True, gc=False):
    """What a limit says in figures."""

    outcome: Outcome
    measured: Quantity
    limit: Quantity
    margin: Quantity


class Block(Struct, frozen=True, kw_only=True, gc=False):
    """What many trials alike share, and their figures in columns.

    ``keys`` has the values of selection keys that are the same for all, with ``read_keys`` read off the numbers, and
    ``id_keys`` the content id of each. ``limits`` are gate, id and number of the limits that ``answers`` are about.
    ``figures`` are those of the frontier, in its order.
    ``findings`` are what gates said that were asked, by gate and limit id, for every trial.
    """

    same: Mapping[str, Mapping[str, Figure]]
    missing_keys: tuple[str, ...]
    topology: str
    limits: tuple[tuple[str, str, Fraction | None], ...]
    answers: tuple[Answers, ...]
    keys: Mapping[str, Value]
    read_keys: tuple[tuple[str, Ratios], ...]
    id_keys: tuple[str, ...]
    figures: tuple[Ratios | None, ...]
    findings: list[dict[tuple[str, str], Finding]]


class Glance(Struct, frozen=True, gc=False):
    """A trial judged by its numbers: all that ``planner.evaluate.Verdict`` decides.

    ``at`` is its place in the block.
    """

    block: Block
    at: int
    member: Member
    state: State
    failing: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def keys(self) -> dict[str, Value]:
        """The value of every selection key."""
        keys = dict(self.block.keys)
        for label, column in self.block.read_keys:
            keys[label] = plain_ratio(column.tops[self.at], column.bottoms[self.at])
        for label in self.block.id_keys:
            keys[label] = self.member.content_id
        return keys

    @property
    def missing_keys(self) -> tuple[str, ...]:
        """The keys without a value."""
        return self.block.missing_keys

    @property
    def topology(self) -> str:
        """The name made of degrees."""
        return self.block.topology

    @property
    def figures(self) -> dict[str, dict[str, Figure]]:
        """What every limit of every gate that speaks says: gate id -> limit id -> figure."""
        figures = {gate: dict(limits) for gate, limits in self.block.same.items()}
        for (gate, limit_id, limit), answers in zip(self.block.limits, self.block.answers, strict=True):
            figures[gate][limit_id] = _read(answers.measured.at(self.at), answers.room[self.at], limit)
        for (gate, limit_id), finding in self.block.findings[self.at].items():
            figures[gate][limit_id] = figure_of(finding)
        return figures

    @property
    def outcomes(self) -> dict[tuple[str, str], str]:
        """The outcomes alone, by gate and limit id."""
        block = self.block
        found: dict[tuple[str, str], str] = {}
        found |= {(gate, name): each.outcome for gate, limits in block.same.items() for name, each in limits.items()}
        for (gate, name, _), answers in zip(block.limits, block.answers, strict=True):
            found[gate, name] = "PASS" if answers.room[self.at] >= 0 else "FAIL"
        return found | {limit: finding.outcome for limit, finding in block.findings[self.at].items()}

    @property
    def measured(self) -> Sequence[Pair | None]:
        """The frontier figures, in the order of the block's; None where there is none."""
        at = self.at
        return [None if column is None else (column.tops[at], column.bottoms[at]) for column in self.block.figures]

    @property
    def point(self) -> FrontierPoint:
        """Where the trial stands beside the frontier; which trials nothing beats is not known here."""
        return point_of(self.member.id, self.state, self.measured)


def _read(measured: Pair, room: int, limit: Fraction | None) -> Figure:
    numerator, denominator = measured
    margin = None if limit is None else Fraction(room, denominator * limit.denominator)
    return Figure("PASS" if room >= 0 else "FAIL", Fraction(numerator, denominator), limit, margin)


def figures_of(verdict: Verdict | Glance) -> dict[str, dict[str, Figure]]:
    """Return what every limit of every gate that speaks says of a trial."""
    if isinstance(verdict, Glance):
        return verdict.figures
    return {
        gate: {name: figure_of(finding) for name, finding in limits.items()}
        for gate, limits in verdict.findings.items()
    }


def outcomes_of(verdict: Verdict | Glance | Candidate) -> dict[tuple[str, str], str]:
    """Return the outcome of every limit of every gate that speaks, by gate and limit id."""
    if isinstance(verdict, Glance):
        return verdict.outcomes
    said: Mapping[str, Mapping[str, Finding | LimitOutcome]] = (
        verdict.findings
        if isinstance(verdict, Verdict)
        else {gate: outcome.limits for gate, outcome in verdict.gates.items()}
    )
    return {(gate, name): each.outcome for gate, limits in said.items() for name, each in limits.items()}


def figure_of(finding: Finding) -> Figure:
    """Return what a gate found in figures."""
    return Figure(finding.outcome, finding.measured, finding.limit, finding.margin)
