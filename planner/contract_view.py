"""The view of a contract: what follows from it for every trial, computed once.

Rules kept: it holds nothing of one trial but what its topology and rank map give (``planner.placed``), so a trial's
verdict stays the same whichever trials are judged beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import msgspec

from planner import consistency
from planner.numbers import exact
from planner.placed import Kept, Placed
from planner.readings import BEYOND_PERCENTILE
from planner.records.base import UnsetType
from planner.records.contract import Comparison, Contract, Fleet, Workload
from planner.records.evidence import Trial
from planner.site import Site

__all__ = ["ContractView", "LimitRecords"]

LimitRecords = Mapping[str, Mapping[str, Any]]

_ENCODER = msgspec.msgpack.Encoder(order="deterministic")


@dataclass(frozen=True, kw_only=True, eq=False)
class ContractView:
    """A contract. ``limits`` is gate id -> limit id -> limit record."""

    contract: Contract
    limits: LimitRecords
    kept: Kept = field(default_factory=Kept, repr=False)

    @cached_property
    def site(self) -> Site:
        """The hardware and the fleet."""
        fleet = self.contract.fleet
        return Site(hardware=self.contract.identity.hardware, fleet=Fleet() if isinstance(fleet, UnsetType) else fleet)

    @property
    def workload(self) -> Workload:
        """The declared workload."""
        return self.contract.identity.workload

    @cached_property
    def comparison(self) -> Comparison:
        """The comparison section; empty where there is none."""
        declared = self.contract.comparison
        return Comparison() if isinstance(declared, UnsetType) else declared

    @cached_property
    def tolerance(self) -> Fraction:
        """Relative tolerance of the consistency identities."""
        declared = self.comparison.consistency_tolerance
        return consistency.TOLERANCE if isinstance(declared, UnsetType) else exact(declared)

    @cached_property
    def beyond(self) -> Fraction:
        """Samples that must lie beyond a percentile."""
        declared = self.comparison.min_samples_beyond_percentile
        return BEYOND_PERCENTILE if isinstance(declared, UnsetType) else exact(declared)

    @cached_property
    def min_repeats(self) -> int:
        """Counted windows that a reading needs; one unless the contract says more."""
        declared = self.contract.steady_state
        return 1 if isinstance(declared, UnsetType) else declared.min_repeats

    def placed(self, trial: Trial) -> Placed:
        """Return what follows from the trial's topology and rank map; one and the same for trials placed alike."""
        # The objects are kept beside the answer, so that no other ones can come to have their ids.
        ids = ("placed", id(trial.topology), id(trial.rank_map))
        return self.kept.once(ids, lambda: (self._placed(trial), trial.topology, trial.rank_map))[0]

    def _placed(self, trial: Trial) -> Placed:
        written = _ENCODER.encode((trial.topology, trial.rank_map))
        return self.kept.once(written, lambda: self._newly_placed(trial))

    def _newly_placed(self, trial: Trial) -> Placed:
        moe = self.contract.identity.model.architecture == "moe"
        return Placed(topology=trial.topology, rank_map=trial.rank_map, moe=moe, site=self.site, shared=self.kept)
