"""Fabric: which group crosses which boundary, and how full the links are that carry the crossings.

Rules kept: an island is what the contract declares, never "same node" in its place; utilisation is computed from
byte counters and the contract's one-way rate, a tool's own percentage is shown and never read; low utilisation is
not called headroom. Where tensor groups may lie is this project's policy: no engine refuses a crossing.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Literal

from planner.compare import Comparison, compare
from planner.gates.base import Ask, Finding, Limit, compared, gate, not_applicable, unknown
from planner.gates.wording import apart, counted, no_window, share, why
from planner.numbers import exact
from planner.readings import Reading, Sample, WindowView, bounded, number, number_at, peak_bound
from planner.records.base import UNSET, Id, Number, Share, Text, UnsetType
from planner.records.evidence import LinkCounters
from planner.view import TrialView

FAMILY = "fabric"
CROSSING_TIME = "collective_move_ms"
POLICY = "Where tensor groups may lie is a policy of this contract; no engine refuses a crossing."


class TensorLocalityLimit(Limit, frozen=True, kw_only=True):
    """Where tensor-like groups may lie.

    ``allowed_if_measured`` lets them leave the island where crossing time and link counters were recorded at
    ``load_point``.
    """

    rule: Literal["inside_island", "inside_node", "allowed_if_measured"]
    load_point: Id = "saturated"

    def asks(self) -> tuple[Ask, ...]:
        """Ask for nothing: only a crossing owes evidence, and the rule itself looks for it."""
        return ()


class LinkUtilizationLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for the peak utilisation of every link of a class, before the bandwidth reserve.

    Left out, ``phase`` means every phase recorded. Samples longer than ``max_sample_interval_s`` hide peaks.
    """

    link_class: Text
    load_point: Id
    phase: Literal["prefill", "decode", "mixed"] | UnsetType = UNSET
    max_utilization: Share
    max_sample_interval_s: Number

    def asks(self) -> tuple[Ask, ...]:
        """Ask for both directions of every link that owes evidence."""
        phase = None if isinstance(self.phase, UnsetType) else self.phase
        return tuple(
            Ask(metric=metric, load_point=self.load_point, phase=phase, link_class=self.link_class)
            for metric in LINK_READS
        )


LINK_READS = ("links.peak_tx_bytes", "links.peak_rx_bytes", "links.sample_interval_s")


@gate(
    "tensor_locality",
    family=FAMILY,
    title="Tensor groups stay where the contract lets them",
    limit=TensorLocalityLimit,
    reads=(f"per_rank.{CROSSING_TIME}", *LINK_READS),
    unit="groups",
    comparator="<=",
    needs=("groups", "devices"),
    hint="Keep tensor groups inside one island: fewer tensor ranks, or another map of the same degrees.",
)
def tensor_locality(view: TrialView, limit: TensorLocalityLimit) -> Finding:
    """Every tensor-like group of more than one rank lies inside one island (inside_island) or on one node
    (inside_node); with allowed_if_measured a group may cross where its crossing time and its links were recorded."""
    groups = _tensor_groups(view)
    if not groups:
        return not_applicable("No tensor-like group has more than one rank.")
    if limit.rule == "inside_node":
        outside = [group for group in groups if len({view.rank_node[rank] for rank in group[1]}) > 1]
        return _located(view, groups, outside, [], "node", limit)
    if view.site.islands is None:
        return unknown("The contract declares no islands.", missing=(), notes=(POLICY,))
    outside = [group for group in groups if _leaves_island(view, group[1])]
    undeclared = [group for group in groups if group not in outside and not _shared_island(view, group[1])]
    if limit.rule == "allowed_if_measured" and outside:
        return _measured_crossing(view, limit, outside)
    return _located(view, groups, outside, undeclared, "island", limit)


Kinded = tuple[str, tuple[int, ...]]


def _tensor_groups(view: TrialView) -> list[Kinded]:
    found = view.topology_groups
    return [
        (kind, group) for kind in sorted(found.tensor_like) for group in found.groups.get(kind, ()) if len(group) > 1
    ]


def _shared_island(view: TrialView, ranks: Sequence[int]) -> bool:
    return bool(frozenset.intersection(*(_islands(view, rank) for rank in ranks)))


def _leaves_island(view: TrialView, ranks: Sequence[int]) -> bool:
    """Two members with declared islands share none: the group crosses, whatever is not declared of the others."""
    known = [islands for islands in (_islands(view, rank) for rank in ranks) if islands]
    return bool(known) and not frozenset.intersection(*known)


def _islands(view: TrialView, rank: int) -> frozenset[str]:
    return view.site.device_islands.get(view.rank_device[rank], frozenset())


