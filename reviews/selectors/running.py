"""What may be running in a slot: every topology that was put into force and that nothing ended for good."""

from collections.abc import Iterator
from datetime import datetime

from planner.errors import Problem
from planner.shown import shown
from reviews.models import Activation, Decision, DecisionState, Workspace
from reviews.policies.slots import IN_FORCE
from reviews.policies.transitions import FINAL
from reviews.selectors.in_force import activations_of, states_now

__all__ = ["not_running", "running_of"]


def running_of(workspace: Workspace, slot: str, subject: str, now: datetime) -> Activation | None:
    """Return the activation of a subject that may be running in a slot; None where there is none.

    A decision that went stale, expired or is contested may still run, and so may what a new revision is made for.
    """
    found = dict(_running(workspace, slot, now))
    own = [(decision, row) for decision, row in found.items() if row.subject == subject]
    ordered = sorted(own, key=lambda pair: (pair[0].state not in IN_FORCE, -pair[0].number))
    return ordered[0][1] if ordered else None


def _running(workspace: Workspace, slot: str, now: datetime) -> Iterator[tuple[Decision, Activation]]:
    decisions = list(Decision.objects.filter(workspace=workspace, slot=slot).order_by("number"))
    states = states_now(decisions, now)
    running = [row for row in decisions if states[row.pk].state not in FINAL]
    activations = activations_of([row.pk for row in running]) if running else {}
    yield from ((row, activations[row.pk]) for row in running if row.pk in activations)


def not_running(workspace: Workspace, slot: str, subject: str, now: datetime) -> Problem:
    """Say why nothing of a subject may be running in a slot."""
    decisions = list(Decision.objects.filter(workspace=workspace, slot=slot).order_by("-number"))
    if not decisions:
        return Problem("observations/slot", "/slot", "a slot with a decision", shown(slot))
    found = [row.subject for _, row in _running(workspace, slot, now)]
    expected = " or ".join(found) or "the subject of a decision in force; there is none"
    ended = Decision.objects.filter(workspace=workspace, slot=slot, revisions__activations__subject=subject)
    decision = ended.order_by("-number").first()
    if decision is None:
        return Problem("observations/subject", "/subject", expected, shown(subject))
    state = states_now([decision], now)[decision.pk].state
    what = f"that of {decision.label}, which is {DecisionState(state).label.lower()}"
    found_one = what if state in FINAL else f"that of an earlier revision of {decision.label}"
    return Problem("observations/subject", "/subject", expected, found_one)
