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
from planner.outcomes import gate_outcome, pointed_at, points_into, worst_of
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A gate that says something under a contract: its limits, or what is owed where it is always on.

    ``reads`` are the load points that a limit reads. ``of_placement`` says that trials placed alike share what it
    finds, ``is_shared`` that those do at least which ran one identity.
    """

    gate: Gate
    limits: dict[str, Limit | Standing]
    reads: Mapping[str, frozenset[str]]
    of_placement: bool
    is_shared: bool


class Shared(Struct, gc=False):
    """What gates found for one trial, for all that share it: those placed alike that ran one identity.

    ``at`` is the pointer of that one, ``identity`` what it ran, held so that nothing else gets its id. ``outcomes`` are
    as a plan has them, each with whether it points into the trial; they are written when they are asked for.
    """

    at: str
    identity: IdentityComparison
    findings: Findings
    outcomes: dict[str, tuple[GateOutcome, bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Docket:
    """What judging every trial of one contract shares: gates in the order in which they run.

    ``grounds`` are those that others stand on. ``speaking`` are all that run, in the order in which gates are listed.
    ``silent`` is what the plan has for every gate before one speaks.
    """

    grounds: tuple[Called, ...]
    others: tuple[Called, ...]
    speaking: tuple[str, ...]
    silent: Mapping[str, GateOutcome]


class Verdict(Struct, frozen=True, kw_only=True, gc=False):
    """One trial, judged: all that is decided about it, no sentence written yet.

    ``failing`` and ``unknown`` are gates in their order; ``keys`` has the trial's value of every selection key.
    Findings that trials share have the pointers of one of them.
    """

    view: TrialView
    docket: Docket
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
    findings = _findings(view, docket)
    failing, unknown = _not_passed(docket, findings)
    keys = {key.label: key_value(view, key) for key in order}
    missing_keys = tuple([name for name, value in keys.items() if value is None])
    return Verdict(
        view=view,
        docket=docket,
        findings=findings,
        state=state_of(failing, unknown, missing_keys),
        failing=failing,
        unknown=unknown,
        keys=keys,
        missing_keys=missing_keys,
    )


def _not_passed(docket: Docket, findings: Findings) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the gates that FAIL, and the others that are UNKNOWN, in their order."""
    failing: list[str] = []
    unknown: list[str] = []
    for gate in docket.speaking:
        found = [finding.outcome for finding in findings[gate].values()]
        if "FAIL" in found:
            failing.append(gate)
        elif "UNKNOWN" in found:
            unknown.append(gate)
    return tuple(failing), tuple(unknown)


def recorded(verdict: Verdict) -> Candidate:
    """Write down a verdict as the plan has it."""
    view, docket, findings = verdict.view, verdict.docket, verdict.findings
    gates, shared = dict(docket.silent), _shared(view)
    for called in (*docket.grounds, *docket.others):
        gates[called.gate.id] = _spoken(called, view, shared, findings[called.gate.id])
    placed = view.placed
    groups = None if "groups" in _undefined(docket, findings) else placed.topology_groups
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
        gates=gates,
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
    return view.ground.kept.once(("docket", order), lambda: _docket(view, order))


def finding_of(called: Called, view: TrialView, limit_id: str) -> Finding:
    """Ask a gate for one limit, of a trial whose ranks and devices no gate found undefined."""
    return _run(called, view, {})[limit_id] if called.is_shared else called.gate.rule(view, called.limits[limit_id])


def _docket(view: TrialView, order: tuple[OrderKey, ...]) -> Docket:
    standing = Standing(owed=tuple(owed_evidence(view, order)))
    called = [_called(view, gate, standing) for gate in GATES if gate.limit is None or view.limits.get(gate.id)]
    return Docket(
        grounds=tuple(entry for entry in called if entry.gate.grounds),
        others=tuple(entry for entry in called if not entry.gate.grounds),
        speaking=tuple(entry.gate.id for entry in called),
        silent={gate.id: GateOutcome(family=gate.family, outcome="NOT_DECLARED", limits={}) for gate in GATES},
    )


def _called(view: TrialView, gate: Gate, standing: Standing) -> Called:
    declared = view.limits.get(gate.id, {})
    of_placement = gate.of_placement is True or (
        callable(gate.of_placement) and all(map(gate.of_placement, declared.values()))
    )
    return Called(
        gate=gate,
        limits={ALWAYS: standing} if gate.limit is None else dict(declared),
        reads={name: frozenset(ask.load_point for ask in limit.asks()) for name, limit in declared.items()},
        of_placement=of_placement,
        is_shared=of_placement or gate.of_identity,
    )


def _findings(view: TrialView, docket: Docket) -> Findings:
    """Run the gates that others stand on first, then the rest, then spread UNKNOWN."""
    found: Findings = {called.gate.id: _run(called, view, {}) for called in docket.grounds}
    undefined = _undefined(docket, found)
    for called in docket.others:
        found[called.gate.id] = _run(called, view, undefined)
    return _spread(docket, found)


def _run(called: Called, view: TrialView, undefined: Mapping[str, str]) -> dict[str, Finding]:
    gate = called.gate
    lacking = next((undefined[ground] for ground in gate.needs if ground in undefined), None) if undefined else None
    if lacking is not None:
        return {name: Finding(outcome="UNKNOWN", sentence=lacking) for name in called.limits}
    if not called.is_shared:
        return _asked(called, view)
    shared = _shared(view).findings
    if gate.id not in shared:
        shared[gate.id] = _asked(called, view)
    return shared[gate.id]


def _asked(called: Called, view: TrialView) -> dict[str, Finding]:
    return {name: called.gate.rule(view, limit) for name, limit in called.limits.items()}


def _shared(view: TrialView) -> Shared:
    # What was run is compared once for all trials that ran it, so that the same object means the same identity.
    return view.placed.kept.once(("shared", id(view.identity)), lambda: Shared(view.at, view.identity, {}, {}))


def _spoken(called: Called, view: TrialView, shared: Shared, found: dict[str, Finding]) -> GateOutcome:
    """Return what a gate says of a trial; what trials share is written once, and pointed at each of them."""
    gate = called.gate
    if not called.is_shared:
        return gate_outcome(gate, called.limits, found)
    if found is not shared.findings.get(gate.id):
        # Another gate puts them in doubt for this trial.
        return pointed_at(gate_outcome(gate, called.limits, found), shared.at, view.at)
    if gate.id not in shared.outcomes:
        outcome = gate_outcome(gate, called.limits, found)
        shared.outcomes[gate.id] = outcome, points_into(outcome, shared.at)
    outcome, is_pointing = shared.outcomes[gate.id]
    return pointed_at(outcome, shared.at, view.at) if is_pointing else outcome


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


def _spread(docket: Docket, findings: Findings) -> Findings:
    """Make UNKNOWN whatever reads a load point whose measurements another gate could not vouch for."""
    doubted = {
        gate: finding.spreads_to
        for gate, found in findings.items()
        for finding in found.values()
        if finding.spreads_to and finding.outcome == "UNKNOWN"
    }
    if doubted:
        for called in docket.others:
            findings[called.gate.id] = {
                name: _distrusted(finding, _doubts(called, name, doubted))
                for name, finding in findings[called.gate.id].items()
            }
    return findings


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
