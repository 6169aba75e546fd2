"""Judge one trial: run every gate, spread what is UNKNOWN, and say what state the trial is in.

Rules kept (spec 2.0): UNKNOWN spreads along what a gate reads and FAIL does not; no FAIL hides another; a gate that
needs ranks or devices which another gate found undefined does not guess them; a trial without a usable value for a
selection key is INCONCLUSIVE. Gates are run as data: nothing here knows a gate by name. Not handled: the order among
trials (``planner.selection``).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat

from msgspec import Struct
from msgspec.structs import replace

from planner.docket import ALWAYS, Called, Docket, docket_of
from planner.gates import GATES
from planner.gates.base import EVERY_LOAD_POINT, Finding
from planner.identity import IdentityComparison
from planner.keys import key_value
from planner.outcomes import gate_outcome, pointed_at, points_into, worst_of
from planner.records.plan import Candidate, GateOutcome, OrderKey, State, Value
from planner.view import TrialView

HINTS: Mapping[str, str] = {gate.id: gate.hint for gate in GATES if gate.hint}

Findings = dict[str, dict[str, Finding]]

FINE = frozenset({"PASS", "NOT_APPLICABLE"})


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
    return judge_each((view,), order)[0]


def judge_each(views: Sequence[TrialView], order: tuple[OrderKey, ...]) -> list[Candidate]:
    """Judge trials of one contract, each by itself.

    They go through the gates together, a gate at a time: the processor then has its code at hand for all of them, which
    saves a sixth of the time.
    """
    return _recorded_each([*weigh_each(views, order)])


def weigh(view: TrialView, order: tuple[OrderKey, ...]) -> Verdict:
    """Judge a trial by every gate and read its value of every selection key."""
    return next(weigh_each((view,), order))


def weigh_each(views: Sequence[TrialView], order: tuple[OrderKey, ...]) -> Iterator[Verdict]:
    """Judge trials of one contract, each by itself, and read their values of every selection key."""
    docket = docket_of(views[0], order)
    shared = [_shared(view, docket) for view in views]
    found = [dict(each.findings) for each in shared]
    for called in docket.own:
        gate = called.gate.id
        for view, each, findings in zip(views, shared, found, strict=True):
            findings[gate] = _run(called, view, each.undefined)
    keys: list[dict[str, Value]] = [{} for _ in views]
    for label, key in docket.keys:
        for view, values in zip(views, keys, strict=True):
            values[label] = key_value(view, key)
    return map(_verdict, repeat(docket), views, shared, found, keys)


def _verdict(docket: Docket, view: TrialView, shared: Shared, findings: Findings, keys: dict[str, Value]) -> Verdict:
    odd = shared.odd.union(
        [
            called.gate.id
            for called in docket.own
            for finding in findings[called.gate.id].values()
            if finding.outcome not in FINE
        ]
    )
    is_doubted = bool(odd) and _spread(docket, findings, odd)
    failing, unknown = _not_passed(docket, findings, _odd(findings) if is_doubted else odd)
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
    return _recorded_each((verdict,))[0]


def _recorded_each(verdicts: Sequence[Verdict]) -> list[Candidate]:
    """Write down verdicts of one docket, a gate at a time."""
    gates = [_shared_outcomes(verdict) for verdict in verdicts]
    for called in verdicts[0].docket.own:
        name, family, lines = called.gate.id, called.gate.family, called.lines
        for verdict, outcomes in zip(verdicts, gates, strict=True):
            outcomes[name] = gate_outcome(family, lines, verdict.findings[name])
    return list(map(_candidate, verdicts, gates))


def _candidate(verdict: Verdict, gates: dict[str, GateOutcome]) -> Candidate:
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


def finding_of(view: TrialView, docket: Docket, called: Called, limit_id: str) -> Finding:
    """Return what a gate alone says of one limit, whatever others doubt."""
    if called.is_shared:
        return _shared(view, docket).findings[called.gate.id][limit_id]
    return called.gate.rule(view, called.limits[limit_id])


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


def _shared_outcomes(verdict: Verdict) -> dict[str, GateOutcome]:
    """Write down what gates say of a trial that other trials share; it is written once, and pointed at each of them."""
    docket, shared, at = verdict.docket, verdict.shared, verdict.view.at
    if not shared.outcomes:
        _write_for_all(docket, shared)
    gates = dict(shared.outcomes)
    if verdict.is_doubted:
        for called in docket.shared:
            gates[called.gate.id] = gate_outcome(called.gate.family, called.lines, verdict.findings[called.gate.id])
    if at != shared.at:
        for name in shared.pointing:
            gates[name] = pointed_at(gates[name], shared.at, at)
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
