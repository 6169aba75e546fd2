"""Balance of steps: how much of them collectives take, and who makes the others wait.

Rules kept: the worst rank decides; waiting is shown apart from moving, because the rank that waits longest
is the fastest; the time of a whole step shows no straggler, since a group steps together. Traces come from
instrumented windows of the same trial and answer nothing but balance.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import ClassVar, Literal

from msgspec.structs import replace

from planner.compare import Comparison, compare
from planner.gates.base import Ask, Finding, Limit, compared, gate, not_applicable
from planner.gates.handoff_queue import queue_hint
from planner.gates.wording import apart, ms, no_window, share, unjudged, why
from planner.numbers import exact
from planner.rank_times import RankTime, collective_ms, median, moving_ms, own_work_ms, rank_time
from planner.readings import Reading, Sample, Unfit, WindowView, bounded
from planner.records.base import UNSET, Id, Number, Share, UnsetType
from planner.records.evidence import Phase
from planner.view import TrialView

FAMILY = "balance"
PERSISTENT = Fraction(80, 100)
"""Share of samples in which a rank must be slowest to count as one straggler rather than several in turn."""


class CommunicationShareLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for the share of a rank's step that collectives take.

    ``part`` is what counts: time that no compute hides, time in which bytes move, time spent waiting, or all of it.
    """

    load_point: Id
    part: Literal["exposed", "moving", "waiting", "total"]
    phase: Phase | UnsetType = UNSET
    max_share: Share

    def asks(self) -> tuple[Ask, ...]:
        """Ask for steps and collectives; traces of an instrumented window do."""
        return (Ask(metric="per_rank.step_ms", load_point=self.load_point, conditional=True),)


class StragglerLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for how far one rank may be behind its peers: own work over their median, or arrival lag."""

    one_of: ClassVar[tuple[str, ...]] = ("max_over_median", "max_arrival_lag_ms")

    load_point: Id
    phase: Phase | UnsetType = UNSET
    max_over_median: Number | UnsetType = UNSET
    max_arrival_lag_ms: Number | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for times of every rank; traces of an instrumented window do."""
        metric = "arrival_lag_ms" if self.given == "max_arrival_lag_ms" else "step_ms"
        return (Ask(metric=f"per_rank.{metric}", load_point=self.load_point, conditional=True),)


@gate(
    "communication_share",
    family=FAMILY,
    title="Collectives take a small part of the step",
    limit=CommunicationShareLimit,
    reads=(
        "per_rank.step_ms",
        "per_rank.collective_ms",
        "per_rank.collective_wait_ms",
        "per_rank.collective_move_ms",
        "per_rank.collective_exposed_ms",
    ),
    unit="share",
    comparator="<=",
    needs=("groups", "devices"),
    hint="Fewer ranks per group, groups inside faster links, or overlap of collectives with compute.",
)
def communication_share(view: TrialView, limit: CommunicationShareLimit) -> Finding:
    """On the worst rank of every window, the declared part of its time in collectives over its step is at most the
    ceiling. Where waiting was not split off, the least time over the group bounds moving from above: it may pass and
    never fails. The total is highest on the fastest rank."""
    grouped_ranks = [group for group in view.serving_groups if len(group) > 1]
    if not grouped_ranks:
        return not_applicable("No serving group has more than one rank.")
    windows = view.traced(limit.load_point, "per_rank", "step_ms")
    samples = tuple(
        _share_of_step(view, window, limit, rank, group)
        for window in windows
        for group in grouped_ranks
        for rank in group
    )
    ceiling = exact(limit.max_share)
    result = compare(_measured(view, samples, "highest", limit.load_point), "<=", ceiling)
    notes = tuple(_shares_apart(result, windows, limit))
    return compared(result, _share_sentence(result, limit, ceiling), limit_field="max_share", notes=notes)


def _measured(
    view: TrialView, samples: tuple[Sample, ...], worst_is: Literal["highest", "lowest"], load_point: str
) -> Reading:
    """Traces need no repeats: only a load point without any window is not measured."""
    if samples:
        return Reading(samples=samples, worst_is=worst_is)
    return view.qualified(Reading(samples=(), worst_is=worst_is), load_point)


