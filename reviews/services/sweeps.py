"""Writes down what time alone did: decisions that expired, emergencies that ran out, waivers that lapsed.

At read all of this is computed; the sweep makes the entries. Safe to run from any number of processes at any time.
"""

from reviews.audit import Act, append, workspace_write
from reviews.clock import database_now
from reviews.models import Decision, DecisionState, Workspace
from reviews.selectors.in_force import ENDING, activations_of, states_now
from reviews.services.states import decision_move

ACTS = {
    DecisionState.STALE: ("differ", "decision.stale"),
    DecisionState.EXPIRED: ("expire", "decision.expired"),
    DecisionState.REVOKED: ("run_out", "decision.ran_out"),
}
"""State as of now -> the act that leads there, and its entry."""


def decisions_sweep() -> int:
    """Move every decision whose state followed from time, with an entry each; return how many were moved."""
    workspaces = Workspace.objects.filter(decisions__state__in=ENDING).distinct().order_by("pk")
    return sum(_sweep(workspace) for workspace in workspaces)


def _sweep(workspace: Workspace) -> int:
    now = database_now()
    decisions = list(Decision.objects.filter(workspace=workspace, state__in=ENDING).order_by("number"))
    moved = {pk for pk, found in states_now(decisions, now).items() if found.state in ACTS}
    if not moved:
        return 0
    with workspace_write(workspace.pk):
        due = list(Decision.objects.filter(pk__in=moved, state__in=ENDING).order_by("number"))
        states, activations = states_now(due, now), activations_of(moved)
        for decision in due:
            found, activation = states[decision.pk], activations[decision.pk]
            act, action = ACTS[DecisionState(found.state)]
            decision_move(decision, act, now)
            append(
                workspace,
                Act(
                    action=action,
                    decision=decision.number,
                    revision=activation.revision.number,
                    subject=activation.subject,
                    reason=found.because,
                    payload_type="topogate.state/v1",
                    payload={"state": found.state, "keys": list(found.keys)},
                ),
            )
    return len(due)
