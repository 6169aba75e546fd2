"""Why each degree of the selected topology is above one, and what it costs.

Rules kept (domain 6, settled question 36): a degree is justified only by a smaller *measured* trial of the same
identity and layout that failed a gate of a named constraint; whatever was not measured is said to be so, never
argued; the baseline is always stated as measured or not. Engines whose expert degree reuses tensor or data ranks
are compared with the same number of ranks. A topology of unequal instances counts with the largest degree of each
axis. Not handled: tenancy, for which no gate exists.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from planner.figures import number, percent
from planner.needs import RESOLVED_BY
from planner.numbers import plain, rounded
from planner.order import Order
from planner.records.base import UnsetType
from planner.records.contract import Model
from planner.records.evidence import Evidence, Topology
from planner.records.plan import Candidate, Justified, Reason, Value
from planner.selection import topology_integers

__all__ = ["Justification", "baseline_trial", "justify"]

AXES = ("pp", "tp", "ep", "cp", "dp", "instances")
SHOWN_AT_ONE = frozenset({"pp", "tp", "ep", "dp"})


_NAMED = re.compile(r"Smallest measured trial: (\S+) \(")


@dataclass(frozen=True, slots=True, kw_only=True)
class Justification:
    """Reasons axis by axis (none without a winner), and the sentence on the baseline."""

    reasons: tuple[Reason, ...]
    baseline: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    id: str
    candidate: Candidate
    layout: str
    degrees: Mapping[str, int]
    identity: bytes


def justify(
    evidence: Evidence, candidates: Mapping[str, Candidate], model: Model, order: Order, winner: str | None
) -> Justification:
    """Give the reason for every degree of the winner, and say what the smallest measured trial could not do."""
    trials = _trials(evidence, candidates)
    if winner is None:
        return Justification(reasons=(), baseline=_baseline(list(trials.values())))
    own = trials[winner]
    peers = [trial for trial in trials.values() if (trial.layout, trial.identity) == (own.layout, own.identity)]
    reasons = (
        _reason(axis, own, peers, model, order) for axis in AXES if own.degrees[axis] > 1 or axis in SHOWN_AT_ONE
    )
    return Justification(reasons=tuple(reasons), baseline=_baseline(peers))


def _trials(evidence: Evidence, candidates: Mapping[str, Candidate]) -> dict[str, _Trial]:
    identities = {name: msgspec.json.encode(body, order="sorted") for name, body in evidence.identities.items()}
    return {
        trial_id: _Trial(
            id=trial_id,
            candidate=candidates[trial_id],
            layout=trial.topology.layout,
            degrees=_degrees(trial.topology),
            identity=identities[trial.identity_id],
        )
        for trial_id, trial in sorted(evidence.trials.items())
    }


def _degrees(topology: Topology) -> dict[str, int]:
    instances = topology.instances
    return {
        "pp": max(instance.pp for instance in instances),
        "tp": max(instance.tp for instance in instances),
        "ep": max(instance.ep for instance in instances),
        "cp": max(1 if isinstance(instance.cp, UnsetType) else instance.cp for instance in instances),
        "dp": max(instance.dp for instance in instances),
        "instances": len(instances),
    }


def _reason(axis: str, own: _Trial, peers: list[_Trial], model: Model, order: Order) -> Reason:
    degree = own.degrees[axis]
    if degree == 1:
        return Reason(axis=axis, degree=1, verdict="NOT_NEEDED", sentence=f"{axis} is 1: nothing to justify.")
    smaller = _nearest(axis, own, peers)
    gaps = _gaps(axis, degree, 0 if smaller is None else smaller.degrees[axis], peers, model)
    if smaller is None:
        sentence = f"{axis} {degree} is unjustified: no measured trial has a smaller {axis} and nothing larger."
        return Reason(
            axis=axis, degree=degree, verdict="UNJUSTIFIED", gaps=gaps, sentence=sentence + _gap_text(axis, gaps)
        )
    verdict = _verdict(axis, degree, smaller)
    costs = _costs(own, smaller, order)
    return msgspec.structs.replace(
        verdict,
        gaps=gaps,
        sentence=f"{verdict.sentence} {_cost_text(costs, order)}{_gap_text(axis, gaps)}",
        gain=costs.gain,
        extra_devices=costs.devices,
        extra_group_ranks=costs.group_ranks,
        communication_share=costs.communication_share,
    )


def _nearest(axis: str, own: _Trial, peers: list[_Trial]) -> _Trial | None:
    """Return the predecessor with the largest degree of the axis, then with most axes equal."""
    return min(
        (peer for peer in peers if _is_smaller(axis, peer, own)),
        key=lambda peer: (
            -peer.degrees[axis],
            -sum(peer.degrees[other] == own.degrees[other] for other in AXES),
            topology_integers(peer.candidate.topology),
            peer.candidate.trial_content_id,
        ),
        default=None,
    )


def _is_smaller(axis: str, peer: _Trial, own: _Trial) -> bool:
    if peer.degrees[axis] >= own.degrees[axis]:
        return False
    if axis == "ep" and own.layout != "closed" and peer.candidate.ranks != own.candidate.ranks:
        return False
    return all(peer.degrees[other] <= own.degrees[other] for other in AXES)


def _verdict(axis: str, degree: int, smaller: _Trial) -> Reason:
    """Judge by the state of the nearest smaller trial.

    The winner passes equal_service with the same identity, so a FAIL there is about the number of accelerators alone
    and does not disqualify the smaller trial.
    """
    candidate = smaller.candidate
    failing = tuple(gate for gate in candidate.failing if gate != "equal_service")
    resolved = {name: tuple(gate for gate in gates if gate in failing) for name, gates in RESOLVED_BY.items()}
    constraints = tuple(name for name, gates in resolved.items() if gates)
    against = f"{smaller.id} ({candidate.topology})"
    verdict: Justified = "PREFERENCE"
    gates: tuple[str, ...] = ()
    count = "" if candidate.state == "ELIGIBLE" else ", but for the number of accelerators"
    text = f"is a preference: {against} passes every declared gate{count}."
    if constraints:
        verdict, gates = "RESOLVES", tuple(gate for name in constraints for gate in resolved[name])
        text = f"resolves {' and '.join(constraints)}: {against} fails {', '.join(gates)}."
    elif failing:
        verdict, gates = "UNJUSTIFIED", failing
        text = f"is unjustified: {against} fails only {', '.join(failing)}."
    elif candidate.unknown or candidate.missing_keys:
        verdict, gates = "UNPROVEN", candidate.unknown
        keys = (f"key {key}" for key in candidate.missing_keys)
        text = f"is unproven: {against} is unknown in {', '.join((*candidate.unknown, *keys))}."
    return Reason(
        axis=axis,
        degree=degree,
        verdict=verdict,
        constraints=constraints,
        against=smaller.id,
        gates=gates,
        sentence=f"{axis} {degree} {text}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Costs:
    gain: Value
    devices: int
    group_ranks: int | None
    communication_share: Value


def _costs(own: _Trial, smaller: _Trial, order: Order) -> _Costs:
    groups = [_largest_group(trial.candidate) for trial in (own, smaller)]
    return _Costs(
        gain=_gain(own.candidate, smaller.candidate, order),
        devices=own.candidate.charged_devices - smaller.candidate.charged_devices,
        group_ranks=None if groups[0] is None or groups[1] is None else groups[0] - groups[1],
        communication_share=_communication_share(own.candidate),
    )


def _largest_group(candidate: Candidate) -> int | None:
    return None if candidate.serving_groups is None else max(map(len, candidate.serving_groups), default=None)


def _gain(own: Candidate, smaller: Candidate, order: Order) -> Value:
    """Return the relative gain on the first key, positive where the winner is better; None where it has no meaning."""
    key = order.keys[0]
    ours, theirs = number(own.keys.get(key.label)), number(smaller.keys.get(key.label))
    if ours is None or not theirs:
        return None
    change = (ours - theirs) / theirs
    return plain(change if key.direction == "desc" else -change)


def _communication_share(candidate: Candidate) -> Value:
    gate = candidate.gates.get("communication_share")
    readings = [] if gate is None else [limit.measured for limit in gate.limits.values()]
    known = [reading for reading in map(number, readings) if reading is not None]
    return plain(max(known)) if known else None


def _cost_text(costs: _Costs, order: Order) -> str:
    parts = [f"charged devices {_signed(costs.devices)}"]
    if costs.group_ranks is not None:
        parts.append(f"ranks of the largest serving group {_signed(costs.group_ranks)}")
    gain, share = number(costs.gain), number(costs.communication_share)
    if gain is not None:
        parts.append(f"gain on {order.keys[0].label} {percent(gain)}")
    parts.append(f"communication share {'not measured' if share is None else rounded(share, 3)}")
    return f"Compared with it: {', '.join(parts)}."


def _signed(value: int) -> str:
    return f"+{value}" if value > 0 else str(value).replace("-", "−")


def _gaps(axis: str, degree: int, measured: int, peers: list[_Trial], model: Model) -> tuple[int, ...]:
    """List the degrees below ``degree`` and above ``measured`` that would divide the model and nobody measured."""
    known = {peer.degrees[axis] for peer in peers}
    return tuple(
        between for between in range(measured + 1, degree) if between not in known and _divides(axis, between, model)
    )


def _divides(axis: str, degree: int, model: Model) -> bool:
    counts = {"tp": model.attention_heads, "pp": model.layers, "ep": model.experts}
    count = counts.get(axis)
    return not isinstance(count, int) or count % degree == 0


def _gap_text(axis: str, gaps: tuple[int, ...]) -> str:
    return f" {axis} {', '.join(map(str, gaps))} not measured." if gaps else ""


def _baseline(peers: list[_Trial]) -> str:
    """Say whether one device was measured, and what first does not fit in the smallest measured trial."""
    smallest = min(
        peers,
        key=lambda peer: (
            peer.candidate.ranks,
            topology_integers(peer.candidate.topology),
            peer.candidate.trial_content_id,
        ),
    )
    candidate = smallest.candidate
    one = "measured" if candidate.ranks == 1 else "not measured"
    ranks = "1 rank" if candidate.ranks == 1 else f"{candidate.ranks} ranks"
    name = f"{smallest.id} ({candidate.topology}, {ranks})"
    return f"One-device baseline: {one}. Smallest measured trial: {name}, {_first_unfit(candidate)}."


def baseline_trial(baseline: str) -> str | None:
    """Return the trial that a plan's sentence on the baseline names, None where it names none."""
    named = _NAMED.search(baseline)
    return named[1] if named else None


def _first_unfit(candidate: Candidate) -> str:
    for constraint, gates in RESOLVED_BY.items():
        for gate in gates:
            if gate in candidate.failing:
                return f"where {constraint} does not fit first ({gate} fails)"
    if candidate.failing:
        return f"rejected by {', '.join(candidate.failing)}"
    if candidate.state == "INCONCLUSIVE":
        return "inconclusive"
    return "which passes every declared gate"
