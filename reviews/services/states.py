"""Moves a decision from state to state; the only place that writes one."""

from datetime import datetime

from reviews.errors import ConflictError
from reviews.models import Decision, DecisionState
from reviews.policies.transitions import next_state


def decision_move(decision: Decision, act: str, at: datetime) -> None:
    """Carry out an act on a decision's state. Call it inside ``workspace_write``.

    Raises:
        ConflictError: the act is impossible in the present state, or the state moved meanwhile.
    """
    state = next_state(decision.state, act)
    if state is None:
        word = DecisionState(decision.state).label.lower()
        raise ConflictError(f"{decision.label} is {word}. It cannot {act.replace('_', ' ')} now.")
    moved = Decision.objects.filter(pk=decision.pk, state=decision.state).update(state=state, state_since=at)
    if moved != 1:
        raise ConflictError(f"{decision.label} moved while this was done.")
    decision.state, decision.state_since = state, at


def decision_resubmit(decision: Decision, at: datetime) -> None:
    """Take a new revision: a decision whose planning failed is a draft again before it is submitted anew.

    Raises:
        ConflictError: no new revision is taken in the present state.
    """
    if decision.state == DecisionState.EVALUATION_FAILED:
        decision_move(decision, "reopen", at)
    decision_move(decision, "submit" if decision.state == DecisionState.DRAFT else "revise", at)
