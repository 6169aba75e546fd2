"""The limits that trials alike answer by a few numbers: outcome, measured and margin, exact.

Rules kept: each rule here says of a gate's limit what the gate says of it, for windows whose identities hold and whose
samples suffice; where a trial's numbers are none of these (too few samples, no tokens, a context that was not reached)
it gives None, and the trial is judged by itself. What a rule takes of text (definitions, bounds, scopes) is the form's,
so it is looked at once. Values are compared as they are written, or as whole numbers over a common denominator. A gate
without a rule here is asked for every trial.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, cast

from planner.alike.form import Form, Number, Pair, Row, UnlikeError
from planner.failure import losses
from planner.gates.base import Standing, Verdict
from planner.gates.cost import CostLimit
from planner.gates.evidence import windows_read
from planner.gates.failure import COUNTS, SHARE_LOST, FailureDomainLimit
from planner.gates.failure_capacity import distinct_in
from planner.gates.memory import MemoryHeadroomLimit, ceilings
from planner.gates.memory_parts import COMPONENTS, EVERY_COMPONENT, MORE_COMPONENTS, PEAK, all_explained
from planner.gates.owed import required
from planner.gates.slo import LatencyLimit, ThroughputLimit, TpotLimit
from planner.keys import usd_per_million
from planner.needs import required_rate, reserved_capacity
from planner.numbers import exact, parts
from planner.readings import FROM_START, number, samples_needed, side_of
from planner.records.base import UNSET, UnsetType
from planner.times import parsed_time
from planner.view import TrialView

__all__ = ["ALWAYS_SAME", "Found", "Likeness", "Measured", "Rule", "measured_rate", "measured_statistic", "rule_of"]

Rows = tuple[Row, ...]
Found = tuple[Verdict, int, int, int]
"""Outcome; numerator and denominator of what was measured; margin x denominator x the limit's denominator."""
Rule = Callable[[Rows], Found | None]
Measured = Callable[[Rows], Pair | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """What trials alike share: the view of one of them, and the form of each window."""

    view: TrialView
    forms: tuple[Form, ...]

    def at(self, load_point: str) -> tuple[int, ...]:
        """Return which windows are at a load point.

        Raises:
            UnlikeError: none is, so that there is nothing to read.
        """
        found = tuple(at for at, form in enumerate(self.forms) if form.window.load_point == load_point)
        if not found:
            raise UnlikeError
        return found


Built = tuple[Rule, Fraction | None] | None
"""How trials alike answer a limit, with the limit as a number; None for one that all answer the same."""


def rule_of(alike: Likeness, gate: str, limit: Any) -> Built:
    """Return how trials alike answer a limit.

    Raises:
        UnlikeError: nothing is known of what they answer: the gate has to be asked.
    """
    build = RULES.get(gate)
    if build is None:
        raise UnlikeError
    return build(alike, limit)


def _held(measure: Measured, comparator: Literal["<=", ">="], limit: Fraction) -> tuple[Rule, Fraction]:
    """Compare what is measured with one limit."""
    bound, per = limit.numerator, limit.denominator
    sign = 1 if comparator == "<=" else -1

    def rule(rows: Rows) -> Found | None:
        found = measure(rows)
        if found is None:
            return None
        numerator, denominator = found
        room = sign * (bound * denominator - numerator * per)
        return "PASS" if room >= 0 else "FAIL", numerator, denominator, room

    return rule, limit


# Evidence


def _telemetry(alike: Likeness, standing: Standing) -> Built:
    """What is recorded is the form's; how many samples there are, and how far apart, is not."""
    wants = required(alike.view.contract, standing.owed)
    if any(want.min_samples is not None or want.max_interval is not None for want in wants):
        raise UnlikeError
    return None


def _freshness(alike: Likeness, standing: Standing) -> Built:
    view = alike.view
    validity = view.contract.validity
    most = None if isinstance(validity, UnsetType) else number(validity.max_evidence_age_s)
    read = {window.id for window in windows_read(view, standing)}
    places = [at for at, form in enumerate(alike.forms) if form.window_id in read]

    def rule(rows: Rows) -> Found | None:
        ends = [parsed_time(rows[at].end) for at in places]
        oldest = min([end for end in ends if end is not None])
        if None in ends or any(end is None or end > view.as_of for end in ends):
            return None
        age = int((view.as_of - oldest).total_seconds())
        room = 0 if most is None else most.numerator - age * most.denominator
        return "PASS" if room >= 0 else "FAIL", age, 1, room

    return rule, most


# Latencies


def measured_statistic(alike: Likeness, field: str, name: str, load_point: str) -> Measured:
    """Return how to read the highest of a statistic over the windows at a load point.

    Raises:
        UnlikeError: it is not recorded in all of them, or bounds the true one on one side only.
    """
    places: list[tuple[int, int, int]] = []
    for at in alike.at(load_point):
        form, load = alike.forms[at], alike.forms[at].window.load
        value, n = form.at.get(f"/load/{field}/{name}"), form.at.get(f"/load/{field}/n")
        late = field in FROM_START and not _from_schedule(alike, form)
        if value is None or n is None or late or isinstance(load, UnsetType) or side_of(name, load) != "exact":
            raise UnlikeError
        places.append((at, value, n))
    least = samples_needed(name, alike.view.beyond)

    def measure(rows: Rows) -> Pair | None:
        worst: Number = 0
        for at, value, n in places:
            numbers = rows[at].numbers
            if numbers[n] < least:
                return None
            worst = max(worst, numbers[value])
        return parts(worst)

    return measure


def _from_schedule(alike: Likeness, form: Form) -> bool:
    """Say whether a latency of the form includes the wait of late sends, or there are none."""
    point, load = alike.view.workload.load_points.get(form.window.load_point), form.window.load
    return point is None or point.arrival != "open" or getattr(load, "ttft_from", None) == "scheduled"


def _latency(field: str, definition: str | None = None) -> Callable[[Likeness, LatencyLimit], tuple[Rule, Fraction]]:
    def build(alike: Likeness, limit: LatencyLimit) -> tuple[Rule, Fraction]:
        wanted = limit.definition if isinstance(limit, TpotLimit) else definition
        for at in alike.at(limit.load_point):
            found = getattr(getattr(alike.forms[at].window.load, field), "definition", None)
            if wanted is not None and found != wanted:
                raise UnlikeError
        measure = measured_statistic(alike, field, limit.statistic, limit.load_point)
        return _held(measure, "<=", exact(limit.max_ms))

    return build


# Rates


def measured_rate(alike: Likeness, load_point: str) -> Measured:
    """Return how to read the lowest output rate over the windows at a load point; no tokens at all are no rate.

    Raises:
        UnlikeError: it is not recorded in all of them.
    """
    places = alike.at(load_point)
    if not all(alike.forms[at].has_rate for at in places):
        raise UnlikeError

    if len(places) == 1:
        (only,) = places
        return lambda rows: rate if (rate := rows[only].rate) and rate[0] else None

    def measure(rows: Rows) -> Pair | None:
        lowest: Pair | None = None
        for at in places:
            rate = rows[at].rate
            if rate is None or not rate[0]:
                return None
            if lowest is None or rate[0] * lowest[1] < lowest[0] * rate[1]:
                lowest = rate
        return lowest

    return measure


def _throughput(alike: Likeness, limit: ThroughputLimit) -> tuple[Rule, Fraction]:
    # Completed requests are in every form.
    return _held(measured_rate(alike, limit.load_point), ">=", exact(limit.min_output_tokens_per_s))


def _cost(alike: Likeness, limit: CostLimit) -> tuple[Rule, Fraction] | None:
    hourly, most = alike.view.placed.usd_per_hour, limit.max_usd_per_million_output_tokens
    if hourly is None or not isinstance(limit.max_usd_per_hour, UnsetType):
        return None
    if isinstance(most, UnsetType):
        raise UnlikeError
    measure = measured_rate(alike, limit.load_point)
    return _held(inverse_of(measure, usd_per_million(hourly)), "<=", exact(most))


def inverse_of(measure: Measured, times: Fraction) -> Measured:
    """Return how to read ``times`` over what is measured, which is above 0."""
    numerator, denominator = times.numerator, times.denominator

    def inverse(rows: Rows) -> Pair | None:
        found = measure(rows)
        return None if found is None else (numerator * found[1], denominator * found[0])

    return inverse


def multiple_of(measure: Measured, times: Fraction) -> Measured:
    """Return how to read ``times`` what is measured."""
    numerator, denominator = times.numerator, times.denominator

    def multiple(rows: Rows) -> Pair | None:
        found = measure(rows)
        return None if found is None else (numerator * found[0], denominator * found[1])

    return multiple


# Memory


def _memory_headroom(alike: Likeness, limit: MemoryHeadroomLimit) -> tuple[Rule, Fraction]:
    view = alike.view
    allowed = set(ceilings(view, limit))
    shared = any(device in view.site.shared_devices for device in view.rank_device)
    places = alike.at(limit.load_point)
    for at in places:
        # What an array says: scope, bound, phase, and that it was not sampled.
        scope, bound, _, is_whole, _ = alike.forms[at].arrays.get(PEAK, ("", "", "", False, False))
        if shared or not is_whole or scope not in OF_A_DEVICE or bound not in EXACT or len(allowed) != 1:
            raise UnlikeError
    reached = [(at, _context_test(alike, alike.forms[at])) for at in places]
    (ceiling,) = allowed

    def measure(rows: Rows) -> Pair | None:
        highest: Number = 0
        for at, is_reached in reached:
            row = rows[at]
            if not is_reached(row) or not _is_explained(alike.forms[at], row):
                return None
            # A row has no null among its arrays.
            highest = max(highest, max(cast("Sequence[Number]", row.arrays[PEAK].values)))
        return parts(highest)

    return _held(measure, "<=", ceiling)


def _context_test(alike: Likeness, form: Form) -> Callable[[Row], bool]:
    """Return what says that a sequence as long as the contract's context was recorded for every serving group."""
    wanted, view = alike.view.workload.context_tokens, alike.view
    if isinstance(wanted, UnsetType):
        raise UnlikeError
    least: int = wanted
    if len(view.serving_groups) == 1:
        at = form.at.get("/load/longest_sequence_tokens")
        if at is None:
            raise UnlikeError
        index: int = at
        return lambda row: row.numbers[index] >= least
    column = form.columns.get("longest_sequence_tokens")
    if column is None or view.replicas(form.window) is None:
        raise UnlikeError
    place: int = column
    return lambda row: min(row.replicas[place]) >= least


def _is_explained(form: Form, row: Row) -> bool:
    """Say whether components, where all are to be added up, reach every peak."""
    if form.window.breakdown_complete is not True and not form.arrays.keys() >= EVERY_COMPONENT:
        return True
    recorded = [row.arrays[name].values for name in (*COMPONENTS, *MORE_COMPONENTS) if name in row.arrays]
    return bool(recorded) and all_explained(row.arrays[PEAK].values, recorded)


# Failure


def _failure_domain(alike: Likeness, limit: FailureDomainLimit) -> tuple[Rule, Fraction] | None:
    view = alike.view
    domains = view.site.domains(limit.domain)
    if domains is None or limit.given in COUNTS:
        return None
    found = losses(view.serving_groups, view.rank_device, domains)
    inside = frozenset().union(*domains.values())
    if limit.horizon != "immediate" or reserved_capacity(view.contract) >= 1 or not inside.issuperset(view.rank_device):
        raise UnlikeError
    lost = [loss.groups for loss in distinct_in(view, limit.domain, found)]
    measures = [_left(alike, at, lost, limit) for at in alike.at(limit.load_point)]
    is_share = limit.given == SHARE_LOST
    bound = limit.max_capacity_share_lost if is_share else limit.min_capacity_left_of_required
    if isinstance(bound, UnsetType) or not lost:
        raise UnlikeError

    def measure(rows: Rows) -> Pair | None:
        worst: Pair | None = None
        for each in measures:
            pair = each(rows)
            if pair is None:
                return None
            if worst is None or (pair[0] * worst[1] > worst[0] * pair[1]) is is_share:
                worst = pair
        return worst

    return _held(measure, "<=" if is_share else ">=", exact(bound))


def _left(alike: Likeness, at: int, lost: list[tuple[int, ...]], limit: FailureDomainLimit) -> Measured:
    """Return how to read, in one window, the share that the heaviest loss takes, or what it leaves of the need."""
    view, form = alike.view, alike.forms[at]
    replicas = None if isinstance(form.window.replicas, UnsetType) else view.replicas(form.window)
    column = form.columns.get("output_tokens_total")
    if replicas is None or column is None or len(set(view.group_roles)) > 1 or not form.has_rate:
        raise UnlikeError
    # Columns stand in the order of the document, groups in their own.
    place = {name: index for index, name in enumerate(form.names)}
    own = [tuple(place[replicas[group][0]] for group in groups) for groups in lost]
    required, tokens = required_rate(view.contract), column
    of_need = None if not required else (1 - reserved_capacity(view.contract)) / required
    if limit.given != SHARE_LOST and of_need is None:
        raise UnlikeError
    share, scale = limit.given == SHARE_LOST, of_need or Fraction(0)

    def measure(rows: Rows) -> Pair | None:
        row = rows[at]
        each, rate = row.replicas[tokens], row.rate
        whole = sum(each)
        if not whole or rate is None:
            return None
        most = max([sum([each[index] for index in groups]) for groups in own])
        if share:
            return int(most), int(whole)
        seconds = parts(row.numbers[form.at["/load/duration_s"]])
        left = int(whole - most) * seconds[1]
        return left * scale.numerator, seconds[0] * scale.denominator

    return measure


RULES: Mapping[str, Callable[[Likeness, Any], Built]] = {
    "freshness": _freshness,
    "telemetry": _telemetry,
    "ttft": _latency("ttft_ms"),
    "tpot": _latency("tpot_ms"),
    "itl": _latency("itl_ms", "per_token"),
    "e2e": _latency("e2e_ms"),
    "throughput": _throughput,
    "memory_headroom": _memory_headroom,
    "failure_domain": _failure_domain,
    "cost": _cost,
}
"""How to build the rule of a gate's limit."""
OF_A_DEVICE, EXACT = (UNSET, "rank", "device"), (UNSET, "exact")
"""What an array of peaks may say for the figure of each device to be the true one."""
ALWAYS_SAME = frozenset({"rank_count", "model_divisibility", "placement", "identity", "equal_service", "consistency"})
"""Always-on gates that say the same of all trials alike whose identities hold."""
