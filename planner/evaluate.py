"""Judge one trial: run every gate, spread what is UNKNOWN, and say what state the trial is in.

Rules kept (spec 2.0): UNKNOWN spreads along what a gate reads and FAIL does not; no FAIL hides another; a gate that
needs ranks or devices which another gate found undefined does not guess them; a trial without a usable value for a
selection key is INCONCLUSIVE. Gates are run as data: nothing here knows a gate by name. Not handled: the order among
trials (``planner.selection``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from planner.gates import GATES
from planner.gates.base import EVERY_LOAD_POINT, Ask, Finding, Gate, Limit, Owed, Standing
from planner.gates.slo import THROUGHPUT_READS
from planner.identity import IdentityComparison
from planner.keys import PER_DEVICE, PER_MILLION, key_value
from planner.outcomes import Line, gate_outcome, pointed_at, points_into, worst_of
from planner.records.plan import Candidate, GateOutcome, OrderKey, State, Value
from planner.view import TrialView

ALWAYS = "always"
HINTS: Mapping[str, str] = {gate.id: gate.hint for gate in GATES if gate.hint}

KEY_READS: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    PER_DEVICE: THROUGHPUT_READS[:2],
    "output_tokens_per_s": THROUGHPUT_READS[:2],
    PER_MILLION: THROUGHPUT_READS[:2],
    "ttft": (("load.ttft_ms", ()),),
}
"""Evidence that a measured key reads: its metrics, each with the members it needs."""

Findings = dict[str, dict[str, Finding]]

FINE = frozenset({"PASS", "NOT_APPLICABLE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A gate that says something under a contract: its limits, or what is owed where it is always on.

    ``lines`` say how each limit is written down, ``reads`` which load points it reads. ``of_placement`` says that
    trials placed alike share what it finds, ``is_shared`` that those do at least which ran one identity.
    """

    gate: Gate
    limits: dict[str, Limit | Standing]
    lines: Mapping[str, Line]
    reads: Mapping[str, frozenset[str]]
    of_placement: bool
    is_shared: bool


class Shared(Struct, gc=False):
    """What gates found for one trial, for all that share it: those placed alike that ran one identity.

    ``at`` is the pointer of that one, ``identity`` what it ran, held so that nothing else gets its id. ``odd`` are
    gates that FAIL or are UNKNOWN; ``undefined`` is what no gate may rely on. ``outcomes`` are as a plan has
    them, with those of gates that say nothing, ``pointing`` those among them that point into the trial; they are
    written when they are asked for.
    """

    at: str
    identity: IdentityComparison
    findings: Findings
    odd: frozenset[str]
    undefined: Mapping[str, str]
    outcomes: dict[str, GateOutcome]
    pointing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Docket:
    """What judging every trial of one contract shares: gates in the order in which they run.

    ``grounds`` are those that others stand on, ``shared`` the others of which trials share what they find, and ``own``
    those that look at every trial. ``speaking`` are all that run, in the order in which gates are listed, and ``names``
    their ids. ``silent`` is what the plan has for every gate before one speaks. ``keys`` are those of the order, each
    with its label; ``order`` is held so that nothing else gets its id.
    """

    order: tuple[OrderKey, ...]
    keys: tuple[tuple[str, OrderKey], ...]
    grounds: tuple[Called, ...]
    shared: tuple[Called, ...]
    own: tuple[Called, ...]
    speaking: tuple[Called, ...]
    names: tuple[str, ...]
    silent: Mapping[str, GateOutcome]


class Verdict(Struct, frozen=True, kw_only=True, gc=False):
    """One trial, judged: all that is decided about it, no sentence written yet.

    ``failing`` and ``unknown`` are gates in their order; ``keys`` has the trial's value of every selection key.
    Findings that trials share have the pointers of one of them; they are as ``shared`` has them unless the trial
    ``is_doubted``.
    """

    view: TrialView
    docket: Docket
    shared: Shared
    is_doubted: bool
    findings: Findings
    state: State
    failing: tuple[str, ...]
    unknown: tuple[str, ...]
    keys: dict[str, Value]
    missing_keys: tuple[str, ...]

    @property
    def topology(self) -> str:
        """The name made of degrees."""
        return self.view.placed.name


def judge(view: TrialView, order: tuple[OrderKey, ...]) -> Candidate:
    """Judge a trial by every gate, read its value of every selection key, and write it all down."""
    return recorded(weigh(view, order))


def weigh(view: TrialView, order: tuple[OrderKey, ...]) -> Verdict:
    """Judge a trial by every gate and read its value of every selection key."""
    docket = docket_of(view, order)
    shared = _shared(view, docket)
    findings, odd = dict(shared.findings), shared.odd
    for called in docket.own:
        found = findings[called.gate.id] = _run(called, view, shared.undefined)
        for finding in found.values():
            if finding.outcome not in FINE:
                odd |= {called.gate.id}
    is_doubted = bool(odd) and _spread(docket, findings, odd)
    failing, unknown = _not_passed(docket, findings, _odd(findings) if is_doubted else odd)
    keys = {label: key_value(view, key) for label, key in docket.keys}
    missing_keys = tuple([name for name, value in keys.items() if value is None])
    return Verdict(
        view=view,
        docket=docket,
        shared=shared,
        is_doubted=is_doubted,
        findings=findings,
        state=state_of(failing, unknown, missing_keys),
        failing=failing,
        unknown=unknown,
        keys=keys,
        missing_keys=missing_keys,
    )


