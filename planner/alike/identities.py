"""The consistency identities on windows of one form, decided at a glance where they surely hold.

Rules kept: for every identity of ``planner.consistency`` there is a test here that only a window meets in which it is
evaluated and holds, or the answer that no window of the form evaluates it; a trial whose windows do not meet all tests
is judged by itself. An identity that is not known here makes every form unlike, so that a new one is never passed over.

Why a test may use doubles: the numbers are at least 0, so each product, sum and ratio of a test is off by less than
10^-15 of its size, while it asks for 10^-12 of the size beyond what the identity allows. Infinities, and values so
small that doubles lose digits, meet no test. Comparisons without arithmetic are exact: decimals as written order as
doubles do.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import add, eq, le, mul, or_, sub, truediv

from planner.alike.columns import DURATION, SECONDS, TOKENS, Column, Number, Table, above_zero, replica_column
from planner.alike.form import Form, UnlikeError
from planner.consistency import IDENTITIES, PER_REQUEST_DECODE, Facts
from planner.consistency.counts import AMONG, ENDS, RATES
from planner.consistency.latencies import LATENCIES, NAMES, OPEN_LOOP_TOLERANCE, ORDERED, PER_TOKEN, samples_several
from planner.consistency.samples import PER_REQUEST
from planner.records.base import UnsetType

__all__ = ["Test", "tests_of"]

Test = Callable[[Table], Sequence[bool]]
"""Says of every window of a table whether it surely holds; nothing where all of them do."""

COMPLETED = "/load/requests/completed"
MILLISECONDS = 1000
ROOM = 1e-12
LEAST, MOST = 1e-200, 1e200


def tests_of(form: Form, facts: Facts) -> tuple[Test, ...]:
    """Return what windows of the form have to meet for their identities to hold; ``facts`` are of one of them.

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


def surely_at_most(lefts: Sequence[Number], rights: Sequence[Number], times: float = 1) -> Sequence[bool]:
    """Say where left <= times right for certain, whatever doubles lost on the way."""
    return _ratios(lefts, rights, -1, times * (1 - ROOM))


def surely_equal(lefts: Sequence[Number], rights: Sequence[Number], share: float, times: float = 1) -> Sequence[bool]:
    """Say where left and times right surely differ by at most a share of the larger."""
    within = share - ROOM
    return _ratios(lefts, rights, times * (1 - within), times * (1 + within))


def _ratios(lefts: Sequence[Number], rights: Sequence[Number], low: float, high: float) -> Sequence[bool]:
    """Say where left over right lies between two numbers; lowest and highest mostly tell it of all at once."""
    if min(rights) > LEAST and max(rights) < MOST:
        ratios = list(map(truediv, lefts, rights))
        return () if low < min(ratios) and max(ratios) < high else [low < ratio < high for ratio in ratios]
    return [LEAST < right < MOST and low < left / right < high for left, right in zip(lefts, rights, strict=True)]


def same_or_surely_equal(lefts: Column, rights: Column, share: float) -> Sequence[bool]:
    """Say the same of numbers as they are written, or of whole numbers, which may be the very same ones."""
    same = _where(eq, lefts, rights)
    sure = surely_equal(lefts, rights, share) if same else ()
    return list(map(or_, same, sure)) if sure else ()


def _where(holds: Callable[..., bool], *columns: Column) -> Sequence[bool]:
    return () if all(map(holds, *columns)) else list(map(holds, *columns))


def _at_most(left: str, right: str) -> Test:
    """Compare two numbers as they are written."""
    return lambda table: _where(le, table.columns[left], table.columns[right])


def _above_zero(pointer: str) -> Test:
    return lambda table: above_zero(table.columns[pointer])


def _product(table: Table, left: str, right: str) -> list[Number]:
    return list(map(mul, table.columns[left], table.columns[right]))


def _sum(table: Table, pointers: Iterable[str]) -> Column:
    whole, *parts = (table.columns[at] for at in pointers)
    for part in parts:
        whole = list(map(add, whole, part))
    return whole


# Latencies


def _little_closed(form: Form, facts: Facts) -> Iterator[Test]:
    mean, allowed = "/load/e2e_ms/mean", _in_flight(facts)
    if form.has(COMPLETED, DURATION, mean) and allowed is not None:
        most = float(allowed * MILLISECONDS * (1 + facts.tolerance))
        yield lambda table: surely_at_most(_product(table, COMPLETED, mean), table.columns[DURATION], most)


