"""A machine's identity report: what runs there, from which source, and what is not known (``topogate.identity/v1``)."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from planner.records.base import Count, Id, PositiveCount, Prose, Record, Time

__all__ = ["Absent", "IdentityReport", "RanksOfHost", "SeenPlace", "SeenPlacement"]


class SeenPlace(Record, frozen=True, kw_only=True):
    """Where one rank runs."""

    rank: Count
    node: Id
    device: Id
    nic: Id | UnsetType = UNSET


class RanksOfHost(Record, frozen=True, kw_only=True):
    """The ranks that a host knows of, of so many in all."""

    world_size: PositiveCount
    ranks: tuple[SeenPlace, ...]


class SeenPlacement(Record, frozen=True, kw_only=True):
    """The rank map, where it is known whole."""

    rank_map: tuple[SeenPlace, ...]


class Absent(Record, frozen=True, kw_only=True):
    """What is not known, and why."""

    what: Prose
    because: Prose


class IdentityReport(Record, frozen=True, kw_only=True):
    """The report as a file has it; ``conflicts`` are for people, ``node`` is which node of the contract the host is."""

    schema: Literal["topogate.identity/v1"]
    host: Prose
    node: Id | UnsetType = UNSET
    collected_at: Time
    identity: dict[str, Any]
    placement: SeenPlacement | UnsetType = UNSET
    ranks_seen: RanksOfHost | UnsetType = UNSET
    sources: dict[str, str] = {}
    conflicts: tuple[dict[str, Any], ...] = ()
    missing: tuple[Absent, ...] = ()
    environment: dict[str, str] = {}

    @property
    def live(self) -> dict[str, Any]:
        """The identity with the placement beside its sections, as a check takes it."""
        placed = {} if isinstance(self.placement, UnsetType) else {"placement": msgspec.to_builtins(self.placement)}
        return {**self.identity, **placed}
