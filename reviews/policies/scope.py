"""What a team signs for: the part of a revision that it owns, as one digest.

Two revisions with equal scope digests show the team the same values, outcomes and margins under the same policy and
planner with the same selected topology. The digests of whole documents are no part of it: they change with every
upload and nothing could ever be found equal.
"""

from typing import Any

from planner.identity import leaves
from planner.pointers import joined
from reviews.policies.document import PolicyDocument, gate_owner, identity_owner


def team_scope(
    *, document: PolicyDocument, policy_id: str, team: str, identity: dict[str, Any], plan: dict[str, Any]
) -> dict[str, Any]:
    """Return the JSON value whose content id is the scope digest.

    ``identity`` is the contract's identity, ``plan`` the plan, both as plain JSON values.
    """
    selected = plan["selected"]
    return {
        "team": team,
        "policy": policy_id,
        "planner_version": plan["planner_version"],
        "decision": plan["decision"],
        "identity": {
            pointer: value
            for path, value in leaves(identity)
            for pointer in (joined(path),)
            if identity_owner(document, pointer) == team
        },
        "gates": {
            trial: {
                gate: outcome
                for gate, outcome in candidate["gates"].items()
                if gate_owner(document, outcome["family"]) == team
            }
            for trial, candidate in plan["candidates"].items()
        },
        "selected": selected and {key: selected[key] for key in ("topology", "rank_map_digest", "rank_map")},
    }
