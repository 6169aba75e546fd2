"""Rule 15: every block says who, what, since when and what is next; the inbox has five lists."""

from typing import Any

import pytest

from reviews.policies.requirements import Requirement
from reviews.selectors.decision_page import decision_page
from reviews.selectors.decisions import DecisionFilter
from reviews.selectors.inbox import LISTS, inbox
from reviews.services.comment_checks import Written
from reviews.services.people import policy_set
from reviews.services.threads import comments_publish
from tests.reviews.factories import POLICY, Cast, planned, sign
from tests.reviews.rules.board import TRACE, board

pytestmark = pytest.mark.django_db


def serving(people: Cast) -> Requirement:
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    return next(row for row in page.requirements if row.team == "serving")


def nothing(people: Cast) -> None:
    planned(people)


def changes_requested(people: Cast) -> None:
    sign(people, planned(people), meaning="request_changes")


def objected(people: Cast) -> None:
    sign(people, planned(people), meaning="object")


def conditional(people: Cast) -> None:
    sign(people, planned(people), meaning="approve_with_conditions", conditions=("Rerun the tail.",))


def blocked_by_a_thread(people: Cast) -> None:
    sign(people, planned(people), people.dave)
    asked = Written(text="Which window?", kind="gate", name="t-1~throughput~floor", is_blocking=True)
    comments_publish(actor=people.bob, workspace=people.workspace, number=1, comments=(asked,), trace=TRACE)


def policy_changed(people: Cast) -> None:
    planned(people)
    policy_set(workspace=people.workspace, policy=POLICY | {"max_age_s": 3600})


@pytest.mark.parametrize(
    ("happens", "because", "owed_by"),
    [
        pytest.param(nothing, "0 of 1 approval given.", ("Bob", "Dave"), id="an approval is missing"),
        pytest.param(changes_requested, "Changes requested by Bob.", ("Alice",), id="changes are requested"),
        pytest.param(objected, "Bob objects. It stays until it is lifted.", ("Bob",), id="somebody objects"),
        pytest.param(conditional, "Condition of Bob not met: Rerun the tail.", ("Bob",), id="a condition is open"),
        pytest.param(
            blocked_by_a_thread,
            "Thread 1 of Bob on throughput floor of t-1 blocks until Bob or the team's lead resolves it.",
            ("Bob",),
            id="a thread blocks",
        ),
        pytest.param(
            policy_changed,
            "The policy changed since this revision was made. A new revision is judged by it.",
            ("Alice",),
            id="the policy changed",
        ),
    ],
)
def test_every_block_says_why_who_and_since_when(happens: Any, because: str, owed_by: tuple[str, ...]) -> None:
    people = board()
    happens(people)
    row = serving(people)
    assert (row.status, row.because, row.owed_by) == ("UNSATISFIED", because, owed_by)
    assert row.since is not None


def test_the_inbox_has_five_lists_and_what_waits_on_one_is_in_the_first(people: Cast) -> None:
    planned(people)
    assert LISTS == ("mine", "waiting", "expiring", "stale", "decided")
    wanted: dict[str, Any] = {"workspace": people.workspace, "wanted": DecisionFilter()}
    totals = {
        name: [inbox(actor=getattr(people, name), **wanted).of(one).total for one in LISTS]
        for name in ("bob", "alice", "audrey")
    }
    assert totals == {"bob": [1, 0, 0, 0, 0], "alice": [0, 1, 0, 0, 0], "audrey": [0, 1, 0, 0, 0]}
