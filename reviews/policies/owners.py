"""Whose part of a document a field is: identity keys and gates have owners, everything else has none."""

from planner.gates import GATES
from planner.pointers import joined, steps
from reviews.policies.document import PolicyDocument, gate_owner, identity_owner

__all__ = ["field_owner", "limit_owner", "observed_owner"]

_FAMILIES = {gate.id: gate.family for gate in GATES}
_GATE_OF = {
    "device_used_bytes": "memory_headroom",
    "kv_used_share": "kv_capacity",
    "queue_ms": "ttft",
    "ttft_ms": "ttft",
    "tpot_ms": "tpot",
    "itl_ms": "itl",
    "e2e_ms": "e2e",
    "step_ms": "straggler",
    "collective_ms": "communication_share",
    "arrival_lag_ms": "straggler",
    "all_to_all_ms": "all_to_all_tail",
    "stage_idle_share": "stage_balance",
    "expert_peak_to_mean": "expert_balance",
    "recovery_s": "recovery",
    "link_used_share": "link_utilization",
    "power_watts": "power",
}
"""Observed metric -> the gate that judges the same, for what drifts and has no limit."""


def field_owner(policy: PolicyDocument, pointer: str) -> str | None:
    """Return the team that owns a field of a contract or of evidence, None where no team does.

    Identity keys belong to their owners in the contract and as runs recorded them; limits to their gate's owner.
    """
    match steps(pointer):
        case ("identity", *path) | ("identities", _, *path) if path:
            return identity_owner(policy, joined(path))
        case ("gates", gate, *_) if gate in _FAMILIES:
            return limit_owner(policy, gate)
        case _:
            return None


def limit_owner(policy: PolicyDocument, gate: str) -> str:
    """Return the team that owns the limits of a gate."""
    return gate_owner(policy, _FAMILIES.get(gate, ""))


def observed_owner(policy: PolicyDocument, metric: str, limit_at: str) -> str:
    """Return the team that a value of production concerns: the limit's, else that of the gate that judges the like."""
    return field_owner(policy, limit_at) or limit_owner(policy, _GATE_OF.get(metric, ""))
