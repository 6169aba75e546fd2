"""Measures of memory and of what a failure takes: they read arrays of ranks and columns of replicas.

Rules kept: those of ``planner.gates.memory`` and ``planner.gates.failure``, for ranks of equal devices with exact
peaks, and for serving groups that each have a measured rate. Whatever else there is (devices of several sizes, sampled
peaks, pools, injections, a recovery) leaves the gate to be asked.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import mul, sub

from planner.alike.columns import (
    DURATION,
    SECONDS,
    TOKENS,
    Column,
    Ratios,
    Table,
    above_zero,
    metric_column,
    replica_column,
)
from planner.alike.form import Form, UnlikeError
from planner.alike.measures import Batch, Likeness, Measure, scaled, where, worst_of
from planner.failure import losses
from planner.gates.failure import SHARE_LOST, FailureDomainLimit
from planner.gates.failure_capacity import distinct_in
from planner.gates.memory import MemoryHeadroomLimit, ceilings
from planner.gates.memory_parts import COMPONENTS, EVERY_COMPONENT, MORE_COMPONENTS, PEAK, all_explained
from planner.needs import required_rate, reserved_capacity
from planner.numbers import all_parts
from planner.records.base import UNSET, UnsetType

__all__ = ["measured_loss", "measured_peak"]

LONGEST, TOKENS_OF = "longest_sequence_tokens", "output_tokens_total"
OF_A_DEVICE, EXACT = (UNSET, "rank", "device"), (UNSET, "exact")
"""What an array of peaks may say for the figure of each device to be the true one."""


def measured_peak(likeness: Likeness, limit: MemoryHeadroomLimit) -> tuple[Measure, Fraction]:
    """Return how to read the highest peak over ranks and windows, with the ceiling of all ranks.

    Raises:
        UnlikeError: ranks have several ceilings, or the recorded peaks may not be the true ones.
    """
    view, places = likeness.view, likeness.at(limit.load_point)
    allowed = set(ceilings(view, limit))
    if isinstance(view.workload.context_tokens, UnsetType) or len(allowed) != 1:
        raise UnlikeError
    if not view.site.shared_devices.isdisjoint(view.rank_device):
        raise UnlikeError
    if not all(_is_true_peak(likeness.forms[at], limit) for at in places):
        raise UnlikeError
    longest = tuple((at, _longest(likeness, likeness.forms[at])) for at in places)
    key = ("peak", longest, limit.max_sample_interval_s)
    return likeness.once_for_all(key, lambda: _peak(likeness, limit, longest)), allowed.pop()


def _peak(likeness: Likeness, limit: MemoryHeadroomLimit, longest: Sequence[tuple[int, str]]) -> Measure:
    wanted = likeness.view.workload.context_tokens

    def measure(batch: Batch) -> Ratios:
        peaks = []
        for at, name in longest:
            form, table = likeness.forms[at], batch.tables[at]
            column = table.columns[name]
            if min(column) < wanted:
                fits = [tokens >= wanted for tokens in column]
                batch.only(fits if name in form.pointers else table.of_windows(fits))
            batch.only(_sampled_closely(form, table, limit))
            peaks.append(_peaks(form, table, batch))
        return Ratios(*all_parts(peaks[0] if len(peaks) == 1 else list(map(max, *peaks))))

    return measure


def _is_true_peak(form: Form, limit: MemoryHeadroomLimit) -> bool:
    """Say whether an array of peaks is recorded whose figures are the true ones of each device, if sampled closely."""
    metric = form.arrays.get(PEAK)
    if metric is None or (metric.sample_interval_s is not UNSET and limit.max_sample_interval_s is UNSET):
        return False
    return metric.scope in OF_A_DEVICE and metric.bound in EXACT


def _sampled_closely(form: Form, table: Table, limit: MemoryHeadroomLimit) -> list[bool]:
    """Say of every window whether its samples are surely close enough, and enough of them, to have seen the peak."""
    most, metric = limit.max_sample_interval_s, form.arrays[PEAK]
    if isinstance(most, UnsetType) or metric.sample_interval_s is UNSET:
        return [True] * table.size
    intervals, samples = (table.columns[metric_column(PEAK, field)] for field in ("sample_interval_s", "samples"))
    if metric.samples is UNSET:
        return [interval <= most for interval in intervals]
    # A sample more than the gate asks for leaves no doubt about the last digit.
    return [
        interval <= most and (interval == 0 or interval * count >= seconds)
        for interval, count, seconds in zip(intervals, samples, table.columns[SECONDS], strict=True)
    ]


def _longest(likeness: Likeness, form: Form) -> str:
    """Name the column of the longest sequence of every serving group.

    Raises:
        UnlikeError: nothing records it.
    """
    if len(likeness.view.serving_groups) == 1:
        if form.has(f"/load/{LONGEST}"):
            return f"/load/{LONGEST}"
    elif LONGEST in form.replicas.columns and likeness.view.replicas(form.window) is not None:
        return replica_column(LONGEST)
    raise UnlikeError


def _peaks(form: Form, table: Table, batch: Batch) -> Column:
    """Return the highest peak of every window; what components leave unexplained, where all are added up, is odd."""
    if form.window.breakdown_complete is True or form.arrays.keys() >= EVERY_COMPONENT:
        names = [PEAK, *(name for name in (*COMPONENTS, *MORE_COMPONENTS) if name in form.arrays)]
        recorded = [table.columns[metric_column(name, "values")] for name in names]
        batch.only([all_explained(own, parts) for own, *parts in zip(*recorded, strict=True)])
    return table.columns[metric_column(PEAK, "highest")]


def measured_loss(likeness: Likeness, limit: FailureDomainLimit) -> Measure:
    """Return how to read the share of capacity that the heaviest loss takes, or what it leaves of the required load.

    Raises:
        UnlikeError: something else than the measured rates of serving groups says what is left, or nothing does.
    """
    view = likeness.view
    domains = view.site.domains(limit.domain) or {}
    found = losses(view.serving_groups, view.rank_device, domains)
    inside = frozenset().union(*domains.values())
    reserve, required = reserved_capacity(view.contract), required_rate(view.contract)
    is_share = limit.given == SHARE_LOST
    if limit.horizon != "immediate" or reserve >= 1 or not found or not inside.issuperset(view.rank_device):
        raise UnlikeError
    if len(set(view.group_roles)) > 1 or not (is_share or required):
        raise UnlikeError
    of_need = (1 - reserve) / required if required else Fraction(0)
    lost = [loss.groups for loss in distinct_in(view, limit.domain, found)]
    places = [(_taken(likeness, at, lost), _lasting(likeness, at)) for at in likeness.at(limit.load_point)]

    def measure(batch: Batch) -> Ratios:
        columns = []
        for taken, lasting in places:
            most, whole, shares = taken(batch)
            seconds = batch.of(lasting)
            batch.only(above_zero(whole))
            taken_of_it = Ratios(most, whole)
            ratios = taken_of_it if is_share else _left(seconds, taken_of_it, of_need / shares)
            columns.append(where(ratios, above_zero(ratios.bottoms)))
        return worst_of(columns, "highest" if is_share else "lowest")

    return measure


def _lasting(likeness: Likeness, at: int) -> Measure:
    """Return how to read how long a window took, which has to be some time."""

    def measure(batch: Batch) -> Ratios:
        durations = batch.tables[at].columns[DURATION]
        batch.only(above_zero(durations))
        return Ratios(*all_parts(durations))

    return likeness.once_for_all(("duration", at), lambda: measure)


Taken = Callable[[Batch], tuple[Sequence[int], Sequence[int], int]]
"""Gives, of every window, the tokens of the loss that takes most, those of all groups, and how often each counts."""


def _taken(likeness: Likeness, at: int, lost: Sequence[Sequence[int]]) -> Taken:
    """Return how to find what the heaviest loss takes: by the tokens of each replica, or by equal shares of them all.

    Raises:
        UnlikeError: groups differ in shape and nothing is recorded of each, or replicas are not the groups.
    """
    view, form = likeness.view, likeness.forms[at]
    if not form.has_rate:
        raise UnlikeError
    if not form.replicas.recorded:
        if len(set(view.group_shapes)) > 1:
            raise UnlikeError
        heaviest, groups = max(map(len, lost)), len(view.serving_groups)
        tokens = likeness.once_for_all(("tokens", at), lambda: lambda batch: _whole(batch.tables[at].columns[TOKENS]))
        return lambda batch: _evenly(batch.of(tokens).tops, heaviest, groups)
    replicas = view.replicas(form.window)
    if replicas is None or TOKENS_OF not in form.replicas.columns:
        raise UnlikeError
    # Columns stand in the order of the document, groups in their own.
    place = {name: index for index, name in enumerate(form.replicas.recorded)}
    places = [[place[replicas[group][0]] for group in groups] for groups in lost]
    whole = likeness.once_for_all((TOKENS_OF, at), lambda: lambda batch: _whole(batch.tables[at].sums(TOKENS_OF)))
    return lambda batch: (
        _heaviest(list(zip(*batch.tokens[at], strict=True)), places),
        batch.of(whole).tops,
        1,
    )


def _whole(tokens: Sequence[int]) -> Ratios:
    return Ratios(tokens, [1] * len(tokens))


def _evenly(tokens: Sequence[int], heaviest: int, groups: int) -> tuple[Sequence[int], Sequence[int], int]:
    return scaled(tokens, heaviest), scaled(tokens, groups), groups


def _heaviest(tokens: Sequence[Sequence[int]], lost: Sequence[Sequence[int]]) -> Sequence[int]:
    each = [list(map(sum, zip(*(tokens[place] for place in places), strict=True))) for places in lost]
    return each[0] if len(each) == 1 else list(map(max, *each))


def _left(seconds: Ratios, taken: Ratios, of_need: Fraction) -> Ratios:
    """Return what is left, as a share of the need."""
    times, per = of_need.numerator, of_need.denominator
    left = map(mul, map(sub, taken.bottoms, taken.tops), seconds.bottoms)
    return Ratios(scaled(list(left), times), scaled(seconds.tops, per))
