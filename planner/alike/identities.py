"""The consistency identities on windows of one form, decided at a glance where they surely hold.

Rules kept: for every identity of ``planner.consistency`` there is a test here that is met only where it is evaluated
and holds, or the answer that no window of the form evaluates it; where a test is not met the trial is judged by
itself. An identity that is not known here makes every form unlike, so that a new one is never passed over.

Why a test may use doubles: the numbers are at least 0, so each product and sum of a test is off by less than 10^-15 of
its size, while it asks for 10^-12 of the size beyond what the identity allows. Infinities, and values so small that
doubles lose digits, meet no test. Comparisons without arithmetic are exact: decimals as written order as doubles do.
"""

from collections.abc import Callable, Mapping
from operator import le

from planner.alike.form import DURATION, TOKENS, Form, Number, Row, UnlikeError
from planner.consistency import IDENTITIES, PER_REQUEST_DECODE, Facts
from planner.consistency.counts import AMONG, ENDS, RATES
from planner.consistency.latencies import LATENCIES, NAMES, OPEN_LOOP_TOLERANCE, ORDERED, PER_TOKEN, samples_several
from planner.consistency.samples import PER_REQUEST
from planner.records.base import UnsetType

__all__ = ["Test", "tests_of"]

Test = Callable[[Row], bool]

COMPLETED = "/load/requests/completed"
MILLISECONDS = 1000
ROOM = 1e-12
LEAST, MOST = 1e-200, 1e200


def tests_of(form: Form, facts: Facts) -> tuple[Test, ...]:
    """Return what every window of the form has to meet for its identities to hold; ``facts`` are of one of them.

    Raises:
        UnlikeError: an identity reads what is not known here.
    """
    found: list[Test] = []
    for identity in IDENTITIES:
        quick = QUICK.get(f"{identity.__module__.rpartition('.')[2]}.{identity.__name__}")
        if quick is None:
            raise UnlikeError
        found += quick(form, facts)
    return tuple(found)


def surely_at_most(left: Number, right: Number) -> bool:
    """Say that left <= right for certain, whatever doubles lost on the way."""
    return left < right * (1 - ROOM) and LEAST < right < MOST


def surely_equal(left: Number, right: Number, share: float) -> bool:
    """Say that two values differ by at most a share of the larger for certain."""
    larger = left if left > right else right
    return abs(left - right) < (share - ROOM) * larger and LEAST < larger < MOST


# Latencies


def _little_closed(form: Form, facts: Facts) -> list[Test]:
    pick, allowed = form.pick(COMPLETED, DURATION, "/load/e2e_ms/mean"), _in_flight(facts)
    if pick is None or allowed is None:
        return []
    most = float(allowed * MILLISECONDS * (1 + facts.tolerance))

    def holds(row: Row) -> bool:
        completed, duration, mean = pick(row.numbers)
        return surely_at_most(completed * mean, most * duration)

    return [holds]


def _in_flight(facts: Facts) -> int | None:
    point = facts.load_point
    if point is None or point.arrival != "closed" or isinstance(point.concurrent_requests, UnsetType):
        return None
    return point.concurrent_requests


def _token_form(form: Form, facts: Facts) -> list[Test]:
    pick, allowed = form.pick(TOKENS, COMPLETED, DURATION, "/load/itl_ms/mean"), _in_flight(facts)
    if pick is None or allowed is None or samples_several(facts.workload):
        return []
    if _definition(form, "itl_ms") != PER_TOKEN:
        return []
    most = float(allowed * MILLISECONDS * (1 + facts.tolerance))

    def holds(row: Row) -> bool:
        tokens, completed, duration, mean = pick(row.numbers)
        return mean > 0 and tokens > completed and surely_at_most((tokens - completed) * mean, most * duration)

    return [holds]


def _definition(form: Form, latency: str) -> object:
    return getattr(getattr(form.window.load, latency), "definition", None)


def _little_measured(form: Form, facts: Facts) -> list[Test]:
    pick = form.pick("/load/in_flight_mean", COMPLETED, DURATION, "/load/e2e_ms/mean")
    if pick is None:
        return []
    share = float(max(OPEN_LOOP_TOLERANCE, facts.tolerance))

    def holds(row: Row) -> bool:
        in_flight, completed, duration, mean = pick(row.numbers)
        return duration > 0 and surely_equal(in_flight * duration * MILLISECONDS, completed * mean, share)

    return [holds]


def _percentile_order(form: Form, facts: Facts) -> list[Test]:
    found = [_rising(form, *_recorded(form, latency, ORDERED)) for latency in LATENCIES]
    found += [_rising(form, *_recorded(form, latency, ("mean", "max"))) for latency in LATENCIES]
    return [test for test in found if test is not None]