def _share_of_step(
    view: TrialView, window: WindowView, limit: CommunicationShareLimit, rank: int, group: Sequence[int]
) -> Sample:
    step, part = rank_time(window, "step_ms", rank, limit.phase), _part(window, limit, rank, group)
    missing = tuple(dict.fromkeys((*step.missing, *part.missing)))
    value = part.value / step.value if part.value is not None and step.value else None
    low, high = (None, None) if value is None or step.side != "exact" else bounded(value, part.side)
    read = (*part.read, *step.read)
    sentence = f"step_ms of rank {rank} is 0: no share follows from it."
    return Sample(
        value=value,
        low=low,
        high=high,
        where=(*_place(view, window, rank),),
        read=read,
        missing=missing,
        doubts=window.doubts(at.removeprefix(window.at) for at in read),
        notes=(*part.notes, *step.notes),
        unfit=(Unfit(at=step.read, sentence=sentence),) if step.value == 0 else part.unfit,
    )


def _part(window: WindowView, limit: CommunicationShareLimit, rank: int, group: Sequence[int]) -> RankTime:
    if limit.part == "total":
        return collective_ms(window, rank, limit.phase)
    if limit.part == "moving":
        return moving_ms(window, rank, group, limit.phase)
    name = "collective_exposed_ms" if limit.part == "exposed" else "collective_wait_ms"
    return rank_time(window, name, rank, limit.phase)


def _place(view: TrialView, window: WindowView, rank: int) -> tuple[tuple[str, str], ...]:
    return (
        ("window", window.id),
        ("rank", str(rank)),
        ("node", view.rank_node[rank]),
        ("device", view.rank_device[rank]),
    )


def _shares_apart(result: Comparison, windows: Sequence[WindowView], limit: CommunicationShareLimit) -> Iterator[str]:
    """Show waiting and moving of the rank that decides, where both are recorded."""
    place = {} if result.decides is None else result.decides.place
    window = next((window for window in windows if window.id == place.get("window")), None)
    if window is None or "rank" not in place:
        return
    rank = int(place["rank"])
    names = ("step_ms", "collective_wait_ms", "collective_move_ms")
    step, wait, move = (rank_time(window, name, rank, limit.phase).value for name in names)
    if step and wait is not None and move is not None:
        yield f"Rank {rank} waits {share(wait / step)} of its step and moves bytes {share(move / step)}."


def _share_sentence(result: Comparison, limit: CommunicationShareLimit, ceiling: Fraction) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    place = decides.place
    what = {"exposed": "exposed collectives", "moving": "moving bytes", "waiting": "waiting", "total": "collectives"}
    rank = f"Rank {place['rank']} on {place['node']}"
    if decides.value is None:
        if decides.unfit:
            return unjudged(decides, f"{rank}: its share of {what[limit.part]}", f"in window {place['window']}")
        return f"{rank} has no recorded time of {what[limit.part]} and step in window {place['window']}.{why(result)}"
    found, most = apart(share, decides.value, ceiling, 3)
    spends = f"{rank} spends {found} of its step in {what[limit.part]}"
    return f"{spends} in window {place['window']}; at most {most}.{why(result)}"


@gate(
    "straggler",
    family=FAMILY,
    title="No rank keeps its group waiting",
    limit=StragglerLimit,
    reads=(
        "per_rank.step_ms",
        "per_rank.collective_ms",
        "per_rank.collective_wait_ms",
        "per_rank.collective_move_ms",
        "per_rank.arrival_lag_ms",
        "per_rank.slowest_sample_share",
    ),
    unit="ratio",
    comparator="<=",
    needs=("groups", "devices"),
    hint="Look at the placement, device and host of the rank that is behind.",
)
def straggler(view: TrialView, limit: StragglerLimit) -> Finding:
    """In every group of ranks that serve together in one pipeline stage, the own work of the slowest (its step
    without its collectives) over the median of the group, or its arrival lag, is at most the ceiling. Step time
    alone is UNKNOWN: ranks of a group step together, whoever is slow."""
    rows = [ranks for ranks in peers(view) if len(ranks) > 1]
    if not rows:
        return not_applicable("No rank has a peer of its group and stage.")
    by_lag = limit.given == "max_arrival_lag_ms"
    windows = view.traced(limit.load_point, "per_rank", "arrival_lag_ms" if by_lag else "step_ms")
    measure = _lags if by_lag else _own_work
    samples = tuple(sample for window in windows for ranks in rows for sample in measure(view, window, limit, ranks))
    ceiling = exact(getattr(limit, limit.given))
    result = compare(_measured(view, samples, "highest", limit.load_point), "<=", ceiling)
    hints = (queue_hint(window) for window in view.windows(limit.load_point))
    notes = (*_pattern(result, samples, windows, limit, ceiling), *(hint for hint in hints if hint))
    finding = compared(result, _straggler_sentence(result, limit, ceiling), limit_field=limit.given, notes=notes)
    return replace(finding, unit="ms") if by_lag else finding


