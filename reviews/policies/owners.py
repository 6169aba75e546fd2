"""Whose part of a document a field is: identity keys and gates have owners, everything else has none."""

from planner.gates import GATES
from planner.pointers import joined, steps
from reviews.policies.document import PolicyDocument, gate_owner, identity_owner

__all__ = ["field_owner", "limit_owner"]

_FAMILIES = {gate.id: gate.family for gate in GATES}


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
