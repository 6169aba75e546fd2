"""Judge one trial: run every gate, spread what is UNKNOWN, and say what state the trial is in.

Rules kept (spec 2.0): UNKNOWN spreads along what a gate reads and FAIL does not; no FAIL hides another; a gate that
needs ranks or devices which another gate found undefined does not guess them; a trial without a usable value for a
selection key is INCONCLUSIVE. Gates are run as data: nothing here knows a gate by name. Not handled: the order among
trials (``planner.selection``).
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from msgspec.structs import replace

from planner import rankmap
from planner.gates import GATES
from planner.gates.base import EVERY_LOAD_POINT, Ask, Finding, Gate, Limit, Owed, Quantity, Standing
from planner.gates.slo import THROUGHPUT_READS
from planner.keys import key_value
from planner.numbers import plain
from planner.records.plan import Candidate, GateOutcome, LimitOutcome, OrderKey, Outcome, State, Value
from planner.view import TrialView

ALWAYS = "always"
WORST_FIRST: tuple[Outcome, ...] = ("FAIL", "UNKNOWN", "PASS", "NOT_APPLICABLE")

KEY_READS: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "output_tokens_per_s_per_charged_device": THROUGHPUT_READS[:2],
    "output_tokens_per_s": THROUGHPUT_READS[:2],
    "usd_per_million_output_tokens": THROUGHPUT_READS[:2],
    "ttft": (("load.ttft_ms", ()),),
}
"""Evidence that a measured key reads: its metrics, each with the members it needs."""

Findings = dict[str, dict[str, Finding]]


def judge(view: TrialView, order: tuple[OrderKey, ...]) -> Candidate:
    """Judge a trial by every gate and read its value of every selection key."""
    findings = _findings(view, order)
    gates = {gate.id: _gate_outcome(gate, view, findings[gate.id]) for gate in GATES}
    failing = tuple(name for name, outcome in gates.items() if outcome.outcome == "FAIL")
    unsure = tuple(name for name, outcome in gates.items() if outcome.outcome == "UNKNOWN")
    undefined = _undefined(findings)
    keys = {key.key: key_value(view, key) for key in order}
    missing_keys = tuple(name for name, value in keys.items() if value is None)
    groups = None if "groups" in undefined else view.topology_groups
    return Candidate(
        trial_content_id=view.content_id,
        topology=rankmap.derived_name(view.trial.topology),
        layout=view.trial.topology.layout,
        ranks=view.ranks,
        nodes=len(view.ranks_per_node),
        ranks_per_node=tuple(view.ranks_per_node.values()),
        serving_groups=None if groups is None else view.serving_groups,
        charged_devices=len(view.charge.devices),
        stranded_devices=len(view.charge.stranded),
        rank_map_digest=rankmap.rank_map_digest(view.trial.rank_map),
        groups_from="undefined" if groups is None else groups.source,
        state=_state(failing, unsure, missing_keys),
        failing=failing,
        unknown=unsure,
        gates=gates,
        keys=keys,
        missing_keys=missing_keys,
        hints=tuple(gate.hint for gate in GATES if gate.id in failing and gate.hint),
    )


def _state(failing: tuple[str, ...], unsure: tuple[str, ...], missing_keys: tuple[str, ...]) -> State:
    if failing:
        return "REJECTED"
    return "INCONCLUSIVE" if unsure or missing_keys else "ELIGIBLE"


# Running the gates


def _findings(view: TrialView, order: tuple[OrderKey, ...]) -> Findings:
    """Run the gates that others stand on first, then the rest, then spread UNKNOWN."""
    standing = Standing(owed=tuple(owed_evidence(view, order)))
    found: Findings = {gate.id: _run(gate, view, standing, {}) for gate in GATES if gate.grounds}
    undefined = _undefined(found)
    found |= {gate.id: _run(gate, view, standing, undefined) for gate in GATES if not gate.grounds}
    return _spread(found, view)


def _run(gate: Gate, view: TrialView, standing: Standing, undefined: Mapping[str, str]) -> dict[str, Finding]:
    lacking = next((undefined[ground] for ground in gate.needs if ground in undefined), None)
    limits = {ALWAYS: standing} if gate.limit is None else view.limits.get(gate.id, {})
    if lacking is not None:
        return {name: Finding(outcome="UNKNOWN", sentence=lacking) for name in limits}
    return {name: gate.rule(view, limit) for name, limit in limits.items()}


def _undefined(findings: Findings) -> dict[str, str]:
    """Say what no gate may rely on, because the gate that establishes it failed."""
    return {
        gate.grounds: f"{'Ranks' if gate.grounds == 'groups' else 'Devices'} undefined: {gate.id} failed."
        for gate in GATES
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


def _spread(findings: Findings, view: TrialView) -> Findings:
    """Make UNKNOWN whatever reads a load point whose measurements another gate could not vouch for."""
    doubted = {
        gate.id: finding.spreads_to
        for gate in GATES
        for finding in findings[gate.id].values()
        if finding.outcome == "UNKNOWN" and finding.spreads_to
    }
    if not doubted:
        return findings
    return {
        gate.id: {
            name: _distrusted(finding, _doubts(gate, view.limits.get(gate.id, {}).get(name), doubted))
            for name, finding in findings[gate.id].items()
        }
        for gate in GATES
    }


def _doubts(gate: Gate, limit: Limit | None, doubted: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Name the gates that leave this limit's measurements without a voucher."""
    read = set() if limit is None else {ask.load_point for ask in limit.asks()}
    return tuple(
        name
        for name, load_points in doubted.items()
        if name != gate.id and read and (load_points == EVERY_LOAD_POINT or read & set(load_points))
    )