def _recorded(form: Form, latency: str, names: tuple[str, ...]) -> list[str]:
    return [pointer for name in names if (pointer := f"/load/{latency}/{name}") in form.at]


def _rising(form: Form, *pointers: str) -> Test | None:
    pick = form.pick(*pointers) if len(pointers) > 1 else None
    if pick is None:
        return None

    def holds(row: Row) -> bool:
        values = pick(row.numbers)
        return all(map(le, values, values[1:]))

    return holds


def _first_token_before_last(form: Form, facts: Facts) -> list[Test]:
    found = [_rising(form, *_recorded_both(form, name)) for name in NAMES]
    tests = [test for test in found if test is not None]
    counts = form.pick("/load/ttft_ms/n", "/load/e2e_ms/n")
    if not tests or counts is None:
        return tests

    def over_the_same(row: Row) -> bool:
        first, last = counts(row.numbers)
        return first == last

    return [over_the_same, *tests]


def _recorded_both(form: Form, name: str) -> list[str]:
    pointers = [f"/load/ttft_ms/{name}", f"/load/e2e_ms/{name}"]
    return pointers if form.at.keys() >= set(pointers) else []


def _end_to_end_sum(form: Form, facts: Facts) -> list[Test]:
    lengths = facts.workload.output_tokens
    pick = form.pick("/load/e2e_ms/mean", "/load/ttft_ms/mean", "/load/tpot_ms/mean")
    if pick is None or isinstance(lengths, UnsetType) or isinstance(lengths.fixed, UnsetType) or lengths.fixed < 1:
        return []
    if _definition(form, "tpot_ms") != PER_REQUEST_DECODE:
        return []
    later, share = lengths.fixed - 1, float(facts.tolerance)

    def holds(row: Row) -> bool:
        whole, first, each = pick(row.numbers)
        return surely_equal(whole, first + later * each, share)

    return [holds]


# Counts


def _totals(form: Form, facts: Facts) -> list[Test]:
    pick, share = form.pick(TOKENS, "/load/output_tokens_mean", COMPLETED), float(facts.tolerance)
    if pick is None:
        return []

    def holds(row: Row) -> bool:
        total, mean, completed = pick(row.numbers)
        return surely_equal(total, mean * completed, share)

    return [holds]


def _longest_outputs(form: Form, facts: Facts) -> list[Test]:
    lengths = facts.workload.output_tokens
    if isinstance(lengths, UnsetType):
        return []
    longest = lengths.max if isinstance(lengths.fixed, UnsetType) else lengths.fixed
    sent = "/load/requests/sent"
    pick = form.pick(TOKENS, sent if sent in form.at else COMPLETED)
    if pick is None or isinstance(longest, UnsetType):
        return []
    most = float(longest * (1 + facts.tolerance))

    def holds(row: Row) -> bool:
        total, requests = pick(row.numbers)
        return surely_at_most(total, most * requests)

    return [holds]


def _stated_rates(form: Form, facts: Facts) -> list[Test]:
    return [
        _stated_rate(form, facts, name, totals)
        for name, totals in RATES
        if form.at.keys() >= {f"/load/{name}/value", *totals, DURATION}
    ]


def _stated_rate(form: Form, facts: Facts, name: str, totals: tuple[str, ...]) -> Test:
    pick = form.pick(f"/load/{name}/value", DURATION, *totals)
    scope = getattr(getattr(form.window.load, name), "scope", None)
    times, share = facts.ranks if scope == "device" else 1, float(facts.tolerance)

    def holds(row: Row) -> bool:
        stated, duration, *added = pick(row.numbers) if pick else (0, 0)
        return duration > 0 and surely_equal(stated * times * duration, sum(added), share)

    return holds


def _duration(form: Form, facts: Facts) -> list[Test]:
    at, share = form.at.get(DURATION), float(facts.tolerance)
    if at is None:
        return []

    def holds(row: Row) -> bool:
        seconds, duration = row.seconds.numerator, row.numbers[at]
        return seconds == duration or surely_equal(duration, seconds, share)

    return [holds]


def _request_counts(form: Form, facts: Facts) -> list[Test]:
    pick = form.pick(*[f"/load/requests/{name}" for name in ("sent", *ENDS)])
    if pick is None:
        return []

    def holds(row: Row) -> bool:
        sent, *ends = pick(row.numbers)
        return sent == sum(ends)

    return [holds]


def _request_parts(form: Form, facts: Facts) -> list[Test]:
    ended = tuple(name for name in ENDS if f"/load/requests/{name}" in form.at)
    among = (*AMONG, *(((ended, "sent"),) if 0 < len(ended) < len(ENDS) else ()))
    found = [_sum_within(form, [f"/load/requests/{name}" for name in (whole, *names)]) for names, whole in among]
    return [test for test in found if test is not None]


