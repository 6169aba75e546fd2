"""Who approved what was put into force: the predicate ``topology-review`` (docs/reference/topology-review.md).

What it says is what the verifier replays from the entries of the log, nothing else.
"""

from collections.abc import Mapping
from typing import Any

from reviews.statements.intoto import named, statement
from reviews.statements.planning import PlannedFacts

TOPOLOGY_REVIEW = "urn:topogate:predicate:topology-review:v1"


def topology_review(facts: PlannedFacts, *, origin: str, entry: int, review: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statement about an activation; ``entry`` is its seq, ``review`` what the log says there."""
    predicate = {
        "log": origin,
        "entry": entry,
        "slot": facts.slot,
        "policy": facts.policy,
        "planner_version": facts.planner_version,
        **review,
    }
    return statement([named(facts.label, facts.subject), named("plan", facts.plan)], TOPOLOGY_REVIEW, predicate)