def peers(view: TrialView) -> list[list[int]]:
    """Return the ranks of each serving group, stage by stage."""
    stages = view.topology_groups.coordinates.get("pp", (None,) * view.ranks)
    found: dict[tuple[int, int], list[int]] = {}
    for index, group in enumerate(view.serving_groups):
        for rank in group:
            stage = stages[rank]
            found.setdefault((index, 0 if stage is None else stage[1]), []).append(rank)
    return list(found.values())


def _lags(view: TrialView, window: WindowView, limit: StragglerLimit, ranks: Sequence[int]) -> Iterator[Sample]:
    for rank in ranks:
        yield _sample(view, window, rank, rank_time(window, "arrival_lag_ms", rank, limit.phase), Fraction(1))


def _own_work(view: TrialView, window: WindowView, limit: StragglerLimit, ranks: Sequence[int]) -> Iterator[Sample]:
    times = {rank: own_work_ms(window, rank, limit.phase) for rank in ranks}
    known = [time.value for time in times.values() if time.value is not None]
    middle = median(known) if len(known) == len(times) else None
    for rank, time in times.items():
        # Where some rank has no time there is no median: what keeps that rank without one is what is owed.
        if middle is not None or time.value is None:
            yield _sample(view, window, rank, time, middle)


def _sample(view: TrialView, window: WindowView, rank: int, time: RankTime, whole: Fraction | None) -> Sample:
    value = time.value / whole if time.value is not None and whole else None
    low, high = (None, None) if value is None else bounded(value, time.side)
    sentence = "The median of its group and stage is 0 ms: no ratio follows from it."
    return Sample(
        value=value,
        low=low,
        high=high,
        where=_place(view, window, rank),
        read=time.read,
        missing=time.missing,
        doubts=window.doubts(at.removeprefix(window.at) for at in time.read),
        notes=time.notes,
        unfit=(Unfit(at=time.read, sentence=sentence),) if whole == 0 and time.value is not None else time.unfit,
    )


def _pattern(
    result: Comparison, samples: Sequence[Sample], windows: Sequence[WindowView], limit: StragglerLimit, most: Fraction
) -> Iterator[str]:
    """Say what the pattern of the slow ranks suggests; it decides nothing."""
    decides = result.decides
    if result.outcome != "FAIL" or decides is None:
        return
    behind = {sample.place["rank"] for sample in samples if sample.value is not None and sample.value > most}
    every = {sample.place["rank"] for sample in samples}
    if len(behind) == 1:
        yield "One rank is behind: look at its placement, device and host."
    elif len(behind) * 2 > len(every):
        yield "Most ranks are behind: look at a link they share or at the shape of the collective."
    window = next(window for window in windows if window.id == decides.place["window"])
    slowest = rank_time(window, "slowest_sample_share", int(decides.place["rank"]), limit.phase).value
    if slowest is not None:
        ends = "it stays on this rank" if slowest >= PERSISTENT else "it moves between ranks"
        yield f"Slowest in {share(slowest)} of the samples: {ends}."


def _straggler_sentence(result: Comparison, limit: StragglerLimit, ceiling: Fraction) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    place = decides.place
    rank = f"Rank {place['rank']} on {place['node']} ({place['device']})"
    if limit.given == "max_over_median":
        if decides.value is None:
            alone = f"{rank}: its own work apart from its group's collectives"
            said = unjudged(decides, alone, f"in window {place['window']}")
            return said if decides.unfit else f"{said}{why(result)}"
        found, most = apart(share, decides.value, ceiling, 3)
        behind = f"{rank} works {found} × the median of its group and stage in window {place['window']}"
        return f"{behind}; at most {most}.{why(result)}"
    if decides.value is None:
        return f"{rank} has no recorded arrival lag in window {place['window']}.{why(result)}"
    found, most = apart(ms, decides.value, ceiling, 2)
    return f"{rank} arrives {found} late in window {place['window']}; at most {most}.{why(result)}"
