"""The inbox: order, pages, filters, and how many queries they take."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from reviews.models import DecisionState, Person
from reviews.selectors.decisions import DecisionFilter
from reviews.selectors.inbox import Inbox, inbox
from reviews.selectors.people import standing_of
from reviews.selectors.turns import turn_ids
from tests.reviews.factories import Cast, documents, planned, sign, submitted

pytestmark = pytest.mark.django_db


def numbers(found: Inbox) -> list[int]:
    return [row.number for row in found.rows]


def of(people: Cast, who: str = "bob", **choices: object) -> Inbox:
    wanted = {"wanted": DecisionFilter()} | choices
    return inbox(actor=getattr(people, who), workspace=people.workspace, **wanted)  # type: ignore[arg-type] # a table of any choice


def test_my_turn_comes_first_then_what_is_open_then_the_rest(people: Cast) -> None:
    planned(people)
    sign(people, planned(people, pair=documents(tokens=170_000)))
    closed = planned(people, pair=documents(tokens=170_001)).decision
    closed.state = DecisionState.WITHDRAWN
    closed.save(update_fields=["state"])
    submitted(people, pair=documents(tokens=170_002))
    found = of(people)
    assert (numbers(found), found.turns, found.all_turns) == ([1, 4, 2, 3], 1, 1)


def test_pages_keep_that_order(people: Cast) -> None:
    planned(people)
    for at in range(4):
        submitted(people, pair=documents(tokens=170_000 + at))
    assert [numbers(of(people, page=page, page_size=2)) for page in (1, 2, 3)] == [[1, 5], [4, 3], [2]]


@pytest.mark.parametrize("page", [0, 4, 10**8])
def test_a_page_that_does_not_exist_is_the_first(page: int, people: Cast) -> None:
    planned(people)
    found = of(people, page=page)
    assert (numbers(found), found.page) == ([1], 1)


def test_turns_are_counted_whatever_the_filter(people: Cast) -> None:
    planned(people)
    found = of(people, wanted=DecisionFilter(slot="own/other"))
    assert (found.total, found.turns, found.all_turns) == (0, 0, 1)


def test_a_team_is_waited_for_until_it_approved(people: Cast) -> None:
    revision = planned(people)
    assert numbers(of(people, waits_on="serving")) == [1]
    sign(people, revision)
    assert (numbers(of(people, waits_on="serving")), numbers(of(people, waits_on="networking"))) == ([], [1])


def test_a_decision_has_the_model_and_engine_of_its_newest_contract(people: Cast) -> None:
    decision = planned(people).decision
    decision.refresh_from_db()
    found = of(people, wanted=DecisionFilter(model=decision.model_name, engine=decision.engine_name))
    assert (numbers(found), found.choices.models, found.choices.engines) == (
        [1],
        (decision.model_name,),
        (decision.engine_name,),
    )
    assert numbers(of(people, wanted=DecisionFilter(model="another"))) == []


def test_choices_are_the_states_that_occur_in_the_order_of_the_states(people: Cast) -> None:
    planned(people)
    submitted(people, pair=documents(tokens=170_000))
    assert of(people).choices.states == ("EVALUATING", "IN_REVIEW")


@pytest.mark.parametrize(("who", "turns"), [("alice", 0), ("bob", 1), ("carol", 1), ("audrey", 0)])
def test_whose_turn_it_is_follows_from_seat_and_authorship(who: str, turns: int, people: Cast) -> None:
    planned(people)
    person: Person = getattr(people, who)
    assert len(turn_ids(standing_of(person, people.workspace), people.workspace)) == turns


def test_an_inbox_takes_as_many_queries_for_one_decision_as_for_thirty(people: Cast) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            of(people, waits_on="networking")
        return len(captured)

    sign(people, planned(people))
    planned(people, pair=documents(tokens=165_000))
    one = queries()
    for at in range(29):
        planned(people, pair=documents(tokens=170_000 + at))
    assert queries() == one