def _sum_within(form: Form, pointers: list[str]) -> Test | None:
    pick = form.pick(*pointers)
    if pick is None:
        return None

    def holds(row: Row) -> bool:
        most, *parts = pick(row.numbers)
        return sum(parts) <= most

    return holds


def _queue(form: Form, facts: Facts) -> list[Test]:
    test = _rising(form, *(f"/load/queued_requests_{name}" for name in ("mean", "max")))
    return [] if test is None else [test]


def _replica_sums(form: Form, facts: Facts) -> list[Test]:
    pairs = (("completed", COMPLETED), ("output_tokens_total", TOKENS))
    found = [(form.columns[name], form.at[at]) for name, at in pairs if name in form.columns and at in form.at]
    return [_replica_sum(column, at, float(facts.tolerance)) for column, at in found]


def _replica_sum(column: int, at: int, share: float) -> Test:
    def holds(row: Row) -> bool:
        whole, added = row.numbers[at], sum(row.replicas[column])
        return (whole == added) or surely_equal(added, whole, share)

    return holds


# Samples


def _completed(form: Form, facts: Facts) -> list[Test]:
    found = [
        _samples(form, f"/load/{latency}/n", float(facts.tolerance), may_lack=latency == "tpot_ms")
        for latency in PER_REQUEST
    ]
    return [test for test in found if test is not None]


def _samples(form: Form, n: str, share: float, *, may_lack: bool) -> Test | None:
    pick = form.pick(n, COMPLETED)
    if pick is None:
        return None

    def holds(row: Row) -> bool:
        samples, requests = pick(row.numbers)
        return samples == requests or (may_lack and samples < requests) or surely_equal(samples, requests, share)

    return holds


def _in_all(form: Form, facts: Facts) -> list[Test]:
    if COMPLETED not in form.at:
        raise UnlikeError
    test = _rising(form, "/load/itl_ms/n", TOKENS)
    return [] if test is None else [test]


def _not_evaluated(form: Form, facts: Facts) -> list[Test]:
    """Forms have no section, and always a count of completed requests, so that no window evaluates it; or, as the
    lengths of arrays, a window that breaks it has another form."""
    return []


# States


def _longest_held(form: Form, facts: Facts) -> list[Test]:
    longest, capacity = (form.columns.get(name) for name in ("longest_sequence_tokens", "kv_capacity_tokens"))
    if longest is None or capacity is None:
        return _without_capacity(form)

    def holds(row: Row) -> bool:
        return all(map(le, row.replicas[longest], row.replicas[capacity]))

    return [holds]


def _without_capacity(form: Form) -> list[Test]:
    """Refuse forms where some replicas record what the others do not."""
    replicas = {} if isinstance(form.window.replicas, UnsetType) else form.window.replicas
    for name in ("longest_sequence_tokens", "kv_capacity_tokens"):
        if name not in form.columns and any(type(getattr(each, name)) is int for each in replicas.values()):
            raise UnlikeError
    return []


def _full_concurrency(form: Form, facts: Facts) -> list[Test]:
    lengths = (facts.workload.prompt_tokens, facts.workload.output_tokens)
    fixed = all(not isinstance(each, UnsetType) and not isinstance(each.fixed, UnsetType) for each in lengths)
    if fixed and "kv_capacity_tokens" in form.columns:
        raise UnlikeError
    return []


def _energy(form: Form, facts: Facts) -> list[Test]:
    if {"energy_joules", "power_peak_watts"} <= form.arrays.keys():
        raise UnlikeError
    return []


QUICK: Mapping[str, Callable[[Form, Facts], list[Test]]] = {
    "latencies._little_closed": _little_closed,
    "latencies._token_form": _token_form,
    "latencies._little_measured": _little_measured,
    "latencies._percentile_order": _percentile_order,
    "latencies._first_token_before_last": _first_token_before_last,
    "latencies._end_to_end_sum": _end_to_end_sum,
    "counts._totals": _totals,
    "counts._longest_outputs": _longest_outputs,
    "counts._stated_rates": _stated_rates,
    "counts._duration": _duration,
    "counts._request_counts": _request_counts,
    "counts._request_parts": _request_parts,
    "counts._queue": _queue,
    "counts._replica_sums": _replica_sums,
    "samples._completed": _completed,
    "samples._shapes": _not_evaluated,
    "samples._in_all": _in_all,
    "samples._in_time": _not_evaluated,
    "samples._offered": _not_evaluated,
    "machines._array_lengths": _not_evaluated,
    "machines._link_capacity": _not_evaluated,
    "machines._link_peaks": _not_evaluated,
    "states._longest_held": _longest_held,
    "states._full_concurrency": _full_concurrency,
    "states._handed_bytes": _not_evaluated,
    "states._handed_over_nics": _not_evaluated,
    "states._expert_tokens": _not_evaluated,
    "states._energy": _energy,
}
"""The test of each identity, by module and name."""
