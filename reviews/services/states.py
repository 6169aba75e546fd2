"""Moves a decision from state to state, the only place that writes one; and says who moved it before."""

from datetime import datetime

from reviews.clock import when
from reviews.errors import ConflictError
from reviews.models import AuditEntry, Decision, DecisionState, Person
from reviews.policies.transitions import next_state

MOVED = {
    DecisionState.EFFECTIVE: ("decision.activated", "put it into force"),
    DecisionState.WITHDRAWN: ("decision.withdrawn", "withdrew it"),
    DecisionState.REJECTED: ("decision.rejected", "closed it as rejected"),
    DecisionState.CLOSED: ("decision.closed", "closed it as such"),
    DecisionState.REVOKED: ("decision.revoked", "revoked it"),
}
"""State -> the act of somebody that leads there, and what they did."""


def decision_move(decision: Decision, act: str, at: datetime) -> None:
    """Carry out an act on a decision's state. Call it inside ``workspace_write``.

    Raises:
        ConflictError: the act is impossible in the present state, or the state moved meanwhile.
    """
    state = state_after(decision, act)
    moved = Decision.objects.filter(pk=decision.pk, state=decision.state).update(state=state, state_since=at)
    if moved != 1:
        raise ConflictError(f"{decision.label} moved while this was done.")
    decision.state, decision.state_since = state, at


def state_after(decision: Decision, act: str) -> str:
    """Return the state that an act leads to.

    Raises:
        ConflictError: the act is impossible in the present state.
    """
    state = next_state(decision.state, act)
    if state is None:
        raise ConflictError(f"{_state_text(decision)}. It cannot {act.replace('_', ' ')} now.{_moved_by(decision)}")
    return state


def not_in_review(decision: Decision) -> ConflictError:
    """Return the refusal of an act on a review that is over or has not begun, with who ended it."""
    return ConflictError(f"{_state_text(decision)}, not in review.{_moved_by(decision)}")


def _state_text(decision: Decision) -> str:
    return f"{decision.label} is {DecisionState(decision.state).label.lower()}"


def _moved_by(decision: Decision) -> str:
    """Say who brought the decision where it is, for whoever meant to act at the same time; empty where nobody did."""
    action, did = MOVED.get(DecisionState(decision.state), ("", ""))
    entries = AuditEntry.objects.filter(workspace=decision.workspace_id, decision_number=decision.number, action=action)
    last = entries.order_by("-seq").first()
    person = Person.objects.filter(token=last.actor_token).first() if last is not None else None
    if last is None or person is None:
        return ""
    return f" {person.display_name} {did} at {when(datetime.fromisoformat(last.at))} UTC."


def decision_resubmit(decision: Decision, at: datetime) -> None:
    """Take a new revision: a decision whose planning failed is a draft again before it is submitted anew.

    Raises:
        ConflictError: no new revision is taken in the present state.
    """
    if decision.state == DecisionState.EVALUATION_FAILED:
        decision_move(decision, "reopen", at)
    decision_move(decision, "submit" if decision.state == DecisionState.DRAFT else "revise", at)
