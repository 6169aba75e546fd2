"""The limits that trials alike answer by a number: outcome, measured and margin, exact.

Rules kept: each rule here says of a gate's limit what the gate says of it, for windows whose identities surely hold.
What a gate takes of text (definitions, bounds, scopes) is the form's, so it is looked at once; numbers are compared as
whole ones over a common denominator. A gate without a rule here is asked for every trial.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import sub
from typing import Any, Literal

from planner.alike.capacity import measured_loss, measured_peak
from planner.alike.columns import SPAN, Ratios
from planner.alike.form import UnlikeError
from planner.alike.measures import (
    Batch,
    Likeness,
    Measure,
    measured_price,
    measured_rate,
    measured_share,
    measured_statistic,
    scaled,
)
from planner.gates.base import Standing
from planner.gates.cost import CostLimit
from planner.gates.evidence import CompletenessLimit, windows_read
from planner.gates.failure import COUNTS, SHARE_LOST, FailureDomainLimit
from planner.gates.memory import MemoryHeadroomLimit
from planner.gates.owed import required
from planner.gates.service import SHARES, ErrorsLimit
from planner.gates.slo import LatencyLimit, ThroughputLimit, TpotLimit
from planner.keys import usd_per_million
from planner.numbers import exact
from planner.presence import TRACED
from planner.readings import number
from planner.records.base import UnsetType
from planner.times import parsed_time

__all__ = ["ALWAYS_SAME", "Answers", "Rule", "rule_of"]

ALWAYS_SAME = frozenset({"rank_count", "model_divisibility", "placement", "identity", "equal_service", "consistency"})
"""Always-on gates that say the same of all trials alike whose identities hold."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What a limit says of many trials: what was measured, and how much room is left.

    The margin is the room over the product of both denominators, the measured one's and the limit's; below 0 is FAIL.
    """

    measured: Ratios
    room: Sequence[int]

    def passed(self) -> list[bool]:
        """Say which trials pass."""
        return [True] * len(self.room) if min(self.room) >= 0 else [room >= 0 for room in self.room]


@dataclass(frozen=True, slots=True)
class Rule:
    """How trials alike answer a limit: by what ``measure`` reads. ``limit`` is None where nothing is compared."""

    measure: Measure
    comparator: Literal["<=", ">="]
    limit: Fraction | None

    def answers(self, batch: Batch) -> Answers:
        """Answer for many trials."""
        measured = batch.of(self.measure)
        if self.limit is None:
            return Answers(measured, [0] * batch.size)
        found, most = scaled(measured.tops, self.limit.denominator), scaled(measured.bottoms, self.limit.numerator)
        return Answers(measured, list(map(sub, most, found) if self.comparator == "<=" else map(sub, found, most)))


Built = Rule | None
"""None for a limit that all trials alike answer the same."""


def rule_of(likeness: Likeness, gate: str, limit: Any) -> Built:
    """Return how trials alike answer a limit.

    Raises:
        UnlikeError: nothing is known of what they answer: the gate has to be asked.
    """
    if gate in ALWAYS_SAME:
        return None
    build = RULES.get(gate)
    if build is None:
        raise UnlikeError
    return build(likeness, limit)


def _telemetry(likeness: Likeness, standing: Standing) -> Built:
    """What is recorded is the form's; how many samples there are, and how far apart, is not."""
    wants = required(likeness.view.contract, standing.owed)
    if likeness.others and any(want.section in TRACED for want in wants):
        raise UnlikeError
    if any(want.min_samples is not None or want.max_interval is not None for want in wants):
        raise UnlikeError
    return None


