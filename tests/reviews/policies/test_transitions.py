"""The table of states."""

import pytest

from reviews.models import DecisionState
from reviews.policies.transitions import TRANSITIONS, next_state


def test_every_state_is_in_the_table_and_leads_to_states_only() -> None:
    assert set(TRANSITIONS) == set(DecisionState.values)
    assert {state for acts in TRANSITIONS.values() for state in acts.values()} <= set(DecisionState.values)


def test_the_final_states_are_the_four() -> None:
    assert {state for state, acts in TRANSITIONS.items() if not acts} == {
        "WITHDRAWN",
        "REJECTED",
        "SUPERSEDED",
        "REVOKED",
    }


@pytest.mark.parametrize(
    ("state", "act", "result"),
    [
        pytest.param("EVALUATING", "plan", "IN_REVIEW", id="planned"),
        pytest.param("EVALUATING", "fail", "EVALUATION_FAILED", id="not planned"),
        pytest.param("IN_REVIEW", "revise", "EVALUATING", id="new evidence"),
        pytest.param("EVALUATION_FAILED", "revise", "EVALUATING", id="after a failure"),
        pytest.param("EVALUATING", "activate", None, id="not activated while evaluating"),
        pytest.param("WITHDRAWN", "revise", None, id="final"),
        pytest.param("EFFECTIVE", "revise", None, id="an effective decision is superseded by another one"),
    ],
)
def test_what_follows(state: str, act: str, result: str | None) -> None:
    assert next_state(state, act) == result
