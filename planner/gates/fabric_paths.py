"""Paths of the fabric: which transport groups really used, and what bandwidth a collective reached on them.

Rules kept: only what the library reported counts, the advertised rate of a link says nothing of the path in use; the
worst pair and the slowest rank decide; a bandwidth is read at the declared message size, never as an average over
sizes, and one figure for a whole run bounds its slowest device from above.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta

from planner.compare import Comparison, compare
from planner.figures import grouped
from planner.gates.base import WHOLE_TRIAL, Ask, Finding, Limit, compared, gate, not_applicable, unknown
from planner.gates.wording import apart, count, counted, no_window, why
from planner.layouts.base import ROLES
from planner.numbers import exact
from planner.readings import Reading, Sample, WindowView, number, number_at
from planner.records.base import UNSET, Id, Number, PositiveCount, UnsetType
from planner.records.evidence import Collective, Transport
from planner.records.trials import Path
from planner.view import TrialView

FAMILY = "fabric"
PATHS: tuple[Path, ...] = ("nvls", "p2p", "rdma_direct", "shm", "rdma_host_staged", "socket")
"""Best first; only used to name the worst of several."""
NEAR = 2
"""A measured message size answers for a declared one within this factor."""


class TransportLimit(Limit, frozen=True, kw_only=True):
    """Paths that groups may use inside a node or between nodes; every kind in the request path unless one is named.

    ``peer_access`` asks that copies between peers were tested, not only reported.
    """

    boundary: Literal["inside_node", "inter_node"]
    group_kind: Id | UnsetType = UNSET
    permitted: Annotated[tuple[Path, ...], Meta(min_length=1)]
    peer_access: Literal["reported", "verified"] = "reported"

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the paths, which stand on the trial."""
        return (Ask(metric="transport.path", load_point=WHOLE_TRIAL, conditional=True),)