def _freshness(likeness: Likeness, standing: Standing) -> Built:
    view = likeness.view
    validity = view.contract.validity
    most = None if isinstance(validity, UnsetType) else number(validity.max_evidence_age_s)
    read = {window.id for window in windows_read(view, standing)}
    if not read.isdisjoint(likeness.others):
        raise UnlikeError
    places = [at for at, form in enumerate(likeness.forms) if form.window_id in read]

    def measure(batch: Batch) -> Ratios:
        ages = [_ages(batch.tables[at].columns[SPAN]) for at in places]
        for column in ages:
            batch.at_least(column, 0)
        return Ratios(ages[0] if len(ages) == 1 else list(map(max, *ages)), [1] * batch.size)

    def _ages(spans: Sequence[tuple[str, str]]) -> list[int]:
        ends = [end for _, end in spans]
        known = {end: parsed_time(end) for end in set(ends)}
        ages = {end: -1 if ended is None else int((view.as_of - ended).total_seconds()) for end, ended in known.items()}
        return list(map(ages.__getitem__, ends))

    return Rule(likeness.once_for_all(("age", tuple(places)), lambda: measure), "<=", most)


def _latency(field: str, definition: str | None = None) -> Callable[[Likeness, LatencyLimit], Built]:
    def build(likeness: Likeness, limit: LatencyLimit) -> Built:
        wanted = limit.definition if isinstance(limit, TpotLimit) else definition
        for at in likeness.at(limit.load_point):
            found = getattr(getattr(likeness.forms[at].window.load, field), "definition", None)
            if wanted is not None and found != wanted:
                raise UnlikeError
        measure = measured_statistic(likeness, field, limit.statistic, limit.load_point)
        return Rule(measure, "<=", exact(limit.max_ms))

    return build


def _throughput(likeness: Likeness, limit: ThroughputLimit) -> Built:
    # The gate reads completed requests too; every form has them.
    return Rule(measured_rate(likeness, limit.load_point), ">=", exact(limit.min_output_tokens_per_s))


def _completeness(likeness: Likeness, limit: CompletenessLimit) -> Built:
    shares = measured_share(likeness, "completed", limit.load_point, "lowest")
    return Rule(shares, ">=", exact(limit.min_completed_share))


def _errors(likeness: Likeness, limit: ErrorsLimit) -> Built:
    if limit.given not in SHARES:
        raise UnlikeError
    shares = measured_share(likeness, SHARES[limit.given], limit.load_point, "highest")
    return Rule(shares, "<=", exact(getattr(limit, limit.given)))


def _cost(likeness: Likeness, limit: CostLimit) -> Built:
    hourly, most = likeness.view.placed.usd_per_hour, limit.max_usd_per_million_output_tokens
    if hourly is None or not isinstance(limit.max_usd_per_hour, UnsetType):
        return None
    if isinstance(most, UnsetType):
        raise UnlikeError
    return Rule(measured_price(likeness, usd_per_million(hourly), limit.load_point), "<=", exact(most))


def _memory_headroom(likeness: Likeness, limit: MemoryHeadroomLimit) -> Built:
    measure, ceiling = measured_peak(likeness, limit)
    return Rule(measure, "<=", ceiling)


def _failure_domain(likeness: Likeness, limit: FailureDomainLimit) -> Built:
    if likeness.view.site.domains(limit.domain) is None or limit.given in COUNTS:
        return None
    comparator: Literal["<=", ">="] = "<=" if limit.given == SHARE_LOST else ">="
    return Rule(measured_loss(likeness, limit), comparator, exact(getattr(limit, limit.given)))


RULES: Mapping[str, Callable[[Likeness, Any], Built]] = {
    "telemetry": _telemetry,
    "freshness": _freshness,
    "completeness": _completeness,
    "memory_headroom": _memory_headroom,
    "ttft": _latency("ttft_ms"),
    "tpot": _latency("tpot_ms"),
    "itl": _latency("itl_ms", "per_token"),
    "e2e": _latency("e2e_ms"),
    "throughput": _throughput,
    "errors": _errors,
    "failure_domain": _failure_domain,
    "cost": _cost,
}
"""How to build the rule of a gate's limit."""
