"""The one table of decision states: which act leads from where to where, and who may do it on what condition.

An act that is not listed for a state is impossible there; the database refuses the change of state as well. States
without any act are final. Who may act is decided in ``permissions``, the conditions in ``requirements`` and
``validity``: the words here say it for people.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Transition:
    """One act: from which state to which, by whom, on what condition."""

    source: str
    act: str
    target: str
    by: str
    condition: str = ""


TABLE = (
    Transition("DRAFT", "submit", "EVALUATING", "an author"),
    Transition("DRAFT", "withdraw", "WITHDRAWN", "an author", "with a reason"),
    Transition("EVALUATING", "plan", "IN_REVIEW", "the planner"),
    Transition("EVALUATING", "fail", "EVALUATION_FAILED", "the planner", "the error is recorded"),
    Transition("EVALUATING", "revise", "EVALUATING", "an author"),
    Transition("EVALUATION_FAILED", "reopen", "DRAFT", "an author"),
    Transition("IN_REVIEW", "revise", "EVALUATING", "an author"),
    Transition("IN_REVIEW", "withdraw", "WITHDRAWN", "an author", "with a reason"),
    Transition("IN_REVIEW", "reject", "REJECTED", "an owning team", "two teams reject, or one with a hard veto"),
    Transition("IN_REVIEW", "close", "CLOSED", "an owning team", "nothing is selected and every team agrees"),
    Transition("IN_REVIEW", "activate", "EFFECTIVE", "a releasing team, no author", "every requirement is satisfied"),
    Transition("IN_REVIEW", "declare_emergency", "EMERGENCY", "two persons", "incident, named gates, 72 h at most"),
    Transition("EFFECTIVE", "differ", "STALE", "an identity report or the sweep", "a key differs, or a waiver lapsed"),
    Transition("EFFECTIVE", "expire", "EXPIRED", "the sweep", "valid_until passed"),
    Transition("EFFECTIVE", "object", "CONTESTED", "an owning team", "an objection, or its evidence is retracted"),
    Transition("EFFECTIVE", "supersede", "SUPERSEDED", "an activation", "a newer decision on the slot"),
    Transition("CONTESTED", "lift_objection", "EFFECTIVE", "its signer, or lead and second member"),
    Transition("CONTESTED", "revoke", "REVOKED", "two persons", "one of each revoking team"),
    Transition("CONTESTED", "supersede", "SUPERSEDED", "an activation", "a newer decision on the slot"),
    Transition("STALE", "revise", "EVALUATING", "an author"),
    Transition("STALE", "supersede", "SUPERSEDED", "an activation", "a newer decision on the slot"),
    Transition("EXPIRED", "revise", "EVALUATING", "an author"),
    Transition("EXPIRED", "supersede", "SUPERSEDED", "an activation", "a newer decision on the slot"),
    Transition("EMERGENCY", "complete_review", "EFFECTIVE", "a releasing team, no author", "the review is done"),
    Transition("EMERGENCY", "run_out", "REVOKED", "the sweep", "its time passed"),
)
FINAL = ("WITHDRAWN", "REJECTED", "SUPERSEDED", "REVOKED", "CLOSED")

_TARGETS = {(row.source, row.act): row.target for row in TABLE}
TAKES_REVISION = frozenset(row.source for row in TABLE if row.act in ("submit", "reopen", "revise"))
"""States in which a new revision may be submitted."""
STANDS = frozenset({"EFFECTIVE", "CONTESTED", "STALE", "EXPIRED"})
"""States of what was put into force and not ended.

Its sign-offs are objected to, not withdrawn, and the next activation on the slot ends it.
"""
STATES = tuple(dict.fromkeys((*(row.source for row in TABLE), *FINAL)))


def next_state(state: str, act: str) -> str | None:
    """Return the state that the act leads to, or None where it is impossible."""
    return _TARGETS.get((state, act))


def state_changes() -> frozenset[tuple[str, str]]:
    """Return every (from, to) that some act makes; what the database lets pass."""
    return frozenset((row.source, row.target) for row in TABLE if row.source != row.target)