class LinkBandwidthLimit(Limit, frozen=True, kw_only=True):
    """A floor for the bus bandwidth that a collective operation reaches at a message size."""

    load_point: Id
    operation: Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_recv"]
    message_bytes: PositiveCount
    group_kind: Id | UnsetType = UNSET
    min_bus_bytes_per_s: Number

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the operation; an instrumented window does."""
        return (Ask(metric="collectives.bus_bytes_per_s", load_point=self.load_point, conditional=True),)


@gate(
    "transport",
    family=FAMILY,
    title="Groups use the paths that the contract permits",
    limit=TransportLimit,
    reads=("transport.path",),
    unit="paths",
    comparator="<=",
    needs=("groups", "devices"),
    hint="Look at the library's own log: peer access, direct access of the NIC, and the interface it chose.",
)
def transport(view: TrialView, limit: TransportLimit) -> Finding:
    """Every path recorded for a kind of group that runs inside a node (or between nodes) is permitted, and peer
    access was verified where asked. A kind without a recorded path is UNKNOWN; the advertised rate answers nothing."""
    if not isinstance(limit.group_kind, UnsetType) and not _known(view, limit.group_kind):
        return unknown(f"No layout names a group kind {limit.group_kind}, and the engine reported none.")
    owed = [kind for kind in _kinds(view, limit) if _runs(view, kind, limit.boundary)]
    where = "inside a node" if limit.boundary == "inside_node" else "between nodes"
    if not owed:
        return not_applicable(f"No group of the request path runs {where}.")
    recorded = {} if isinstance(view.trial.transport, UnsetType) else view.trial.transport
    paths = {
        name: entry
        for name, entry in sorted(recorded.items())
        if entry.boundary == limit.boundary and entry.group_kind in owed
    }
    wrong = [name for name, entry in paths.items() if _is_wrong(entry, limit)]
    silent = [kind for kind in owed if all(entry.group_kind != kind for entry in paths.values())]
    untested = [name for name, entry in paths.items() if _is_untested(entry, limit)]
    missing = (
        *((f"{view.at}/transport",) if silent else ()),
        *(f"{view.at}/transport/{name}/peer_access_verified" for name in untested),
    )
    if wrong:
        worst = max(wrong, key=lambda name: PATHS.index(paths[name].path))
        sentence = _wrong_sentence(paths[worst], where, limit)
    elif silent:
        sentence = f"The path of {', '.join(silent)} groups {where} is not recorded."
    elif untested:
        sentence = f"Peer access of {paths[untested[0]].group_kind} groups {where} is not known to be verified."
    else:
        sentence = f"{counted(len(paths), 'path')} {where}, each permitted: {', '.join(_used(paths))}."
    return Finding(
        outcome="FAIL" if wrong else "UNKNOWN" if missing else "PASS",
        sentence=sentence,
        measured=Fraction(len(wrong)),
        limit=Fraction(0),
        margin=Fraction(-len(wrong)),
        worst=(("transport", worst),) if wrong else (),
        measured_at=tuple(f"{view.at}/transport/{name}/path" for name in wrong or paths),
        missing=missing,
        limit_field="permitted",
    )


def _known(view: TrialView, kind: str) -> bool:
    return kind in ROLES or kind in view.topology_groups.groups


def _kinds(view: TrialView, limit: TransportLimit) -> list[str]:
    if not isinstance(limit.group_kind, UnsetType):
        return [limit.group_kind]
    return sorted(view.topology_groups.joins & view.topology_groups.groups.keys())


def _runs(view: TrialView, kind: str, boundary: str) -> bool:
    """Say whether groups of the kind have two ranks on one node, or ranks on two."""
    for group in view.topology_groups.groups.get(kind, ()):
        nodes = [view.rank_node[rank] for rank in group]
        if len(set(nodes)) > 1 if boundary == "inter_node" else len(set(nodes)) < len(nodes):
            return True
    return False


def _is_wrong(entry: Transport, limit: TransportLimit) -> bool:
    return entry.path not in limit.permitted or (
        limit.peer_access == "verified" and entry.peer_access_verified is False
    )


def _is_untested(entry: Transport, limit: TransportLimit) -> bool:
    return limit.peer_access == "verified" and not isinstance(entry.peer_access_verified, bool)


def _wrong_sentence(entry: Transport, where: str, limit: TransportLimit) -> str:
    if entry.path in limit.permitted:
        return f"Peer access of {entry.group_kind} groups {where} was tested and does not work."
    return f"{entry.group_kind} groups {where} use {entry.path}; permitted: {', '.join(limit.permitted)}."


def _used(paths: Mapping[str, Transport]) -> list[str]:
    return sorted({entry.path for entry in paths.values()})


@gate(
    "link_bandwidth",
    family=FAMILY,
    title="Collectives reach their bandwidth",
    limit=LinkBandwidthLimit,
    reads=("collectives.bus_bytes_per_s", "collectives.bus_bytes_per_s_by_rank"),
    unit="bytes/s",
    comparator=">=",
    needs=("groups", "devices"),
    hint="Measure pairs of devices to find the slow one, then its cable, its slot and its path.",
)
def link_bandwidth(view: TrialView, limit: LinkBandwidthLimit) -> Finding:
    """The slowest rank's bus bandwidth of the operation, at the measured size nearest to the declared one within a
    factor of 2 and on the trial's own nodes, reaches the floor. One figure for a whole run is an upper bound of the
    slowest: it may fail and never passes. Wrong results fail."""
    windows = view.traced(limit.load_point, "collectives")
    found = [(window, *entry) for window in windows for entry in _nearest(window, limit)]
    bad = next(((window, name, entry) for window, name, entry in found if number(entry.wrong)), None)
    if bad is not None:
        return _wrong_results(*bad)
    samples = tuple(sample for window, name, entry in found for sample in _bandwidths(view, window, name, entry))
    without = tuple(
        f"{window.at}/collectives" for window in windows if all(window.id != other.id for other, *_ in found)
    )
    floor = exact(limit.min_bus_bytes_per_s)
    reading = Reading(samples=samples, worst_is="lowest", missing=without)
    result = compare(reading if windows else view.qualified(reading, limit.load_point), ">=", floor)
    return compared(result, _bandwidth_sentence(result, limit, floor, windows), limit_field="min_bus_bytes_per_s")


def _nearest(window: WindowView, limit: LinkBandwidthLimit) -> Iterator[tuple[str, Collective]]:
    """Yield the records of the operation at the recorded size that is nearest to the declared one."""
    records = {} if isinstance(window.record.collectives, UnsetType) else window.record.collectives
    sized = [
        (_factor(entry.message_bytes, limit.message_bytes), name, entry)
        for name, entry in sorted(records.items())
        if entry.operation == limit.operation
        and (isinstance(limit.group_kind, UnsetType) or entry.group_kind == limit.group_kind)
        and not isinstance(entry.message_bytes, UnsetType)
        and entry.message_bytes > 0
    ]
    least = min((factor for factor, _, _ in sized), default=None)
    for factor, name, entry in sized:
        if factor == least and factor <= NEAR:
            yield name, entry


def _factor(one: int, other: int) -> Fraction:
    """Return how many times the larger size is the smaller."""
    return Fraction(max(one, other), min(one, other))


def _wrong_results(window: WindowView, name: str, entry: Collective) -> Finding:
    at = f"{window.at}/collectives/{name}/wrong"
    results = counted(int(number(entry.wrong) or 0), "result")
    return Finding(
        outcome="FAIL",
        sentence=f"{results} of {entry.operation} in window {window.id} were wrong.",
        worst=(("window", window.id), ("collective", name)),
        measured_at=(at,),
        limit_field="min_bus_bytes_per_s",
    )


def _bandwidths(view: TrialView, window: WindowView, name: str, entry: Collective) -> Iterator[Sample]:
    at = f"{window.at}/collectives/{name}"
    where = (("window", window.id), ("collective", name))
    missing, notes = _elsewhere(view, at, entry)
    if isinstance(entry.bus_bytes_per_s_by_rank, UnsetType):
        value = number(entry.bus_bytes_per_s)
        place = f"{at}/bus_bytes_per_s"
        note = "One figure for the whole run is an upper bound of the slowest rank."
        yield Sample(
            value=value,
            low=None,
            high=None if missing else value,
            where=where,
            read=() if value is None else (place,),
            missing=(*missing, f"{at}/bus_bytes_per_s_by_rank"),
            notes=(*notes, note),
        )
        return
    for rank in range(view.ranks):
        value = number_at(entry.bus_bytes_per_s_by_rank, rank)
        place = f"{at}/bus_bytes_per_s_by_rank/{rank}"
        yield Sample(
            value=value,
            low=None if missing else value,
            high=None if missing else value,
            where=(*where, ("rank", str(rank)), ("node", view.rank_node[rank])),
            read=() if value is None else (place,),
            missing=missing if value is not None else (*missing, place),
            notes=notes,
        )


def _elsewhere(view: TrialView, at: str, entry: Collective) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (missing, notes) of a measurement that is not known to be of the trial's nodes."""
    if isinstance(entry.nodes, UnsetType):
        return (f"{at}/nodes",), ("Where it was measured is not recorded.",)
    others = sorted(set(entry.nodes) - set(view.rank_node))
    return ((f"{at}/nodes",), (f"Measured on {others[0]}, which the trial does not use.",)) if others else ((), ())


def _bandwidth_sentence(
    result: Comparison, limit: LinkBandwidthLimit, floor: Fraction, windows: Sequence[WindowView]
) -> str:
    decides = result.decides
    what = f"{limit.operation} at {count(Fraction(limit.message_bytes))} bytes"
    if not windows:
        return no_window(limit.load_point)
    if decides is None:
        return f"No {what}, within a factor of {NEAR}, is recorded in window {windows[0].id}."
    place = decides.place
    who = f"Rank {place['rank']} on {place['node']}" if "rank" in place else "The whole run"
    if decides.value is None:
        return f"The bandwidth of {what} is not recorded in window {place['window']}.{why(result)}"
    found, least = apart(_gigabytes, decides.value, floor, 1)
    return f"{who} reaches {found} with {what} in window {place['window']}; at least {least}.{why(result)}"


def _gigabytes(value: Fraction, places: int) -> str:
    return f"{grouped(value / 10**9, places)} GB/s"