def _in_flight(facts: Facts) -> int | None:
    point = facts.load_point
    if point is None or point.arrival != "closed" or isinstance(point.concurrent_requests, UnsetType):
        return None
    return point.concurrent_requests


def _token_form(form: Form, facts: Facts) -> Iterator[Test]:
    mean, allowed = "/load/itl_ms/mean", _in_flight(facts)
    if not form.has(TOKENS, COMPLETED, DURATION, mean) or allowed is None or samples_several(facts.workload):
        return
    if _definition(form, "itl_ms") == PER_TOKEN:
        most = float(allowed * MILLISECONDS * (1 + facts.tolerance))
        yield _above_zero(mean)
        yield _at_most(COMPLETED, TOKENS)
        yield lambda table: surely_at_most(
            list(map(mul, map(sub, table.columns[TOKENS], table.columns[COMPLETED]), table.columns[mean])),
            table.columns[DURATION],
            most,
        )


def _definition(form: Form, latency: str) -> object:
    return getattr(getattr(form.window.load, latency), "definition", None)


def _little_measured(form: Form, facts: Facts) -> Iterator[Test]:
    in_flight, mean = "/load/in_flight_mean", "/load/e2e_ms/mean"
    if form.has(in_flight, COMPLETED, DURATION, mean):
        share = float(max(OPEN_LOOP_TOLERANCE, facts.tolerance))
        yield _above_zero(DURATION)
        yield lambda table: surely_equal(
            _product(table, COMPLETED, mean), _product(table, in_flight, DURATION), share, MILLISECONDS
        )


def _percentile_order(form: Form, facts: Facts) -> Iterator[Test]:
    for latency in LATENCIES:
        recorded = [at for name in ORDERED if form.has(at := f"/load/{latency}/{name}")]
        for lower, upper in (*pairwise(recorded), (f"/load/{latency}/mean", f"/load/{latency}/max")):
            if form.has(lower, upper):
                yield _at_most(lower, upper)


def _first_token_before_last(form: Form, facts: Facts) -> Iterator[Test]:
    both = [(f"/load/ttft_ms/{name}", f"/load/e2e_ms/{name}") for name in NAMES]
    found = [_at_most(first, last) for first, last in both if form.has(first, last)]
    yield from found
    counts = "/load/ttft_ms/n", "/load/e2e_ms/n"
    if found and form.has(*counts):
        # Over other requests they would not be compared.
        yield lambda table: _where(eq, *(table.columns[at] for at in counts))


def _end_to_end_sum(form: Form, facts: Facts) -> Iterator[Test]:
    lengths = facts.workload.output_tokens
    whole, *parts = "/load/e2e_ms/mean", "/load/ttft_ms/mean", "/load/tpot_ms/mean"
    if isinstance(lengths, UnsetType) or isinstance(lengths.fixed, UnsetType) or not form.has(whole, *parts):
        return
    later, share = lengths.fixed - 1, float(facts.tolerance)
    if later >= 0 and _definition(form, "tpot_ms") == PER_REQUEST_DECODE:
        yield lambda table: surely_equal(
            [first + each * later for first, each in zip(*(table.columns[at] for at in parts), strict=True)],
            table.columns[whole],
            share,
        )


# Counts


def _totals(form: Form, facts: Facts) -> Iterator[Test]:
    mean, share = "/load/output_tokens_mean", float(facts.tolerance)
    if form.has(TOKENS, mean, COMPLETED):
        yield lambda table: surely_equal(_product(table, mean, COMPLETED), table.columns[TOKENS], share)


def _longest_outputs(form: Form, facts: Facts) -> Iterator[Test]:
    lengths = facts.workload.output_tokens
    if isinstance(lengths, UnsetType):
        return
    longest = lengths.max if isinstance(lengths.fixed, UnsetType) else lengths.fixed
    sent = "/load/requests/sent"
    requests = sent if form.has(sent) else COMPLETED
    if form.has(TOKENS, requests) and not isinstance(longest, UnsetType):
        most = float(longest * (1 + facts.tolerance))
        yield lambda table: surely_at_most(table.columns[TOKENS], table.columns[requests], most)


def _stated_rates(form: Form, facts: Facts) -> Iterator[Test]:
    for name, totals in RATES:
        if form.has(f"/load/{name}/value", DURATION, *totals):
            yield _above_zero(DURATION)
            yield _stated_rate(form, facts, name, totals)


