"""Writes down what time alone did: decisions that expired, emergencies that ran out, waivers that lapsed.

At read all of this is computed. The sweep makes the entries, and so does whoever acts on a decision first: an act meets
the state as of now, never one that ended and is not written down yet. Safe to run from any number of processes.
"""

from collections.abc import Sequence
from datetime import datetime

from reviews.audit import Act, append, workspace_write
from reviews.clock import database_now
from reviews.models import Decision, DecisionState, Workspace
from reviews.selectors.decision_page import decision_named
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
    ending = list(Decision.objects.filter(workspace=workspace, state__in=ENDING).order_by("number"))
    due = [pk for pk, found in states_now(ending, now).items() if found.state in ACTS]
    if not due:
        return 0
    with workspace_write(workspace.pk):
        return decisions_settle(workspace, list(Decision.objects.filter(pk__in=due).order_by("number")), now)


def decision_to_act_on(workspace: Workspace, number: int) -> Decision:
    """Return a decision by its number, once what time did on its slot is written down.

    Call it inside ``workspace_write``. What is in force beside the decision says what can be done with it, so the whole
    slot is looked at.

    Raises:
        NotFoundError: there is none.
    """
    decision = decision_named(workspace, number)
    ending = list(Decision.objects.filter(workspace=workspace, slot=decision.slot, state__in=ENDING).order_by("number"))
    if ending and decisions_settle(workspace, ending, database_now()):
        return decision_named(workspace, number)
    return decision


def decisions_settle(workspace: Workspace, decisions: Sequence[Decision], now: datetime) -> int:
    """Move those decisions whose state followed from time, with an entry each; return how many were moved.

    Call it inside ``workspace_write``.
    """
    states = states_now(decisions, now)
    due = [row for row in decisions if row.state in ENDING and states[row.pk].state in ACTS]
    activations = activations_of([row.pk for row in due]) if due else {}
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