def _distrusted(finding: Finding, doubts: tuple[str, ...]) -> Finding:
    if not doubts or finding.outcome == "NOT_APPLICABLE":
        return finding
    doubted = f"{' and '.join(doubts)} {'is' if len(doubts) == 1 else 'are'} UNKNOWN"
    sentence = f"{finding.sentence} Not usable while {doubted}."
    would = finding.outcome if finding.outcome in ("PASS", "FAIL") else finding.would
    return replace(finding, outcome="UNKNOWN", sentence=sentence, would=would)


# Outcomes as the plan has them


def _gate_outcome(gate: Gate, view: TrialView, findings: Mapping[str, Finding]) -> GateOutcome:
    limits = {
        name: _limit_outcome(gate, name, finding, view.limits.get(gate.id, {}).get(name))
        for name, finding in findings.items()
    }
    outcomes = {limit.outcome for limit in limits.values()}
    worst: Outcome = next((outcome for outcome in WORST_FIRST if outcome in outcomes), "NOT_DECLARED")
    return GateOutcome(family=gate.family, outcome=worst, limits=limits)


def _limit_outcome(gate: Gate, name: str, finding: Finding, limit: Limit | None) -> LimitOutcome:
    return LimitOutcome(
        outcome=finding.outcome,
        sentence=finding.sentence,
        unit=finding.unit or gate.unit,
        measured=_value(finding.measured),
        comparator=finding.comparator or gate.comparator,
        limit=_value(finding.limit),
        margin=_value(finding.margin),
        margin_share=_margin_share(finding),
        would=finding.would,
        worst=dict(finding.worst),
        measured_at=finding.measured_at,
        limit_at=finding.limit_at or _limit_pointer(gate, name, finding, limit),
        missing=finding.missing,
        notes=finding.notes,
        because=None if limit is None else limit.because,
    )


def _limit_pointer(gate: Gate, name: str, finding: Finding, limit: Limit | None) -> str | None:
    if limit is None:
        return None
    at = f"/gates/{gate.id}/{name}"
    return f"{at}/{finding.limit_field}" if finding.limit_field else at


def _margin_share(finding: Finding) -> Value:
    margin, limit = finding.margin, finding.limit
    if not isinstance(margin, Fraction) or not isinstance(limit, Fraction) or limit == 0:
        return None
    return plain(margin / abs(limit))


def _value(value: Quantity) -> Value:
    return plain(value) if isinstance(value, Fraction) else value
