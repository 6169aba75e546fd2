"""What ends when, and which measurements several slots rest on."""

from datetime import timedelta

import pytest
from django.utils import timezone

from reviews.models import ReviewBasis
from reviews.selectors.shared_trials import SharedTrials, shared_trials
from reviews.selectors.slot_ends import End, slot_ends
from reviews.selectors.slots import SlotFilter
from reviews.services.retractions import evidence_retract
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, documents, planned
from tests.reviews.rules.board import TRACE, board
from tests.reviews.slots import EMERGENCY, ENDING, PRICED, REVIEWED, STALE, WAIVED, every_kind, in_force
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture(scope="module")
def casting() -> Maker:
    def filled() -> Cast:
        people = board()
        every_kind(people)
        return people

    return filled


def ends(people: Cast, **wanted: str) -> list[End]:
    return list(slot_ends(actor=people.bob, workspace=people.workspace, wanted=SlotFilter(**wanted)))


def shared(people: Cast, **wanted: str) -> SharedTrials:
    return shared_trials(actor=people.bob, workspace=people.workspace, wanted=SlotFilter(**wanted))


def test_everything_that_ends_by_itself_is_listed_the_first_first(people: Cast) -> None:
    assert [(end.kind, end.slot, end.name) for end in ends(people)] == [
        ("emergency", EMERGENCY, "INC-7"),
        ("decision", ENDING, ""),
        ("decision", PRICED, ""),
        ("waiver", WAIVED, "throughput of t-1"),
    ]


def test_a_filter_leaves_out_what_ends_elsewhere(people: Cast) -> None:
    assert [end.slot for end in ends(people, text=ENDING)] == [ENDING]


def test_what_is_in_review_ends_with_its_evidence(people: Cast) -> None:
    until = timezone.now() + timedelta(days=3)
    with lifted():
        ReviewBasis.objects.filter(planned__revision__decision__slot=REVIEWED).update(evidence_until=until)
        ReviewBasis.objects.filter(planned__revision__decision__slot=STALE).update(evidence_until=until)
    found = [(end.kind, end.slot, end.at) for end in ends(people, text="own/") if end.kind == "evidence"]
    assert found == [("evidence", REVIEWED, until)]


@pytest.mark.parametrize("is_limit", [True, False])
def test_it_is_said_whether_the_evidence_is_what_ends_a_decision(is_limit: bool, people: Cast) -> None:
    (end,) = ends(people, text=ENDING)
    limit = end.at if is_limit else end.at + timedelta(days=1)
    with lifted():
        ReviewBasis.objects.filter(planned__revision__decision__slot=ENDING).update(evidence_until=limit)
    (again,) = ends(people, text=ENDING)
    assert (end.by_evidence, again.by_evidence) == (False, is_limit)


def test_a_trial_that_several_slots_count_is_found_by_content(people: Cast) -> None:
    found = shared(people)
    assert (found.total, [use.fact.slot for use in found.rows[0].uses]) == (1, [EMERGENCY, ENDING, STALE, WAIVED])
    assert {(use.trial, use.is_chosen) for use in found.rows[0].uses} == {("t-1", True)}


def test_a_trial_of_one_slot_is_not_shared(people: Cast) -> None:
    in_force(people, documents(slot="own/other", tokens=200_000))
    planned(people, pair=documents(slot="own/another", tokens=200_000))  # in review, so it runs nothing
    assert (shared(people).total, shared(people, text=ENDING).total) == (1, 0)


def test_a_shared_trial_that_was_retracted_is_marked(people: Cast) -> None:
    content_id = shared(people).rows[0].content_id
    evidence_retract(
        actor=people.bob, workspace=people.workspace, content_id=content_id, reason="Wrong clock.", trace=TRACE
    )
    assert [(row.is_retracted, len(row.uses)) for row in shared(people).rows] == [(True, 4)]