def _odd(findings: Findings) -> frozenset[str]:
    """Return the gates that FAIL or are UNKNOWN."""
    return frozenset(
        gate for gate, found in findings.items() for finding in found.values() if finding.outcome not in FINE
    )


def _not_passed(docket: Docket, findings: Findings, odd: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the gates that FAIL, and the others that are UNKNOWN, in their order; ``odd`` are all of them."""
    if not odd:
        return (), ()
    outcomes = {gate: worst_of(findings[gate]) for gate in docket.names if gate in odd}
    failing = tuple([gate for gate, outcome in outcomes.items() if outcome == "FAIL"])
    return failing, tuple([gate for gate in outcomes if gate not in failing])


def recorded(verdict: Verdict) -> Candidate:
    """Write down a verdict as the plan has it."""
    view = verdict.view
    placed = view.placed
    groups = None if "groups" in verdict.shared.undefined else placed.topology_groups
    return Candidate(
        trial_content_id=view.content_id,
        topology=placed.name,
        layout=view.trial.topology.layout,
        ranks=view.ranks,
        nodes=len(placed.ranks_per_node),
        ranks_per_node=tuple(placed.ranks_per_node.values()),
        serving_groups=None if groups is None else placed.serving_groups,
        charged_devices=len(placed.charge.devices),
        stranded_devices=len(placed.charge.stranded),
        rank_map_digest=placed.rank_map_digest,
        groups_from="undefined" if groups is None else groups.source,
        state=verdict.state,
        failing=verdict.failing,
        unknown=verdict.unknown,
        gates=_outcomes(verdict),
        keys=verdict.keys,
        missing_keys=verdict.missing_keys,
        hints=tuple([HINTS[name] for name in verdict.failing if name in HINTS]),
    )


def restated(candidate: Candidate, gates: Mapping[str, GateOutcome], keys: Mapping[str, Value]) -> Candidate:
    """Return a candidate with other outcomes of limits and other keys, and what follows from them."""
    judged = {name: replace(gate, outcome=worst_of(gate.limits)) for name, gate in gates.items()}
    failing = tuple(name for name, gate in judged.items() if gate.outcome == "FAIL")
    unknown = tuple(name for name, gate in judged.items() if gate.outcome == "UNKNOWN")
    missing_keys = tuple(name for name, value in keys.items() if value is None)
    return replace(
        candidate,
        state=state_of(failing, unknown, missing_keys),
        failing=failing,
        unknown=unknown,
        gates=judged,
        keys=dict(keys),
        missing_keys=missing_keys,
        hints=tuple(HINTS[name] for name in failing if name in HINTS),
    )


def state_of(failing: tuple[str, ...], unknown: tuple[str, ...], missing_keys: tuple[str, ...]) -> State:
    """Return the state of a trial with these failing and unknown gates."""
    if failing:
        return "REJECTED"
    return "INCONCLUSIVE" if unknown or missing_keys else "ELIGIBLE"


# Running the gates


def docket_of(view: TrialView, order: tuple[OrderKey, ...]) -> Docket:
    """Return what judging every trial of the view's contract shares."""
    return view.ground.kept.once(("docket", id(order)), lambda: _docket(view, order))


def finding_of(view: TrialView, docket: Docket, called: Called, limit_id: str) -> Finding:
    """Return what a gate alone says of one limit, whatever others doubt."""
    if called.is_shared:
        return _shared(view, docket).findings[called.gate.id][limit_id]
    return called.gate.rule(view, called.limits[limit_id])


def _docket(view: TrialView, order: tuple[OrderKey, ...]) -> Docket:
    standing = Standing(owed=tuple(owed_evidence(view, order)))
    called = [_called(view, gate, standing) for gate in GATES if gate.limit is None or view.limits.get(gate.id)]
    return Docket(
        order=order,
        keys=tuple((key.label, key) for key in order),
        grounds=tuple(entry for entry in called if entry.gate.grounds),
        shared=tuple(entry for entry in called if entry.is_shared and not entry.gate.grounds),
        own=tuple(entry for entry in called if not entry.is_shared),
        speaking=tuple(called),
        names=tuple(entry.gate.id for entry in called),
        silent={gate.id: GateOutcome(family=gate.family, outcome="NOT_DECLARED", limits={}) for gate in GATES},
    )


def _called(view: TrialView, gate: Gate, standing: Standing) -> Called:
    declared = view.limits.get(gate.id, {})
    of_placement = gate.of_placement is True or (
        callable(gate.of_placement) and all(map(gate.of_placement, declared.values()))
    )
    limits: dict[str, Limit | Standing] = {ALWAYS: standing} if gate.limit is None else dict(declared)
    return Called(
        gate=gate,
        limits=limits,
        lines={name: Line(gate, name, limit) for name, limit in limits.items()},
        reads={name: frozenset(ask.load_point for ask in limit.asks()) for name, limit in declared.items()},
        of_placement=of_placement,
        is_shared=of_placement or gate.of_identity,
    )


def _shared(view: TrialView, docket: Docket) -> Shared:
    # What was run is compared once for all trials that ran it, so that the same object means the same identity.
    return view.placed.kept.once(("shared", id(view.identity)), lambda: _found_for_all(view, docket))


def _found_for_all(view: TrialView, docket: Docket) -> Shared:
    """Run the gates that others stand on, then the rest of those of which trials share what they find."""
    found: Findings = {called.gate.id: _run(called, view, {}) for called in docket.grounds}
    undefined = _undefined(docket, found)
    found |= {called.gate.id: _run(called, view, undefined) for called in docket.shared}
    return Shared(at=view.at, identity=view.identity, findings=found, odd=_odd(found), undefined=undefined, outcomes={})


def _run(called: Called, view: TrialView, undefined: Mapping[str, str]) -> dict[str, Finding]:
    gate = called.gate
    lacking = next((undefined[ground] for ground in gate.needs if ground in undefined), None) if undefined else None
    if lacking is not None:
        return {name: Finding(outcome="UNKNOWN", sentence=lacking) for name in called.limits}
    return {name: gate.rule(view, limit) for name, limit in called.limits.items()}


def _outcomes(verdict: Verdict) -> dict[str, GateOutcome]:
    """Write down what gates say of a trial; what trials share is written once, and pointed at each of them."""
    view, docket, shared, findings = verdict.view, verdict.docket, verdict.shared, verdict.findings
    if not shared.outcomes:
        _write_for_all(docket, shared)
    gates, at = dict(shared.outcomes), view.at
    if verdict.is_doubted:
        for called in docket.shared:
            gates[called.gate.id] = gate_outcome(called.gate.family, called.lines, findings[called.gate.id])
    if at != shared.at:
        for name in shared.pointing:
            gates[name] = pointed_at(gates[name], shared.at, at)
    for called in docket.own:
        gates[called.gate.id] = gate_outcome(called.gate.family, called.lines, findings[called.gate.id])
    return gates


def _write_for_all(docket: Docket, shared: Shared) -> None:
    said = {
        called.gate.id: gate_outcome(called.gate.family, called.lines, shared.findings[called.gate.id])
        for called in (*docket.grounds, *docket.shared)
    }
    shared.outcomes = {**docket.silent, **said}
    shared.pointing = tuple(name for name, outcome in said.items() if points_into(outcome, shared.at))


def _undefined(docket: Docket, findings: Findings) -> dict[str, str]:
    """Say what no gate may rely on, because the gate that establishes it failed."""
    return {
        gate.grounds: f"{'Ranks' if gate.grounds == 'groups' else 'Devices'} undefined: {gate.id} failed."
        for gate in (called.gate for called in docket.grounds)
        if gate.grounds and findings[gate.id][ALWAYS].outcome == "FAIL"
    }


def owed_evidence(view: TrialView, order: tuple[OrderKey, ...]) -> Iterator[Owed]:
    """List the evidence that declared limits and selection keys read."""
    for gate in GATES:
        for name, limit in view.limits.get(gate.id, {}).items():
            for ask in limit.asks():
                yield Owed(ask=ask, origin=f"/gates/{gate.id}/{name}")
    for key in order:
        for metric, fields in KEY_READS.get(key.key, ()):
            wanted = ("n", key.statistic) if key.key == "ttft" and key.statistic else fields
            yield Owed(ask=Ask(metric=metric, load_point=key.load_point or "", fields=wanted), origin="/selection")


def _spread(docket: Docket, findings: Findings, odd: frozenset[str]) -> bool:
    """Make UNKNOWN whatever reads a load point whose measurements another gate could not vouch for, if any does."""
    doubted = {
        gate: finding.spreads_to
        for gate in docket.names
        if gate in odd
        for finding in findings[gate].values()
        if finding.spreads_to and finding.outcome == "UNKNOWN"
    }
    if doubted:
        for called in (*docket.shared, *docket.own):
            findings[called.gate.id] = {
                name: _distrusted(finding, _doubts(called, name, doubted))
                for name, finding in findings[called.gate.id].items()
            }
    return bool(doubted)


def _doubts(called: Called, limit: str, doubted: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Name the gates that leave this limit's measurements without a voucher."""
    read = called.reads.get(limit)
    return tuple(
        name
        for name, load_points in doubted.items()
        if name != called.gate.id and read and (load_points == EVERY_LOAD_POINT or not read.isdisjoint(load_points))
    )


def _distrusted(finding: Finding, doubts: tuple[str, ...]) -> Finding:
    if not doubts or finding.outcome == "NOT_APPLICABLE":
        return finding
    doubted = f"{' and '.join(doubts)} {'is' if len(doubts) == 1 else 'are'} UNKNOWN"
    would = finding.outcome if finding.outcome in ("PASS", "FAIL") else finding.would
    return replace(
        finding, outcome="UNKNOWN", sentence=lambda: f"{finding.text} Not usable while {doubted}.", would=would
    )
