"""What is in force, as of now: activations with their ends, and waivers that decisions rest on."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from reviews.asked_once import once
from reviews.models import Activation, Decision, DecisionState, Waiver, Workspace
from reviews.policies.validity import StateNow, state_now
from reviews.selectors.retractions import rests_on_retracted
from reviews.selectors.stale import stale_causes
from reviews.selectors.waivers import waivers_of

ENDING = (DecisionState.EFFECTIVE, DecisionState.EMERGENCY)
"""States that end by themselves."""

RETRACTED = "Evidence that it counted was retracted."

READ_OF_A_SLOT = (
    *("kind", "subject", "trial", "topology", "rank_map_digest", "rollback", "activated_at", "valid_until"),
    *("emergency__incident", "emergency__failing_gates"),
    *("revision__number", "revision__contract__blob_id", "revision__policy__blob_id"),
    *(f"revision__decision__{name}" for name in ("number", "slot", "state", "state_since", "workspace_id")),
)
"""What is read where a router asks; any other field costs a query."""


class OfTrial(Protocol):
    """What was put into force, as far as waivers matter to it."""

    @property
    def trial(self) -> str:
        """The trial in force."""


def activations_of(decision_ids: Iterable[int], *related: str) -> Mapping[int, Activation]:
    """Return decision id -> its last activation, with whatever else is asked of it in the same query."""
    return _activations(tuple(sorted(decision_ids)), related)


@once
def _activations(decision_ids: tuple[int, ...], related: tuple[str, ...]) -> Mapping[int, Activation]:
    rows = Activation.objects.filter(revision__decision_id__in=decision_ids).order_by()
    known = rows.select_related("revision", "person", "emergency__proposal__person", *related)
    return {row.revision.decision_id: row for row in sorted(known, key=lambda row: row.pk)}


def states_now(decisions: Sequence[Decision], now: datetime) -> Mapping[int, StateNow]:
    """Return decision id -> state as of now; one query more than ``states_with`` where something is in force."""
    ending = [decision.pk for decision in decisions if decision.state in ENDING]
    return states_with(decisions, activations_of(ending) if ending else {}, now)


def states_with(
    decisions: Sequence[Decision], activations: Mapping[int, Activation], now: datetime
) -> Mapping[int, StateNow]:
    """Return decision id -> state as of now, from their last activations.

    One query where something is in force, one where something is stale, and one where something is contested.
    """
    ending = [decision.pk for decision in decisions if decision.state in ENDING]
    lapsed = lapsed_waivers(ending, activations, now) if ending else {}
    stale = [decision for decision in decisions if decision.state == DecisionState.STALE]
    causes = stale_causes(stale) if stale else {}
    ends = {pk: activations[pk].valid_until for pk in ending if pk in activations}
    found = {
        decision.pk: state_now(
            decision.state,
            decision.state_since,
            now=now,
            ends_at=ends.get(decision.pk),
            lapsed=lapsed.get(decision.pk, ()),
        )
        for decision in decisions
    }
    told = {pk: replace(found[pk], because=cause.because, keys=cause.keys) for pk, cause in causes.items()}
    contested = [decision.pk for decision in decisions if decision.state == DecisionState.CONTESTED]
    faulty = rests_on_retracted(contested) if contested else ()
    return found | told | {pk: replace(found[pk], because=RETRACTED) for pk in faulty}


@dataclass(frozen=True, slots=True)
class Held:
    """What holds in a slot, and its state as of now."""

    activation: Activation
    state: StateNow


def slot_in_force(workspace: Workspace, slot: str, now: datetime) -> Held | None:
    """Return what holds in a slot now, with its decision and documents' names; an emergency before what it overrides.

    Two queries where something was put into force and not ended, else one.
    """
    decided = {"revision__decision__workspace": workspace, "revision__decision__slot": slot}
    rows = (
        Activation.objects.filter(**decided, revision__decision__state__in=ENDING)
        .select_related("revision__decision", "revision__contract", "revision__policy", "emergency")
        .only(*READ_OF_A_SLOT)
        .order_by("pk")
    )
    last = {row.revision.decision_id: row for row in rows}
    if not last:
        return None
    states = states_with([row.revision.decision for row in last.values()], last, now)
    holding = [Held(row, states[decision]) for decision, row in last.items() if states[decision].state in ENDING]
    holding.sort(key=lambda one: (one.state.state != DecisionState.EMERGENCY, -one.activation.revision.decision.number))
    return holding[0] if holding else None


def lapsed_waivers(
    decision_ids: Sequence[int], activations: Mapping[int, OfTrial], now: datetime
) -> Mapping[int, tuple[tuple[str, datetime], ...]]:
    """Return decision id -> name and end of every waiver of the candidate in force that has run out."""
    return {
        decision_id: tuple((f"{row.gate} of {row.trial}", row.ends_at) for row in rows if row.ends_at <= now)
        for decision_id, rows in counting_waivers(decision_ids, activations).items()
    }


def counting_waivers(
    decision_ids: Iterable[int], activations: Mapping[int, OfTrial]
) -> Mapping[int, tuple[Waiver, ...]]:
    """Return decision id -> the waivers of the candidate in force: of each gate the one that ends last.

    One that was granted anew holds in the place of the one before.
    """
    found: dict[int, dict[str, Waiver]] = defaultdict(dict)
    for row in sorted(waivers_of(tuple(decision_ids)), key=lambda row: (row.ends_at, row.pk)):
        activation = activations.get(row.decision_id)
        if activation is not None and activation.trial == row.trial:
            found[row.decision_id][row.gate] = row
    return {decision_id: tuple(by_gate.values()) for decision_id, by_gate in found.items()}
