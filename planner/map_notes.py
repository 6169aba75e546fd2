"""What a reader must know of a rank map: where the engine differs from its rule, and what it accepts and should not.

Rules kept: groups and places that the engine exported are authoritative, so a difference is said and nothing is
repaired; a danger is what the engine takes without an error (ranks never started, more ranks on a node than devices,
uneven experts, dropped experts, a launch its own arguments refuse). Every note names what it is about. Notes of a kind
come in the order of instances, then of group kinds.

Not handled: verdicts (``planner.gates``); rules of placement under Ray, which orders nodes by their ids.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from planner.layouts import LAYOUTS, Launch, LayoutRefusedError, Seats
from planner.rankmap import TopologyGroups, degrees_of, topology_groups
from planner.records.base import stated
from planner.records.contract import Contract, Fleet
from planner.records.evidence import Instance, Placement, Trial
from planner.site import Site

__all__ = ["MapNote", "map_notes"]

RANK_KEYS = ("global_rank", "rank")
"""How launchers call the rank of a seat inside its instance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapNote:
    """One note. ``about`` is ``topology``, a kind of group, or ``instance 0``."""

    sort: Literal["difference", "danger", "notice"]
    about: str
    sentence: str


def map_notes(contract: Contract, trial: Trial) -> tuple[MapNote, ...]:
    """Return differences first, then dangers, then notices; one danger alone where the layout refuses the degrees."""
    moe = contract.identity.model.architecture == "moe"
    try:
        groups = topology_groups(trial.topology, moe=moe)
    except LayoutRefusedError as refused:
        return (MapNote(sort="danger", about="topology", sentence=f"The layout refuses this: {refused.message}"),)
    found = [*_groups(groups), *_instances(contract, trial, groups)]
    order = ("difference", "danger", "notice")
    return tuple(sorted(dict.fromkeys(found), key=lambda note: order.index(note.sort)))


def _groups(groups: TopologyGroups) -> Iterator[MapNote]:
    for difference in groups.differences:
        kind, _, sentence = difference.partition(": ")
        yield MapNote(sort="difference", about=kind, sentence=sentence)
    for notice in groups.notices:
        yield MapNote(sort="notice", about="topology", sentence=notice)


def _instances(contract: Contract, trial: Trial, groups: TopologyGroups) -> Iterator[MapNote]:
    fleet = stated(contract.fleet) or Fleet()
    site = Site(hardware=contract.identity.hardware, fleet=fleet)
    sizes = zip(trial.topology.instances, groups.starts, groups.world_sizes, strict=True)
    for index, (instance, start, world) in enumerate(sizes):
        about = f"instance {index}"
        yield from _split(contract, trial.topology.layout, instance, about)
        places = trial.rank_map[start : start + world]
        if len(places) == world:
            yield from _launch(contract, trial.topology.layout, instance, places, site, about)


def _split(contract: Contract, layout: str, instance: Instance, about: str) -> Iterator[MapNote]:
    """Say what splitting the model costs; a split that the engine refuses is the gate's to say."""
    model, block = contract.identity.model, contract.identity.precision.quantisation_block
    degrees = degrees_of(instance, moe=model.architecture == "moe")
    for check in LAYOUTS[layout].divisibility(model, degrees, stated(block)):
        if check.danger:
            sentence = check.sentence if check.notice is None else f"{check.sentence}; {check.notice}"
            yield MapNote(sort="danger", about=about, sentence=sentence)
        elif check.notice is not None:
            yield MapNote(sort="notice", about=about, sentence=check.notice)


def _launch(
    contract: Contract, layout: str, instance: Instance, places: Sequence[Placement], site: Site, about: str
) -> Iterator[MapNote]:
    """Compare the places with where the launcher would start the same ranks on as many nodes."""
    nodes = list(dict.fromkeys(place.node for place in places))
    devices = min((len(site.node_devices.get(node, ())) for node in nodes), default=0)
    launch = Launch(nnodes=len(nodes), gpus_per_node=devices or None)
    degrees = degrees_of(instance, moe=contract.identity.model.architecture == "moe")
    try:
        seats = LAYOUTS[layout].seats(degrees, launch)
    except LayoutRefusedError as refused:
        sentence = f"the launcher refuses {len(nodes)} nodes: {refused.message}"
        yield MapNote(sort="difference", about=about, sentence=sentence)
        return
    if seats.refused is not None:
        yield MapNote(sort="danger", about=about, sentence=seats.refused.message)
    for danger in seats.dangers:
        yield MapNote(sort="danger", about=about, sentence=danger)
    for notice in seats.notices:
        yield MapNote(sort="notice", about=about, sentence=notice)
    if layout != "closed":
        yield from _moved(seats, places, about)


def _moved(seats: Seats, places: Sequence[Placement], about: str) -> Iterator[MapNote]:
    """Say the first rank that shares its node with other ranks than the launcher's rule says; names do not matter."""
    ruled = {_rank(seat): seat["node"] for seat in seats.seats if _rank(seat) < len(places)}
    first_ruled: dict[int, int] = {}
    first_placed: dict[str, int] = {}
    for rank, node in sorted(ruled.items()):
        expected = first_ruled.setdefault(node, rank)
        found = first_placed.setdefault(places[rank].node, rank)
        if expected != found:
            sentence = f"rank {rank} {_beside(found, rank)}; by the launcher's rule it {_beside(expected, rank)}"
            yield MapNote(sort="difference", about=about, sentence=sentence)
            return


def _beside(first: int, rank: int) -> str:
    return "is the first of its node" if first == rank else f"is on the node of rank {first}"


def _rank(seat: Mapping[str, int]) -> int:
    return next(seat[key] for key in RANK_KEYS if key in seat)
