"""The table of states."""

import pytest

from reviews.models import DecisionState
from reviews.policies.transitions import FINAL, STATES, TABLE, next_state


def test_every_state_is_in_the_table_and_leads_to_states_only() -> None:
    assert set(STATES) == set(DecisionState.values)
    assert {row.target for row in TABLE} <= set(DecisionState.values)


def test_an_act_leads_to_one_state_only() -> None:
    assert len({(row.source, row.act) for row in TABLE}) == len(TABLE)


def test_a_final_state_has_no_act_and_every_other_state_has_one() -> None:
    assert set(DecisionState.values) - {row.source for row in TABLE} == set(FINAL)


@pytest.mark.parametrize(
    ("state", "act", "result"),
    [
        pytest.param("EVALUATING", "plan", "IN_REVIEW", id="planned"),
        pytest.param("EVALUATING", "fail", "EVALUATION_FAILED", id="not planned"),
        pytest.param("EVALUATION_FAILED", "reopen", "DRAFT", id="after a failure it is a draft again"),
        pytest.param("EVALUATION_FAILED", "revise", None, id="a failure is not gone past"),
        pytest.param("DRAFT", "submit", "EVALUATING", id="a draft is submitted"),
        pytest.param("IN_REVIEW", "revise", "EVALUATING", id="new evidence"),
        pytest.param("IN_REVIEW", "close", "CLOSED", id="nothing is selected, and all agree"),
        pytest.param("EVALUATING", "activate", None, id="not activated while evaluating"),
        pytest.param("DRAFT", "declare_emergency", None, id="no emergency without a plan"),
        pytest.param("CONTESTED", "lift_objection", "EFFECTIVE", id="the objection is lifted"),
        pytest.param("WITHDRAWN", "revise", None, id="final"),
        pytest.param("EFFECTIVE", "revise", None, id="an effective decision is superseded by another one"),
    ],
)
def test_what_follows(state: str, act: str, result: str | None) -> None:
    assert next_state(state, act) == result
