"""What is in force, as of now: activations with their ends, and waivers that decisions rest on."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from reviews.models import Activation, Decision, DecisionState
from reviews.policies.validity import StateNow, state_now
from reviews.selectors.waivers import waivers_of

ENDING = (DecisionState.EFFECTIVE, DecisionState.EMERGENCY)
"""States that end by themselves."""


def activations_of(decision_ids: Iterable[int]) -> Mapping[int, Activation]:
    """Return decision id -> its last activation."""
    rows = Activation.objects.filter(revision__decision_id__in=list(decision_ids)).select_related(
        "revision", "person", "emergency"
    )
    return {row.revision.decision_id: row for row in rows.order_by("pk")}


def states_now(decisions: Sequence[Decision], now: datetime) -> Mapping[int, StateNow]:
    """Return decision id -> state as of now; two queries where something is in force, else none."""
    ending = [decision.pk for decision in decisions if decision.state in ENDING]
    activations = activations_of(ending) if ending else {}
    lapsed = lapsed_waivers(ending, activations, now) if ending else {}
    return {
        decision.pk: state_now(
            decision.state,
            decision.state_since,
            now=now,
            ends_at=activations[decision.pk].valid_until if decision.pk in activations else None,
            lapsed=lapsed.get(decision.pk, ()),
        )
        for decision in decisions
    }


def lapsed_waivers(
    decision_ids: Sequence[int], activations: Mapping[int, Activation], now: datetime
) -> Mapping[int, tuple[tuple[str, datetime], ...]]:
    """Return decision id -> name and end of every waiver of the candidate in force that has run out."""
    found: dict[int, dict[str, datetime]] = defaultdict(dict)
    for row in sorted(waivers_of(tuple(decision_ids)), key=lambda row: (row.ends_at, row.pk)):
        activation = activations.get(row.decision_id)
        if activation is not None and activation.trial == row.trial:
            found[row.decision_id][f"{row.gate} of {row.trial}"] = row.ends_at
    # The last waiver of a gate counts: one that was granted anew holds.
    return {
        decision_id: tuple((name, at) for name, at in ends.items() if at <= now) for decision_id, ends in found.items()
    }
