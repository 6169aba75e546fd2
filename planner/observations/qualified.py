"""What a topology was qualified for, whole: its envelope, and what can be observed of it at all."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from planner.documents import ContractDocument
from planner.layouts import LayoutRefusedError
from planner.observations.envelope import envelope
from planner.observations.measured import Entry
from planner.rankmap import serving_groups, topology_groups
from planner.records.base import stated
from planner.records.evidence import Trial

__all__ = ["Qualified", "qualified"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Qualified:
    """``ranks`` and ``groups`` count them; ``places`` says rank -> node and device, ``members`` group -> its ranks.

    ``of_rank`` has the entries of one rank alone, in the order of ``entries``.
    """

    slot: str
    entries: tuple[Entry, ...]
    of_all: tuple[Entry, ...]
    of_rank: Mapping[int, tuple[Entry, ...]]
    ranks: int
    groups: int
    links: frozenset[str]
    shapes: frozenset[str]
    places: Mapping[int, tuple[str, str]]
    members: tuple[tuple[int, ...], ...]

    def entries_for(self, ranks: Collection[int]) -> tuple[Entry, ...]:
        """Return the entries that some ranks are held against, and groups and links: fewer than all where few report.

        Their order is another one than that of ``entries`` where it says nothing: entries of one rank are in theirs.
        """
        return (*self.of_all, *(entry for rank in ranks for entry in self.of_rank.get(rank, ())))


def qualified(contract: ContractDocument, trial_id: str, trial: Trial) -> Qualified:
    """Return what a trial was qualified for under its contract.

    Groups are those of ranks that serve requests together; where the layout does not say, every instance is one.
    """
    identity = contract.record.identity
    members = _members(contract, trial)
    entries = envelope(contract, trial_id, trial)
    of_rank: dict[int, list[Entry]] = {}
    for entry in entries:
        if entry.rank is not None:
            of_rank.setdefault(entry.rank, []).append(entry)
    return Qualified(
        slot=contract.record.slot,
        entries=entries,
        of_all=tuple(entry for entry in entries if entry.rank is None),
        of_rank={rank: tuple(held) for rank, held in of_rank.items()},
        ranks=len(trial.rank_map),
        groups=len(members),
        links=frozenset(stated(identity.hardware.links) or {}),
        shapes=frozenset(stated(identity.workload.request_shapes) or {}),
        places={place.rank: (place.node, place.device) for place in trial.rank_map},
        members=members,
    )


def _members(contract: ContractDocument, trial: Trial) -> tuple[tuple[int, ...], ...]:
    try:
        return serving_groups(topology_groups(trial.topology, moe=contract.record.identity.model.architecture == "moe"))
    except LayoutRefusedError:
        found, start = [], 0
        for instance in trial.topology.instances:
            found.append(tuple(range(start, start + instance.world_size)))
            start += instance.world_size
        return tuple(found)
