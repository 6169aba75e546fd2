"""Who approved what was put into force: the predicate ``topology-review`` (docs/reference/topology-review.md).

What it says is what the verifier replays from the entries of the log, nothing else.
"""

from collections.abc import Mapping
from typing import Any

from reviews.statements.intoto import named, statement
from reviews.statements.planning import PlannedFacts


def topology_review(facts: PlannedFacts, review: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statement about an activation; ``review`` is what it says, with type and subjects, as replayed."""
    predicate = {name: said for name, said in review.items() if name not in ("predicateType", "subject")}
    kind = review["predicateType"]
    return statement([named(facts.label, facts.subject), named("plan", facts.plan)], kind, predicate)
