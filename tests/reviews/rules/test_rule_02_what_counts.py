"""Rule 2: a sign-off counts only while it is CURRENT or CARRIED on the newest revision."""

import json
from typing import Any

import pytest

from reviews.models import TeamSeat
from reviews.selectors.decision_page import decision_page
from reviews.services.withdrawals import signoff_withdraw
from tests.reviews.factories import Cast, Pair, contract_tree, evidence_tree, planned, sign, statuses
from tests.reviews.rules.test_rule_03_carry import pair
from tests.reviews.rules.test_rule_10_activation import activate, approved

pytestmark = pytest.mark.django_db


def serving(people: Cast) -> tuple[str, int]:
    """Status and approvals of serving's requirement."""
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    row = next(row for row in page.requirements if row.team == "serving")
    return row.status, row.approvals


@pytest.mark.parametrize(
    ("changes", "status", "requirement"),
    [
        pytest.param(None, "CURRENT", ("SATISFIED", 1), id="on the newest revision"),
        pytest.param({"note": "another owner"}, "CARRIED", ("SATISFIED", 1), id="carried to it"),
        pytest.param({"tokens": 170000}, "STALE", ("UNSATISFIED", 0), id="of an earlier one"),
    ],
)
def test_a_seat_is_filled_by_what_is_current_or_carried(
    people: Cast, changes: dict[str, Any] | None, status: str, requirement: tuple[str, int]
) -> None:
    first = planned(people, pair=pair())
    sign(people, first)
    if changes is not None:
        planned(people, pair=pair(**changes), decision=first.decision)
    assert (statuses(people)[0][0], serving(people)) == (status, requirement)


def test_what_was_taken_back_counts_no_more(people: Cast) -> None:
    signoff = sign(people, planned(people))
    signoff_withdraw(actor=people.bob, workspace=people.workspace, signoff_id=signoff.pk, reason="Too early.")
    assert (statuses(people), serving(people)) == ([("WITHDRAWN", "", ())], ("UNSATISFIED", 0))


def test_on_evidence_older_than_it_may_be_nothing_counts(people: Cast) -> None:
    contract = contract_tree() | {"validity": {"max_evidence_age_s": 86400}}
    old = Pair(json.dumps(contract).encode(), json.dumps(evidence_tree(contract)).encode())
    sign(people, planned(people, pair=old, as_of="2026-09-20T12:00:00Z"), meaning="request_changes")
    assert statuses(people) == [("STALE", "EVIDENCE_EXPIRED", ("evidence",))]
    assert serving(people) == ("UNSATISFIED", 0)


def test_who_leaves_a_team_later_takes_nothing_back_of_what_was_put_into_force(people: Cast) -> None:
    activate(people, approved(people))
    TeamSeat.objects.filter(membership__person=people.bob).delete()
    assert [status for status, *_ in statuses(people)] == ["CURRENT", "CURRENT"]
    assert serving(people) == ("SATISFIED", 1)
