"""What has to be qualified again after a change, and why: gates, runs of the benchmark matrix, and trials.

Rules kept: a limit is affected where it reads an aspect that a change makes stale (``planner.requalification.rules``).
A gate is measured again where its evidence is stale, else judged again on the evidence there is. A load point that
changed touches only what reads it, a device only trials that run on it. Evidence that is too old is stale altogether.

Not handled: whether the new measurements will pass; what a change means beyond the keys that a contract binds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from planner.contract_view import ContractView
from planner.documents import ContractDocument, EvidenceDocument
from planner.gates import GATES
from planner.matrix.engines import engine_of
from planner.matrix.runs import REQUIRED, Reads, reads_of, runs_of
from planner.pointers import is_below, steps
from planner.records.base import UnsetType, stated
from planner.records.evidence import Trial, Window
from planner.records.matrix import Run
from planner.requalification.changes import (
    AgesOut,
    Change,
    ages_out,
    contract_changes,
    identity_changes,
    too_old,
)
from planner.requalification.rules import JUDGED, SHAPED, STALE, aspects_of

__all__ = [
    "AffectedGate",
    "AffectedRun",
    "AgesOut",
    "Change",
    "KeptGate",
    "Requalification",
    "ages_out",
    "contract_changes",
    "identity_changes",
    "requalification",
    "too_old",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedGate:
    """A gate that does not hold any more: its limits (none for one that is always on), and the keys why.

    ``how``: its evidence has to be measured again, or it is judged again on the evidence there is.
    """

    gate: str
    limits: tuple[str, ...]
    how: Literal["measure", "judge"]
    because: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedRun:
    """A run of the benchmark matrix that has to be made again; ``trials`` are those of the evidence that had it."""

    run: str
    because: tuple[str, ...]
    trials: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptGate:
    """A gate that holds as judged, with those of its limits that no change touches: none for one that is always on."""

    gate: str
    limits: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requalification:
    """What a change asks for, and what stays valid (``kept``, ``kept_runs``).

    ``sections`` own the changed keys; empty ``gates`` and ``runs`` ask for nothing.
    """

    changes: tuple[Change, ...]
    gates: tuple[AffectedGate, ...]
    runs: tuple[AffectedRun, ...]
    sections: tuple[str, ...]
    kept: tuple[KeptGate, ...]
    kept_runs: tuple[str, ...]


def requalification(
    contract: ContractDocument, changes: Sequence[Change], evidence: EvidenceDocument | None = None
) -> Requalification:
    """Return what changes ask for under a contract, the newer one of two; with evidence also which trials had a run."""
    return _Requalifying(contract, tuple(changes), evidence).answer()


@dataclass(slots=True)
class _Requalifying:
    contract: ContractDocument
    changes: tuple[Change, ...]
    evidence: EvidenceDocument | None
    measured: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)
    judged: dict[str, dict[str, None]] = field(default_factory=dict)
    places: dict[str, frozenset[tuple[str, str]]] = field(default_factory=dict)

    def answer(self) -> Requalification:
        """Return it."""
        view = ContractView(contract=self.contract.record, limits=self.contract.limits)
        reads = reads_of(view)
        alike = _alike(self.changes)
        for read in reads:
            keys = [change.key for held in alike if _makes_stale(held[0], read) for change in held]
            if keys:
                self.measured.setdefault((read.gate, read.limit_id), {}).update(dict.fromkeys(keys))
        for change in self.changes:
            for gate in self._judged_by(change):
                self.judged.setdefault(gate, {})[change.key] = None
        layout = engine_of(self.contract.record.identity.stack.engine).layout
        runs = runs_of(view, layout, reads)
        again = tuple(self._runs(runs, reads, alike))
        return Requalification(
            changes=self.changes,
            gates=tuple(self._gates()),
            runs=again,
            sections=tuple(dict.fromkeys(change.section for change in self.changes)),
            kept=tuple(self._kept(reads)),
            kept_runs=tuple(name for name in runs if name not in {run.run for run in again}),
        )

    def _judged_by(self, change: Change) -> Iterator[str]:
        path = steps(change.key)
        if change.kind == "limit" and len(path) > 1:
            yield path[1]
        elif change.kind == "age":
            yield "freshness"
        elif change.kind == "contract":
            for above, gates in JUDGED.items():
                if is_below(change.key, above) or is_below(above, change.key):
                    yield from gates
        else:
            yield "equal_service" if path[1] in ("model", "precision", "workload") else "identity"
        if change.kind in SHAPED:
            yield from (gate.id for gate in GATES if gate.of_placement)

    def _gates(self) -> Iterator[AffectedGate]:
        for gate in GATES:
            limits = {name: keys for (owner, name), keys in self.measured.items() if owner == gate.id}
            if limits:
                keys = dict.fromkeys(key for held in limits.values() for key in held)
                yield AffectedGate(gate=gate.id, limits=tuple(limits), how="measure", because=tuple(keys))
            declared = tuple(self.contract.limits.get(gate.id, {}))
            rest = tuple(name for name in declared if name not in limits)
            if gate.id in self.judged and (gate.limit is None or rest):
                because = tuple(self.judged[gate.id])
                yield AffectedGate(gate=gate.id, limits=rest, how="judge", because=because)
        required = [(name, keys) for (owner, name), keys in self.measured.items() if owner == REQUIRED]
        if required:
            because = tuple(dict.fromkeys(key for _, keys in required for key in keys))
            names = tuple(name for name, _ in required)
            yield AffectedGate(gate=REQUIRED, limits=names, how="measure", because=because)

    def _kept(self, reads: Sequence[Reads]) -> Iterator[KeptGate]:
        for gate in GATES:
            if gate.id in self.judged:
                continue
            limits = tuple(
                name for name in self.contract.limits.get(gate.id, {}) if (gate.id, name) not in self.measured
            )
            # What is always on judges whatever is measured, but for gates of the placement alone.
            if limits or (gate.limit is None and (gate.of_placement or not self.measured)):
                yield KeptGate(gate=gate.id, limits=limits)
        required = dict.fromkeys(read.limit_id for read in reads if read.gate == REQUIRED)
        limits = tuple(name for name in required if (REQUIRED, name) not in self.measured)
        if limits:
            yield KeptGate(gate=REQUIRED, limits=limits)

    def _runs(
        self, runs: Mapping[str, Run], reads: Sequence[Reads], alike: Sequence[Sequence[Change]]
    ) -> Iterator[AffectedRun]:
        for name, run in runs.items():
            keys = [change for held in alike if self._touches(held[0], run, reads) for change in held]
            if keys:
                yield AffectedRun(
                    run=name,
                    because=tuple(dict.fromkeys(change.key for change in keys)),
                    trials=tuple(self._trials(run, keys)),
                )

    def _touches(self, change: Change, run: Run, reads: Sequence[Reads]) -> bool:
        stale = STALE.get(change.kind, frozenset())
        if run.kind == "quality":
            return "answers" in stale and change.metrics is None and change.load_point is None
        if change.load_point not in (None, run.load_point):
            return False
        if run.kind == "injection":
            return "faults" in stale and change.metrics is None
        if run.kind == "soak":
            return "soundness" in stale and change.metrics is None
        traced = run.kind == "instrumented"
        return any(
            _makes_stale(change, read) for read in reads if read.load_point == run.load_point and read.traced is traced
        )

    def _trials(self, run: Run, changes: Sequence[Change]) -> Iterator[str]:
        for name, trial in {} if self.evidence is None else self.evidence.record.trials.items():
            if _had(trial, run):
                if name not in self.places:
                    self.places[name] = _places(trial)
                places = self.places[name]
                if any(_of_trial(change, name, places) for change in changes):
                    yield name


def _alike(changes: Iterable[Change]) -> list[list[Change]]:
    """Return changes together that make the same stale, so that a fleet of changed devices is asked about once."""
    found: dict[tuple[object, ...], list[Change]] = {}
    for change in changes:
        found.setdefault((change.kind, change.metrics, change.load_point), []).append(change)
    return list(found.values())


def _makes_stale(change: Change, read: Reads) -> bool:
    if change.load_point not in (None, read.load_point):
        return False
    if change.metrics is not None:
        return read.metric in change.metrics
    return bool(STALE.get(change.kind, frozenset()) & aspects_of(read.metric))


def _had(trial: Trial, run: Run) -> bool:
    """Say whether a trial holds something of a run."""
    if run.kind == "quality":
        return any(score.benchmark == run.quality for score in (stated(trial.quality) or {}).values())
    if run.kind == "injection":
        kind = None if run.injection is None else run.injection.kind
        return any(fault.kind == kind for fault in (stated(trial.failures) or {}).values())
    purposes = {"soak": ("soak",), "instrumented": ("instrumented", "counted")}.get(run.kind, ("counted",))
    windows: Iterable[Window] = trial.windows.values()
    return any(window.purpose in purposes and window.load_point == run.load_point for window in windows)


def _places(trial: Trial) -> frozenset[tuple[str, str]]:
    """Return the devices, nodes and NICs that ranks of a trial sit on, by the name of their section."""
    seats = trial.rank_map
    return frozenset(
        {("devices", seat.device) for seat in seats}
        | {("nodes", seat.node) for seat in seats}
        | {("nics", seat.nic) for seat in seats if not isinstance(seat.nic, UnsetType)}
    )


def _of_trial(change: Change, name: str, places: frozenset[tuple[str, str]]) -> bool:
    """Say whether a change concerns a trial: one of a device only those that run on it."""
    if change.trials is not None:
        return name in change.trials
    path = steps(change.key)
    if path[:2] == ("identity", "hardware") and len(path) > 3 and path[2] in ("devices", "nodes", "nics"):
        return (path[2], path[3]) in places
    return True
