"""What passing time makes of a scope: nothing, unless the contract limits the age of its evidence."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.canonical import file_sha256
from planner.intake import read_contract, read_evidence
from planner.plan import plan_bytes, plan_parallelism
from planner.times import time_text
from reviews.policies.document import read_policy
from reviews.policies.scope import team_scopes
from tests.reviews.factories import IDENTITY, POLICY, contract_tree, evidence_tree

DOCUMENT = read_policy(msgspec.json.encode(POLICY))
ENDED = datetime(2026, 9, 20, 9, 45, tzinfo=UTC)
MOMENTS = st.timedeltas(timedelta(0), timedelta(days=4000)).map(lambda past: time_text(ENDED + past))
ITEM = "gate:t-1:freshness"


def planned(as_of: str, *, most_s: int | None = None, end: str = time_text(ENDED)) -> bytes:
    """The plan of one device whose only window ended then."""
    contract = contract_tree()
    if most_s is not None:
        contract["validity"] = {"max_evidence_age_s": most_s}
    evidence = evidence_tree(contract)
    evidence["trials"]["t-1"]["windows"]["w1"]["end"] = end
    documents = read_contract(json.dumps(contract).encode()), read_evidence(json.dumps(evidence).encode())
    return plan_bytes(plan_parallelism(*documents, as_of))


def items(*arguments: Any, **choices: Any) -> dict[str, str]:
    """What serving, which owns the gate, signs for."""
    plan = planned(*arguments, **choices)
    found = team_scopes(document=DOCUMENT, policy_id="p1", identity=IDENTITY, plan=plan)
    return dict(next(scope.items for scope in found if scope.team == "serving"))


@given(one=MOMENTS, other=MOMENTS)
def test_without_a_maximum_age_a_scope_is_the_same_at_any_time(one: str, other: str) -> None:
    assert items(one) == items(other)


@given(one=MOMENTS, other=MOMENTS, most_s=st.integers(1, 400_000_000))
def test_with_a_maximum_age_the_reading_moves_with_time_and_nothing_else_does(
    one: str, other: str, most_s: int
) -> None:
    before, after = items(one, most_s=most_s), items(other, most_s=most_s)
    moved = {item for item in before if before[item] != after[item]}
    assert moved - {"decision", "selected"} == ({ITEM} if one != other else set())


def test_an_age_that_is_limited_is_signed_for_as_the_plan_has_it() -> None:
    plan = planned("2026-09-21T12:00:00Z", most_s=200_000)
    outcome = msgspec.json.decode(plan, type=dict[str, Any])["candidates"]["t-1"]["gates"]["freshness"]
    digest = file_sha256(msgspec.json.encode(outcome, order="sorted"))
    assert items("2026-09-21T12:00:00Z", most_s=200_000)[ITEM] == digest


@pytest.mark.parametrize(
    ("as_of", "end"),
    [
        pytest.param("2026-09-21T12:00:00Z", "2026-09-20T09:44:59Z", id="measured at another time"),
        pytest.param("2026-09-20T09:44:59Z", "2026-09-20T09:45:00Z", id="judged before the window ended"),
        pytest.param("2026-09-21T12:00:00Z", "2026-09-20T09:45:00", id="a time without zone"),
    ],
)
def test_without_a_maximum_age_other_evidence_or_another_outcome_is_another_scope(as_of: str, end: str) -> None:
    assert items(as_of, end=end)[ITEM] != items("2026-09-21T12:00:00Z")[ITEM]


def test_an_unknown_age_is_the_same_while_the_same_window_is_at_fault() -> None:
    local = "2026-09-20T09:45:00"
    assert items("2026-09-21T12:00:00Z", end=local) == items("2026-11-21T12:00:00Z", end=local)
