"""The inbox: which decision is in which list, order, pages, filters, and how many queries they take."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.fixtures import Settings

from reviews.blobs import blob_keep
from reviews.models import Activation, ActivationKind, Decision, DecisionState, Person, Revision
from reviews.selectors.decisions import DecisionFilter
from reviews.selectors.inbox import Inbox, inbox
from reviews.selectors.people import standing_of
from reviews.selectors.turns import turn_ids
from tests.reviews.factories import Cast, documents, planned, sign, submitted

pytestmark = pytest.mark.django_db


def numbers(found: Inbox) -> dict[str, list[int]]:
    """List -> numbers of its decisions; lists without any are left out."""
    return {part.name: [row.number for row in part.rows] for part in found.lists if part.rows}


def of(people: Cast, who: str = "bob", **choices: object) -> Inbox:
    wanted = {"wanted": DecisionFilter()} | choices
    return inbox(actor=getattr(people, who), workspace=people.workspace, **wanted)  # type: ignore[arg-type] # a table of any choice


def in_force(people: Cast, *, ends_in: timedelta | None, slot: str = "own/one-device") -> Revision:
    """A decision in force that ends then, put there past its review."""
    revision = planned(people, pair=documents(slot=slot))
    now = timezone.now()
    Activation.objects.create(
        revision=revision,
        kind=ActivationKind.REVIEW,
        person=people.bob,
        statement="Goes live.",
        subject=revision.planned.subject,
        trial="t-1",
        topology="tp1-pp1-ep1-dp1",
        rank_map_digest="sha256:" + "00" * 32,
        requirements=blob_keep(b"{}"),
        activated_at=now - timedelta(days=30),
        valid_until=now + ends_in if ends_in is not None else None,
    )
    Decision.objects.filter(pk=revision.decision_id).update(state=DecisionState.EFFECTIVE, state_since=now)
    return revision


def put(revision: Revision, state: DecisionState, *, days_ago: int = 0) -> None:
    """Leave a decision in a state since then, by way of one in force where only that leads there."""
    if state in (DecisionState.STALE, DecisionState.EXPIRED, DecisionState.CONTESTED):
        Decision.objects.filter(pk=revision.decision_id).update(state=DecisionState.EFFECTIVE)
    Decision.objects.filter(pk=revision.decision_id).update(
        state=state, state_since=timezone.now() - timedelta(days=days_ago)
    )


def test_every_decision_is_in_one_list_the_newest_first(people: Cast) -> None:
    planned(people)
    sign(people, planned(people, pair=documents(tokens=170_000)))
    put(planned(people, pair=documents(tokens=170_001)), DecisionState.WITHDRAWN)
    submitted(people, pair=documents(tokens=170_002))
    found = of(people)
    assert (numbers(found), found.all_turns) == ({"mine": [1], "waiting": [4, 2], "decided": [3]}, 1)


def test_what_ends_soon_is_expiring_and_what_ends_first_stands_first(people: Cast, settings: Settings) -> None:
    settings.EXPIRY_NOTICE_DAYS = 3
    for number, days in enumerate((2.9, 3.1, 1, None), start=1):
        in_force(people, ends_in=timedelta(days=days) if days else None, slot=f"own/slot-{number}")
    assert numbers(of(people)) == {"expiring": [3, 1], "decided": [4, 2]}


def test_what_time_ended_is_expired_though_no_entry_says_so_yet(people: Cast) -> None:
    in_force(people, ends_in=-timedelta(minutes=1))
    found = of(people)
    assert numbers(found) == {"stale": [1]}
    assert [row.state for row in found.of("stale").rows] == ["EXPIRED"]
    assert found.choices.states == ("EXPIRED",)


@pytest.mark.parametrize(("state", "is_found"), [("EXPIRED", True), ("EFFECTIVE", False)])
def test_a_state_is_filtered_by_as_it_is_now(state: str, is_found: bool, people: Cast) -> None:
    in_force(people, ends_in=-timedelta(minutes=1))
    assert bool(numbers(of(people, wanted=DecisionFilter(state=state)))) == is_found


@pytest.mark.parametrize("state", [DecisionState.STALE, DecisionState.EXPIRED, DecisionState.CONTESTED])
def test_what_no_longer_says_what_to_run_is_stale(state: DecisionState, people: Cast) -> None:
    put(planned(people), state)
    assert numbers(of(people)) == {"stale": [1]}


def test_what_was_decided_last_stands_first(people: Cast) -> None:
    for days_ago in (2, 1, 3):
        put(planned(people, pair=documents(tokens=170_000 + days_ago)), DecisionState.REJECTED, days_ago=days_ago)
    assert numbers(of(people)) == {"decided": [2, 1, 3]}


def test_nothing_is_judged_of_what_waits_for_no_signoff(people: Cast) -> None:
    put(planned(people), DecisionState.WITHDRAWN)
    planned(people, pair=documents(tokens=170_000))
    found = of(people)
    rows = {name: found.of(name).rows[0] for name in ("decided", "mine")}
    assert {name: [one.team for one in row.requirements] for name, row in rows.items()} == {
        "decided": [],
        "mine": ["networking", "serving"],
    }
    assert rows["decided"].newest.plan is not None


@pytest.mark.parametrize(
    ("who", "place"), [("bob", "mine"), ("carol", "mine"), ("alice", "waiting"), ("audrey", "waiting")]
)
def test_what_is_approved_is_the_turn_of_who_may_put_it_into_force(who: str, place: str, people: Cast) -> None:
    revision = planned(people)
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    found = of(people, who)
    assert numbers(found) == {place: [1]}
    assert [row.releasing for row in found.of(place).rows] == [("networking", "serving")]


def test_a_review_that_is_owed_after_an_emergency_is_a_turn(people: Cast) -> None:
    put(planned(people), DecisionState.EMERGENCY)
    assert (numbers(of(people)), numbers(of(people, "alice"))) == ({"mine": [1]}, {"waiting": [1]})


def test_a_list_is_cut_and_says_how_long_it_is(people: Cast) -> None:
    for at in range(4):
        submitted(people, pair=documents(tokens=170_000 + at))
    found = of(people, preview=3)
    assert (numbers(found), found.of("waiting").total) == ({"waiting": [4, 3, 2]}, 4)


def test_a_list_by_itself_has_pages(people: Cast) -> None:
    planned(people)
    for at in range(5):
        submitted(people, pair=documents(tokens=170_000 + at))
    pages = [of(people, only="waiting", page=page, page_size=2) for page in (1, 2, 3)]
    assert [numbers(found) for found in pages] == [{"waiting": [6, 5]}, {"waiting": [4, 3]}, {"waiting": [2]}]
    assert [(found.page, found.pages, found.of("mine").total) for found in pages] == [(1, 3, 1), (2, 3, 1), (3, 3, 1)]


@pytest.mark.parametrize("page", [0, 4, 10**8])
def test_a_page_that_does_not_exist_is_the_first(page: int, people: Cast) -> None:
    planned(people)
    found = of(people, only="mine", page=page)
    assert (numbers(found), found.page) == ({"mine": [1]}, 1)


def test_a_list_that_does_not_exist_is_all_of_them(people: Cast) -> None:
    planned(people)
    found = of(people, only="nothing")
    assert (numbers(found), found.only) == ({"mine": [1]}, "")


def test_turns_are_counted_whatever_the_filter(people: Cast) -> None:
    planned(people)
    found = of(people, wanted=DecisionFilter(slot="own/other"))
    assert (numbers(found), found.all_turns) == ({}, 1)


@pytest.mark.parametrize("text", ["1", "D-0001", "d1", "one dev", "ONE-DEVICE", "dense-8b", "closed-eng", "tp1"])
def test_search_finds_number_title_slot_model_engine_and_topology(text: str, people: Cast) -> None:
    planned(people)
    assert numbers(of(people, wanted=DecisionFilter(text=text))) == {"mine": [1]}


@pytest.mark.parametrize("text", ["2", "D-0010", "qwen", "\0"])
def test_search_finds_nothing_else(text: str, people: Cast) -> None:
    planned(people)
    assert numbers(of(people, wanted=DecisionFilter(text=text))) == {}


def test_a_team_is_waited_for_until_it_approved(people: Cast) -> None:
    revision = planned(people)
    assert numbers(of(people, waits_on="serving")) == {"mine": [1]}
    sign(people, revision)
    networking = numbers(of(people, waits_on="networking"))
    assert (numbers(of(people, waits_on="serving")), networking) == ({}, {"waiting": [1]})


def test_a_decision_has_the_model_and_engine_of_its_newest_contract(people: Cast) -> None:
    decision = planned(people).decision
    decision.refresh_from_db()
    found = of(people, wanted=DecisionFilter(model=decision.model_name, engine=decision.engine_name))
    assert (numbers(found), found.choices.models, found.choices.engines) == (
        {"mine": [1]},
        (decision.model_name,),
        (decision.engine_name,),
    )
    assert numbers(of(people, wanted=DecisionFilter(model="another"))) == {}


def test_choices_are_the_states_that_occur_in_the_order_of_the_states(people: Cast) -> None:
    planned(people)
    submitted(people, pair=documents(tokens=170_000))
    assert of(people).choices.states == ("EVALUATING", "IN_REVIEW")


@pytest.mark.parametrize(("who", "turns"), [("alice", 0), ("bob", 1), ("carol", 1), ("audrey", 0)])
def test_whose_turn_it_is_follows_from_seat_and_authorship(who: str, turns: int, people: Cast) -> None:
    planned(people)
    person: Person = getattr(people, who)
    assert len(turn_ids(standing_of(person, people.workspace), people.workspace)) == turns


def test_an_inbox_takes_as_many_queries_for_three_decisions_as_for_thirty(people: Cast) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            of(people, waits_on="networking")
        return len(captured)

    sign(people, planned(people))
    planned(people, pair=documents(tokens=165_000))
    in_force(people, ends_in=timedelta(days=1), slot="own/slot-0")
    one = queries()
    for at in range(15):
        planned(people, pair=documents(tokens=170_000 + at))
        in_force(people, ends_in=timedelta(days=at), slot=f"own/slot-{at + 1}")
    assert queries() == one