def _located(
    view: TrialView,
    groups: list[Kinded],
    outside: list[Kinded],
    undeclared: list[Kinded],
    place: str,
    limit: TensorLocalityLimit,
) -> Finding:
    if undeclared and not outside:
        kind, ranks = undeclared[0]
        lone = next(rank for rank in ranks if not _islands(view, rank))
        return unknown(f"Device {view.rank_device[lone]} of rank {lone} is in no declared island.", notes=(POLICY,))
    if not outside:
        sentence = f"{counted(len(groups), 'tensor group')}, each inside one {place}."
    else:
        kind, ranks = outside[0]
        sentence = (
            f"{counted(len(outside), 'tensor group')} of {len(groups):,} leave{'s' if len(outside) == 1 else ''} the "
            f"{place}, first {kind} group {_listed(ranks)} on {_listed(_places(view, ranks, place))}."
        )
    return Finding(
        outcome="FAIL" if outside else "PASS",
        sentence=sentence,
        measured=Fraction(len(outside)),
        limit=Fraction(0),
        margin=Fraction(-len(outside)),
        worst=(("group", f"{outside[0][0]} {_listed(outside[0][1])}"),) if outside else (),
        measured_at=(f"{view.at}/rank_map",),
        notes=(POLICY,),
        limit_field="rule",
    )


def _places(view: TrialView, ranks: Sequence[int], place: str) -> list[str]:
    if place == "node":
        return sorted({view.rank_node[rank] for rank in ranks})
    return sorted({", ".join(sorted(_islands(view, rank))) for rank in ranks if _islands(view, rank)})


def _listed(items: Sequence[object]) -> str:
    return ", ".join(str(item) for item in items)


def _measured_crossing(view: TrialView, limit: TensorLocalityLimit, outside: list[Kinded]) -> Finding:
    ranks = sorted({rank for _, group in outside for rank in group})
    windows = view.windows(limit.load_point)
    missing = [at for window in windows for at in _crossing_missing(view, window, ranks)]
    what = f"{counted(len(outside), 'tensor group')} cross{'es' if len(outside) == 1 else ''} islands"
    unmeasured = view.unmeasured(limit.load_point)
    if unmeasured:
        return unknown(f"{what}. {view.too_few_windows(limit.load_point)[0]}", missing=unmeasured, notes=(POLICY,))
    if missing:
        return unknown(
            f"{what}; crossing time or link counters are not recorded.", missing=tuple(missing), notes=(POLICY,)
        )
    return Finding(
        outcome="PASS",
        sentence=f"{what}; crossing time and link counters are recorded.",
        measured=Fraction(len(outside)),
        measured_at=tuple(f"{window.at}/per_rank/{CROSSING_TIME}" for window in windows),
        notes=(POLICY,),
        limit_field="rule",
    )


def _crossing_missing(view: TrialView, window: WindowView, ranks: list[int]) -> Iterator[str]:
    """Yield what a crossing owes and does not have: its time for each rank, and counters of some link of its NIC."""
    metrics = {} if isinstance(window.record.per_rank, UnsetType) else window.record.per_rank
    metric = metrics.get(CROSSING_TIME)
    recorded = {} if isinstance(window.record.links, UnsetType) else window.record.links
    nics = {view.site.links[link].nic for link in recorded if link in view.site.links}
    for rank in ranks:
        if metric is None or number_at(metric.values, rank) is None:
            yield f"{window.at}/per_rank/{CROSSING_TIME}/values/{rank}"
        nic = view.trial.rank_map[rank].nic
        if len(set(view.rank_node)) > 1 and (isinstance(nic, UnsetType) or nic not in nics):
            yield f"{window.at}/links"


@gate(
    "link_utilization",
    family=FAMILY,
    title="Links keep their bandwidth reserve",
    limit=LinkUtilizationLimit,
    reads=LINK_READS,
    unit="share",
    comparator="<=",
    needs=("groups", "devices"),
    hint="Move the crossing to a boundary with less traffic, spread ranks over more NICs, or compress what crosses.",
)
def link_utilization(view: TrialView, limit: LinkUtilizationLimit) -> Finding:
    """The busiest sample interval of the busiest link of the class, in each phase and counted window, is at most
    max_utilization after the bandwidth reserve: max(tx, rx) bytes over interval x one-way rate. Every link on a NIC
    of a rank in a group that crosses the node owes evidence."""
    ceiling = exact(limit.max_utilization) * (1 - _reserve(view))
    owed, unplaced = _owed_links(view, limit.link_class)
    windows = view.windows(limit.load_point)
    samples = tuple(sample for window in windows for sample in _utilizations(view, window, limit, owed))
    if not owed and not unplaced and not samples:
        return not_applicable(f"No group crosses a node and no {limit.link_class} link is recorded.")
    nowhere = (f"Ranks that cross a node name no NIC with a link of class {limit.link_class}.",) if unplaced else ()
    whole = Reading(samples=samples, worst_is="highest", missing=unplaced, notes=nowhere)
    reading = view.qualified(whole, limit.load_point)
    result = compare(reading, "<=", ceiling)
    notes = (_reserve_note(view, limit, ceiling), "Low utilisation is not headroom: read it beside waiting time.")
    return compared(result, _link_sentence(result, limit, ceiling, windows), limit_field="max_utilization", notes=notes)