def _stated_rate(form: Form, facts: Facts, name: str, totals: tuple[str, ...]) -> Test:
    scope = getattr(getattr(form.window.load, name), "scope", None)
    times, share = facts.ranks if scope == "device" else 1, float(facts.tolerance)
    return lambda table: surely_equal(
        _sum(table, totals), _product(table, f"/load/{name}/value", DURATION), share, times
    )


def _duration(form: Form, facts: Facts) -> Iterator[Test]:
    share = float(facts.tolerance)
    if form.has(DURATION):
        yield lambda table: same_or_surely_equal(table.columns[DURATION], table.columns[SECONDS], share)


def _request_counts(form: Form, facts: Facts) -> Iterator[Test]:
    sent, *ends = (f"/load/requests/{name}" for name in ("sent", *ENDS))
    if form.has(sent, *ends):
        yield lambda table: _where(eq, table.columns[sent], _sum(table, ends))


def _request_parts(form: Form, facts: Facts) -> Iterator[Test]:
    ended = tuple(name for name in ENDS if form.has(f"/load/requests/{name}"))
    for names, whole in (*AMONG, *(((ended, "sent"),) if 0 < len(ended) < len(ENDS) else ())):
        most, *parts = (f"/load/requests/{name}" for name in (whole, *names))
        if form.has(most, *parts):
            yield _within(parts, most)


def _within(parts: list[str], whole: str) -> Test:
    return lambda table: _where(le, _sum(table, parts), table.columns[whole])


def _queue(form: Form, facts: Facts) -> Iterator[Test]:
    mean, most = "/load/queued_requests_mean", "/load/queued_requests_max"
    if form.has(mean, most):
        yield _at_most(mean, most)


def _replica_sums(form: Form, facts: Facts) -> Iterator[Test]:
    for name, whole in (("completed", COMPLETED), ("output_tokens_total", TOKENS)):
        if name in form.replicas.columns and form.has(whole):
            yield _replica_sum(name, whole, float(facts.tolerance))


def _replica_sum(name: str, whole: str, share: float) -> Test:
    return lambda table: same_or_surely_equal(table.sums(name), table.columns[whole], share)


# Samples


def _completed(form: Form, facts: Facts) -> Iterator[Test]:
    for latency in PER_REQUEST:
        n = f"/load/{latency}/n"
        if form.has(n, COMPLETED):
            # TPOT leaves out requests of one token.
            yield _at_most(n, COMPLETED) if latency == "tpot_ms" else _as_many(n, float(facts.tolerance))


def _as_many(n: str, share: float) -> Test:
    return lambda table: same_or_surely_equal(table.columns[n], table.columns[COMPLETED], share)


def _in_all(form: Form, facts: Facts) -> Iterator[Test]:
    if not form.has(COMPLETED):
        raise UnlikeError
    if form.has("/load/itl_ms/n", TOKENS):
        yield _at_most("/load/itl_ms/n", TOKENS)


def _not_evaluated(form: Form, facts: Facts) -> Iterator[Test]:
    """Forms have no such section, and always a count of completed requests, so that no window evaluates it; or, as the
    lengths of arrays, a window that breaks it has another form."""
    yield from ()


# States


def _longest_held(form: Form, facts: Facts) -> Iterator[Test]:
    fields = ("longest_sequence_tokens", "kv_capacity_tokens")
    if set(fields) <= set(form.replicas.columns):
        longest, capacity = map(replica_column, fields)
        yield lambda table: table.of_windows(_where(le, table.columns[longest], table.columns[capacity]))
    elif any(type(getattr(each, name)) is int for name in fields for each in _partly(form, name)):
        raise UnlikeError


def _partly(form: Form, name: str) -> Iterable[object]:
    """Return the replicas where not all of them record a field."""
    return () if name in form.replicas.columns else form.replicas.recorded.values()


def _full_concurrency(form: Form, facts: Facts) -> Iterator[Test]:
    lengths = (facts.workload.prompt_tokens, facts.workload.output_tokens)
    fixed = all(not isinstance(each, UnsetType) and not isinstance(each.fixed, UnsetType) for each in lengths)
    if fixed and "kv_capacity_tokens" in form.replicas.columns:
        raise UnlikeError
    yield from ()


def _energy(form: Form, facts: Facts) -> Iterator[Test]:
    if {"energy_joules", "power_peak_watts"} <= form.arrays.keys():
        raise UnlikeError
    yield from ()


QUICK: Mapping[str, Callable[[Form, Facts], Iterator[Test]]] = {
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
