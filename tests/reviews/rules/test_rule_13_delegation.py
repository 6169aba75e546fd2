"""Rule 13: who signs in a member's place fills that member's seat, which is filled once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reviews.selectors.decision_page import decision_page
from reviews.services.delegations import delegation_end
from tests.reviews.factories import Cast, planned, sign
from tests.reviews.rules.board import BOARD, TRACE, board, someone
from tests.reviews.rules.test_rule_13_emergency import lend
from tests.stage import Maker

pytestmark = pytest.mark.django_db
TWO = BOARD | {"teams": BOARD["teams"] | {"serving": {"title": "Serving", "quorum": 2}}}


def two_of_serving() -> Cast:
    """The board, under a policy that asks two members of serving."""
    return board(policy=TWO)


@pytest.fixture(scope="module")
def casting() -> Maker:
    return two_of_serving


def serving(people: Cast) -> Any:
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    return next(row for row in page.requirements if row.team == "serving")


def test_a_member_and_their_delegate_fill_one_seat(people: Cast) -> None:
    lend(people)
    revision = planned(people)
    sign(people, revision)
    sign(people, revision, someone("erin"))
    assert (serving(people).status, serving(people).because) == ("UNSATISFIED", "1 of 2 approvals given.")
    assert serving(people).owed_by == ("Dave",)
    sign(people, revision, people.dave)
    assert (serving(people).status, serving(people).approvals) == ("SATISFIED", 2)


def test_all_to_whom_a_seat_was_lent_one_after_another_fill_it_once(people: Cast) -> None:
    revision = planned(people)
    for taker in ("erin", "ivan"):
        lent = lend(people, taker=taker)
        sign(people, revision, someone(taker))
        delegation_end(actor=people.bob, workspace=people.workspace, delegation_id=lent.pk, trace=TRACE)
    assert (serving(people).status, serving(people).approvals) == ("UNSATISFIED", 1)


def test_a_time_at_the_end_of_all_calendars_is_judged(people: Cast) -> None:
    last = datetime(9999, 12, 31, tzinfo=UTC)
    assert lend(people, starts_at=last - timedelta(days=30), ends_at=last).ends_at == last