def _reserve(view: TrialView) -> Fraction:
    headroom = view.contract.headroom
    if isinstance(headroom, UnsetType) or isinstance(headroom.bandwidth, UnsetType):
        return Fraction(0)
    return exact(headroom.bandwidth.reserved_share)


def _reserve_note(view: TrialView, limit: LinkUtilizationLimit, ceiling: Fraction) -> str:
    reserve = _reserve(view)
    if reserve == 0:
        return "No bandwidth reserve is declared: 0 is used."
    declared = share(exact(limit.max_utilization))
    return f"Declared ceiling {declared}; a reserve of {share(reserve)} leaves {share(ceiling)}."


def _owed_links(view: TrialView, link_class: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the links that owe evidence, and pointers of what keeps others from being named.

    Owed is each link of the class on a NIC used by a rank of a request-path group that crosses the node (settled
    question 25).
    """
    links: dict[str, None] = {}
    unnamed: list[str] = []
    for rank in view.crossing_ranks:
        nic = view.trial.rank_map[rank].nic
        if isinstance(nic, UnsetType):
            unnamed.append(f"{view.at}/rank_map/{rank}/nic")
        else:
            found = view.site.nic_links.get((nic, link_class), ())
            links.update(dict.fromkeys(found))
            if not found:
                unnamed.append(f"{view.at}/rank_map/{rank}/nic")
    return tuple(sorted(links)), tuple(unnamed)


def _utilizations(
    view: TrialView, window: WindowView, limit: LinkUtilizationLimit, owed: tuple[str, ...]
) -> Iterator[Sample]:
    """Yield one sample for each link and phase: those that owe evidence and others that have it."""
    recorded = {} if isinstance(window.record.links, UnsetType) else window.record.links
    others = (
        link for link in recorded if link in view.site.links and view.site.links[link].link_class == limit.link_class
    )
    for link in sorted({*owed, *others}):
        phases = recorded.get(link, {})
        wanted = sorted(phases) if isinstance(limit.phase, UnsetType) else [limit.phase]
        for phase in wanted or ["mixed"]:
            yield _utilization(view, window, limit, link, phase, phases.get(phase))


def _utilization(
    view: TrialView, window: WindowView, limit: LinkUtilizationLimit, link: str, phase: str, found: LinkCounters | None
) -> Sample:
    at = f"/links/{link}/{phase}"
    where = (("window", window.id), ("link", link), ("phase", phase))
    fields = tuple(f"{at}/{name}" for name in ("peak_tx_bytes", "peak_rx_bytes", "sample_interval_s"))
    values = (
        (None, None, None)
        if found is None
        else (number(found.peak_tx_bytes), number(found.peak_rx_bytes), number(found.sample_interval_s) or None)
    )
    missing = tuple(window.at + field for field, value in zip(fields, values, strict=True) if value is None)
    sent, received, interval = values
    known = [value for value in (sent, received) if value is not None]
    if found is None or interval is None or not known:
        return Sample(value=None, low=None, high=None, where=where, missing=missing)
    value = max(known) / (interval * view.site.links[link].bytes_per_s_one_way)
    low, high = bounded(value, _link_bound(window, found, limit))
    return Sample(
        value=value,
        low=low,
        high=None if missing else high,
        where=where,
        read=tuple(window.at + field for field in fields if window.at + field not in missing),
        missing=missing,
        doubts=window.doubts(fields),
        notes=_link_notes(found, limit, missing, low, high),
    )


def _link_bound(window: WindowView, found: LinkCounters, limit: LinkUtilizationLimit) -> str:
    bound = peak_bound(window, found, limit.max_sample_interval_s)
    if bound == "exact" and found.scope in ("replica", "deployment"):
        return "lower"
    return bound


def _link_notes(
    found: LinkCounters,
    limit: LinkUtilizationLimit,
    missing: tuple[str, ...],
    low: Fraction | None,
    high: Fraction | None,
) -> tuple[str, ...]:
    if missing:
        return ("Only one direction is recorded: a lower bound.",)
    if high is not None:
        return ("The recorded peak is an upper bound.",) if low is None else ()
    if low is None:
        return ("The recorded peak is an upper bound of samples that are too far apart: it bounds nothing.",)
    interval = number(found.sample_interval_s)
    if interval is not None and interval > exact(limit.max_sample_interval_s):
        return (f"Sampled every {found.sample_interval_s} s, at most {limit.max_sample_interval_s} s: a lower bound.",)
    return ("The recorded peak is a lower bound.",)


def _link_sentence(
    result: Comparison, limit: LinkUtilizationLimit, ceiling: Fraction, windows: Sequence[WindowView]
) -> str:
    decides = result.decides
    if not windows:
        return no_window(limit.load_point)
    if decides is None:
        return result.notes[0]
    place = decides.place
    link = f"Link {place['link']} ({place['phase']})"
    if decides.value is None:
        return f"{link} is not recorded in window {place['window']}."
    used, most = apart(share, decides.value, ceiling, 3)
    return f"{link} peaks at {used} of its rate in window {place['window']}; at most {most}.{why(result)}"
