"""Whether an engine's launcher can put ranks where a rank map has them, and in which order nodes and devices are given.

Rules kept: the launcher's rule is that of the layout (``Layout.seats``). It numbers nodes and devices; which node is
number 0 and which device is number 0 of a node is the starter's choice, so any map that is the rule up to such
renumbering can be started. Nothing else is tried: a map that cannot is named rank by rank.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from planner.launch.base import Unsaid
from planner.layouts import LAYOUTS, Launch, LayoutRefusedError
from planner.layouts.base import Degrees
from planner.records.evidence import LayoutName, Placement

__all__ = ["NodeSeats", "plain", "seated"]

RANK_KEYS = ("global_rank", "rank")
RENUMBERING = ("base_gpu_id", "gpu_id_step")
"""Degrees that only renumber devices; the order in which devices are made visible says the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSeats:
    """The ranks (inside the instance) of one node and their devices, in the order of the launcher's device numbers."""

    node: str
    ranks: tuple[int, ...]
    devices: tuple[str, ...]


def seated(
    layout: LayoutName, degrees: Degrees, places: Sequence[Placement], first: int
) -> tuple[tuple[NodeSeats, ...], tuple[Unsaid, ...]]:
    """Return the nodes of an instance in the order in which they are started; none with the reasons where it cannot be.

    ``places`` are those of the instance, whose global ranks begin at ``first``.
    """
    nodes = list(dict.fromkeys(place.node for place in places))
    most = max(sum(place.node == node for place in places) for node in nodes)
    try:
        seats = LAYOUTS[layout].seats(plain(degrees), Launch(nnodes=len(nodes), gpus_per_node=most))
    except LayoutRefusedError as refused:
        return (), (Unsaid(at=_instance(first), sentence=f"The launcher refuses {len(nodes)} nodes: {refused}"),)
    stopped = seats.notices if not seats.seats else () if seats.refused is None else (seats.refused.message,)
    if stopped:
        return (), tuple(Unsaid(at=_instance(first), sentence=f"Not started: {text}.") for text in stopped)
    numbered: dict[int, list[tuple[int, int]]] = {}
    for seat in seats.seats:
        rank = next(seat[key] for key in RANK_KEYS if key in seat)
        numbered.setdefault(seat["node"], []).append((seat["device"], rank))
    faults = tuple(_faults(numbered, places, first))
    if faults:
        return (), faults
    found = []
    for _, held in sorted(numbered.items()):
        ranks = tuple(rank for _, rank in sorted(held))
        devices = tuple(places[rank].device for rank in ranks)
        found.append(NodeSeats(node=places[ranks[0]].node, ranks=ranks, devices=devices))
    return tuple(found), ()


def plain(degrees: Degrees) -> Degrees:
    """Return the degrees without those that only renumber devices."""
    kept = {name: value for name, value in degrees.extra.items() if name not in RENUMBERING}
    return replace(degrees, extra=kept)


def _instance(first: int) -> str:
    return f"ranks from {first}"


def _faults(numbered: Mapping[int, list[tuple[int, int]]], places: Sequence[Placement], first: int) -> Iterator[Unsaid]:
    taken: dict[str, int] = {}
    for held in numbered.values():
        ranks = [rank for _, rank in sorted(held)]
        head = ranks[0]
        node = places[head].node
        if node in taken:
            yield from (
                Unsaid(
                    at=f"rank {first + rank}",
                    sentence=f"Decided on {node} beside rank {first + taken[node]}; the launcher parts them.",
                )
                for rank in ranks
                if places[rank].node == node
            )
            continue
        taken[node] = head
        for rank in ranks[1:]:
            if places[rank].node != node:
                yield Unsaid(
                    at=f"rank {first + rank}",
                    sentence=f"Decided on {places[rank].node}, device {places[rank].device}; the launcher starts it on "
                    f"{node} beside rank {first + head}.",
                )
        if len({number for number, _ in held}) < len(held):
            yield Unsaid(
                at=f"rank {first + head}", sentence=f"The launcher gives one device of {node} to more than one rank."
            )
