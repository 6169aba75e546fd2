"""The view of one trial: everything that a gate may read, computed once and kept.

Rules kept: a view knows its own trial and the contract, never another trial; what is computed is computed once,
because many gates ask for it; nothing is filled in. A view is immutable from outside: the caches hold pure functions
of its fields. Not handled: judging (``planner.gates``, ``planner.evaluate``).
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from operator import attrgetter

from msgspec import structs

from planner import consistency
from planner.consistency import Check, Facts, broken_of
from planner.contract_view import ContractView, LimitRecords
from planner.documents import ContractDocument, EvidenceDocument
from planner.identity import IdentityComparison, compare_identity, contract_leaves
from planner.layouts import LayoutRefusedError
from planner.placed import Kept, Placed
from planner.rankmap import TopologyGroups
from planner.readings import Reading, WindowView, statistic, throughput
from planner.records.base import UNSET, UnsetType
from planner.records.contract import Comparison, Contract, Workload
from planner.records.evidence import Instance, Replica, Trial, Window
from planner.site import Charge, Site
from planner.times import parsed_time, repeats


@dataclass(frozen=True, kw_only=True)
class TrialView:
    """One trial beside its contract.

    ``ground`` is what all trials of the contract share. ``at`` is the trial's pointer in the evidence. ``as_of`` is
    the time (UTC, whole seconds) at which freshness is judged. ``checked`` holds identities of windows that were
    evaluated before, in whatever way; ``kept`` has results of pure functions of this view, and a changed copy none.
    """

    id: str
    trial: Trial
    content_id: str
    ground: ContractView
    identity: IdentityComparison
    as_of: datetime
    checked: dict[str, tuple[Window, tuple[Check, ...]]] = field(default_factory=dict, repr=False, compare=False)
    kept: Kept = field(default_factory=Kept, init=False, repr=False, compare=False)

    def with_trial(self, trial: Trial) -> "TrialView":
        """Return the view of a changed copy of the trial; windows that are the same objects are not checked again.

        All are where its ranks or devices are others, because identities read them.
        """
        placed_alike = (trial.topology, trial.rank_map) == (self.trial.topology, self.trial.rank_map)
        checked = {window_id: (self.trial.windows[window_id], found) for window_id, found in self.checks.items()}
        return replace(self, trial=trial, checked=checked if placed_alike else {})

    @property
    def at(self) -> str:
        """The JSON pointer of the trial."""
        return f"/trials/{self.id}"

    def forget(self) -> None:
        """Let go of what was computed, to be computed again where it is asked for again."""
        for name in _COMPUTED:
            self.__dict__.pop(name, None)
        self.kept.clear()

    # The contract

    @property
    def contract(self) -> Contract:
        """The contract."""
        return self.ground.contract

    @property
    def limits(self) -> LimitRecords:
        """Gate id -> limit id -> limit record."""
        return self.ground.limits

    @property
    def site(self) -> Site:
        """The declared hardware and fleet."""
        return self.ground.site

    @property
    def workload(self) -> Workload:
        """The declared workload."""
        return self.ground.workload

    @property
    def comparison(self) -> Comparison:
        """The contract's comparison section; empty where it has none."""
        return self.ground.comparison

    @property
    def tolerance(self) -> Fraction:
        """Relative tolerance of the consistency identities."""
        return self.ground.tolerance

    @property
    def beyond(self) -> Fraction:
        """Samples that must lie beyond a percentile."""
        return self.ground.beyond

    @property
    def min_repeats(self) -> int:
        """Counted windows that a reading needs."""
        return self.ground.min_repeats

    # Ranks and devices; what is said to raise does so as ``topology_groups`` does.

    @cached_property
    def placed(self) -> Placed:
        """What follows from topology and rank map, shared by all trials placed alike."""
        return self.ground.placed(self.trial)

    @property
    def ranks(self) -> int:
        """Ranks placed."""
        return len(self.trial.rank_map)

    @property
    def rank_device(self) -> tuple[str, ...]:
        """The device of each rank."""
        return self.placed.rank_device

    @property
    def rank_node(self) -> tuple[str, ...]:
        """The node of each rank."""
        return self.placed.rank_node

    @property
    def ranks_per_node(self) -> Mapping[str, int]:
        """Ranks on each node that holds one, in node id order."""
        return self.placed.ranks_per_node

    @property
    def groups(self) -> TopologyGroups | LayoutRefusedError:
        """The process groups in global ranks, or the layout's refusal of the degrees."""
        return self.placed.groups

    @property
    def topology_groups(self) -> TopologyGroups:
        """The process groups, for gates that need them.

        Raises:
            LayoutRefusedError: the layout refuses the degrees; ``rank_count`` has failed then and such gates do
                not run.
        """
        return self.placed.topology_groups

    @property
    def serving_groups(self) -> tuple[tuple[int, ...], ...]:
        """Ranks that serve a request together. Raises."""
        return self.placed.serving_groups

    @property
    def group_shapes(self) -> tuple[Hashable, ...]:
        """What makes serving groups equal: ranks, degrees and device types. Raises."""
        return self.placed.group_shapes

    @property
    def group_roles(self) -> tuple[str, ...]:
        """The role of each serving group: serve, prefill or decode. Raises."""
        return self.placed.group_roles

    @property
    def group_instances(self) -> tuple[tuple[Instance, ...], ...]:
        """The engine instances that each serving group has ranks in. Raises."""
        return self.placed.group_instances

    @property
    def crossing_ranks(self) -> tuple[int, ...]:
        """Ranks of a request-path group that crosses a node, in order. Raises."""
        return self.placed.crossing_ranks

    @property
    def charge(self) -> Charge:
        """The devices that the trial is charged for."""
        return self.placed.charge

    # Windows and readings

    @cached_property
    def counted(self) -> Mapping[str, tuple[WindowView, ...]]:
        """Counted windows by load point, in window id order."""
        found: dict[str, list[WindowView]] = {}
        for window_id, window in sorted(self.trial.windows.items()):
            if window.purpose == "counted":
                found.setdefault(window.load_point, []).append(self._window(window_id, window))
        return {load_point: tuple(windows) for load_point, windows in found.items()}

    @cached_property
    def checks(self) -> Mapping[str, tuple[Check, ...]]:
        """The consistency identities evaluated in each counted window."""
        return {
            window_id: self._checks(window_id, window)
            for window_id, window in sorted(self.trial.windows.items())
            if window.purpose == "counted"
        }

    def windows(self, load_point: str) -> tuple[WindowView, ...]:
        """The counted windows at a load point."""
        return self.counted.get(load_point, ())

    def stretches(self, load_point: str, purpose: str) -> tuple[WindowView, ...]:
        """The windows of another purpose at a load point, in window id order."""
        return tuple(
            self._window(window_id, window)
            for window_id, window in sorted(self.trial.windows.items())
            if window.purpose == purpose and window.load_point == load_point
        )

    def traced(self, load_point: str, section: str, field: str = "") -> tuple[WindowView, ...]:
        """The windows that answer for what only traces show.

        Those are instrumented windows that record the metric, with the counted ones that do; without such an
        instrumented window, every counted window owes it.
        """
        instrumented = self.stretches(load_point, "instrumented")
        found = tuple(window for window in instrumented if recorded(window.record, section, field))
        if not found:
            return self.windows(load_point) or instrumented
        counted = (window for window in self.windows(load_point) if recorded(window.record, section, field))
        return tuple(sorted((*found, *counted), key=lambda window: window.id))

    def windows_read(self, load_points: Iterable[str], traced: Iterable[str]) -> list[WindowView]:
        """Return the counted windows at load points, those with traces of ``traced`` among them, once each."""
        found = [window for load_point in load_points for window in self.windows(load_point)]
        for load_point in traced:
            found += self.windows(load_point)
            found += self.stretches(load_point, "instrumented") + self.stretches(load_point, "soak")
        return list({window.id: window for window in found}.values()) if len(found) > 1 else found

    @cached_property
    def _throughputs(self) -> Mapping[str, Reading]:
        return {
            load_point: self.qualified(throughput(windows), load_point) for load_point, windows in self.counted.items()
        }

    def throughput(self, load_point: str) -> Reading:
        """Output tokens per second of the deployment: the one reading that all users share."""
        found = self._throughputs.get(load_point)
        return self.qualified(Reading(samples=(), worst_is="lowest"), load_point) if found is None else found

    def statistic(self, field: str, name: str, load_point: str) -> Reading:
        """A statistic of a latency field (``ttft_ms``) at a load point, in ms."""
        return self.kept.once(
            ("statistic", field, name, load_point),
            lambda: self.qualified(statistic(self.windows(load_point), field, name, beyond=self.beyond), load_point),
        )

    def qualified(self, reading: Reading, load_point: str) -> Reading:
        """Say of a reading that its load point has no counted window, or fewer than the contract needs."""
        missing, notes = self.kept.get(("lacking", load_point)) or self._lacking(load_point)
        if not missing and not notes:
            return reading
        return structs.replace(reading, missing=(*reading.missing, *missing), notes=(*reading.notes, *notes))

    def _lacking(self, load_point: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        found = self.kept["lacking", load_point] = self.unmeasured(load_point), self.too_few_windows(load_point)
        return found

    def unmeasured(self, load_point: str) -> tuple[str, ...]:
        """Point at the windows where fewer count at a load point than a reading needs."""
        return (f"{self.at}/windows",) if self.repeats(load_point) < self.min_repeats else ()

    def repeats(self, load_point: str) -> int:
        """Count the repeats at a load point: a window recorded twice, or one inside another, repeats nothing."""
        return self.kept.once(("repeats", load_point), lambda: self._repeats(load_point))

    def _repeats(self, load_point: str) -> int:
        return repeats([(window.record.start, window.record.end) for window in self.windows(load_point)])

    def too_few_windows(self, load_point: str) -> tuple[str, ...]:
        """Say so in words; nothing where there are enough."""
        recorded, found = len(self.windows(load_point)), self.repeats(load_point)
        if found == 0:
            return (f"No counted window at {load_point}.",)
        if found >= self.min_repeats:
            return ()
        once = " Windows that overlap in time count once." if found < recorded else ""
        return (f"{found} of {self.min_repeats} counted windows at {load_point}.{once}",)

    def replicas(self, window: Window) -> tuple[tuple[str, Replica], ...] | None:
        """Return (id, record) of the replica of each serving group, in the groups' order.

        None where the window records none, or replicas that are not exactly the serving groups (settled question
        34): a figure of other ranks is no figure of this group. Raises as ``topology_groups`` does.
        """
        if isinstance(window.replicas, UnsetType):
            return None
        recorded = window.replicas
        return self.kept.once(("replicas", id(window)), lambda: self._replicas(recorded))

    def _replicas(self, recorded: Mapping[str, Replica]) -> tuple[tuple[str, Replica], ...] | None:
        groups = self.placed.serving_groups
        # Most are recorded in the groups' own order, rank by rank.
        if tuple(map(attrgetter("ranks"), recorded.values())) == groups:
            return tuple(recorded.items())
        by_ranks = {tuple(sorted(replica.ranks)): (name, replica) for name, replica in recorded.items()}
        if len(recorded) != len(groups) or by_ranks.keys() != self.placed.serving_group_set:
            return None
        return tuple([by_ranks[group] for group in groups])

    def _window(self, window_id: str, window: Window) -> WindowView:
        broken: dict[str, list[str]] = {}
        for check in broken_of(self.checks.get(window_id, ())):
            for name in check.fields:
                broken.setdefault(name, []).append(check.sentence)
        return WindowView(
            id=window_id,
            at=f"{self.at}/windows/{window_id}",
            record=window,
            load_point=self.workload.load_points.get(window.load_point),
            broken={field: tuple(sentences) for field, sentences in broken.items()},
        )

    def _checks(self, window_id: str, window: Window) -> tuple[Check, ...]:
        known, found = self.checked.get(window_id, (None, ()))
        return found if known is window else consistency.checks(self.facts(window))

    def facts(self, window: Window) -> Facts:
        """Return what the identities of a window are judged on."""
        return Facts(
            window=window,
            trial=self.trial,
            model=self.contract.identity.model,
            kv_format=self.contract.identity.precision.kv_cache,
            workload=self.workload,
            load_point=self.workload.load_points.get(window.load_point),
            links=self.site.links,
            nics=self.site.nics,
            ranks=self.ranks,
            tolerance=self.tolerance,
        )


_COMPUTED = tuple(name for name, value in vars(TrialView).items() if isinstance(value, cached_property))
"""What a view computes once and keeps."""


def recorded(window: Window, section: str, field: str = "") -> bool:
    """Say whether a window has a section, or in it a field of the section or of one of its entries."""
    found = getattr(window, section, UNSET)
    if isinstance(found, UnsetType) or not field:
        return not isinstance(found, UnsetType)
    if not isinstance(found, dict):
        return getattr(found, field, UNSET) is not UNSET
    return field in found or any(getattr(entry, field, UNSET) is not UNSET for entry in found.values())


def views(contract: ContractDocument, evidence: EvidenceDocument, as_of: str) -> Mapping[str, TrialView]:
    """Return the view of every trial, in trial id order; arguments and errors are those of ``view_maker``."""
    view_of = view_maker(contract, evidence, as_of)
    return {trial_id: view_of(trial_id) for trial_id in sorted(evidence.record.trials)}


def view_maker(contract: ContractDocument, evidence: EvidenceDocument, as_of: str) -> Callable[[str], TrialView]:
    """Return what makes the view of a trial by its id; all of them share what follows from the contract.

    ``as_of`` is ``YYYY-MM-DDThh:mm:ssZ``.

    Raises:
        ValueError: ``as_of`` is no such time.
    """
    moment = parsed_time(as_of)
    if moment is None:
        raise ValueError("as_of is a UTC time of whole seconds with a Z")
    record = contract.record
    ground = ContractView(contract=record, limits=contract.limits)
    bound = contract_leaves(record.identity)
    choice_keys = () if isinstance(ground.comparison.choice_keys, UnsetType) else ground.comparison.choice_keys
    identities = {
        identity_id: compare_identity(bound, observed, choice_keys)
        for identity_id, observed in evidence.record.identities.items()
    }

    def view_of(trial_id: str) -> TrialView:
        trial = evidence.record.trials[trial_id]
        return TrialView(
            id=trial_id,
            trial=trial,
            content_id=evidence.trial_content_ids[trial_id],
            ground=ground,
            identity=identities[trial.identity_id],
            as_of=moment,
        )

    return view_of
