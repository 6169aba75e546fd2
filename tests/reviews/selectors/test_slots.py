"""The portfolio: what holds for each slot, what all come to, and what is found by which filter."""

from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest
from django.utils import timezone

from reviews.errors import NotFoundError
from reviews.models import ActivationFootprint, Decision
from reviews.selectors.slot_page import slot_page, slot_row
from reviews.selectors.slots import Portfolio, SlotFilter, portfolio
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, documents, planned
from tests.reviews.rules.board import board
from tests.reviews.slots import EMERGENCY, ENDING, PRICED, REVIEWED, STALE, WAIVED, WITHDRAWN, every_kind, in_force
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture(scope="module")
def casting() -> Maker:
    def filled() -> Cast:
        people = board()
        every_kind(people)
        return people

    return filled


def found(people: Cast, *, page: int = 1, page_size: int | None = 25, **wanted: str) -> Portfolio:
    asked = SlotFilter(**wanted)
    return portfolio(actor=people.bob, workspace=people.workspace, wanted=asked, page=page, page_size=page_size)


def names(people: Cast, **choices: Any) -> list[str]:
    return [row.fact.slot for row in found(people, **choices).rows]


def test_every_slot_has_its_decision_and_how_that_stands(people: Cast) -> None:
    stands = {row.fact.slot: (row.fact.hold, row.fact.decision.state) for row in found(people).rows}
    assert stands == {
        PRICED: ("in_force", "EFFECTIVE"),
        EMERGENCY: ("in_force", "EMERGENCY"),
        ENDING: ("in_force", "EFFECTIVE"),
        REVIEWED: ("none", "IN_REVIEW"),
        STALE: ("standing", "STALE"),
        WAIVED: ("in_force", "EFFECTIVE"),
        WITHDRAWN: ("none", "WITHDRAWN"),
    }


def test_slots_stand_in_natural_order(people: Cast) -> None:
    planned(people, pair=documents(slot="own/10"))
    planned(people, pair=documents(slot="own/9"))
    assert names(people, text="own/") == ["own/9", "own/10", *(EMERGENCY, ENDING, REVIEWED, STALE, WAIVED, WITHDRAWN)]


def test_totals_count_what_is_in_force_and_guess_no_price(people: Cast) -> None:
    totals = found(people).totals
    assert (totals.slots, totals.in_force, totals.standing, totals.soon) == (7, 4, 1, 3)
    assert (totals.devices, totals.types) == (19, {"accel-80g": 19})
    assert (totals.usd_per_hour, totals.priced, totals.unpriced, totals.unknown) == (Fraction(48), 1, 3, 0)


def test_what_a_slot_takes_is_not_known_where_it_was_not_kept(people: Cast) -> None:
    with lifted():
        ActivationFootprint.objects.filter(activation__revision__decision__slot=PRICED).delete()
    totals = found(people).totals
    assert (totals.devices, totals.priced, totals.unknown) == (3, 0, 1)
    row = slot_row(actor=people.bob, workspace=people.workspace, slot=PRICED)
    assert (row.fact.held is not None, row.fact.held and row.fact.held.footprint) == (True, None)


@pytest.mark.parametrize(
    ("wanted", "slots"),
    [
        pytest.param({"state": "STALE"}, [STALE], id="state"),
        pytest.param({"owner": "serving-platform"}, [PRICED], id="owner"),
        pytest.param({"engine": "closed-demo-engine"}, [PRICED], id="engine"),
        pytest.param({"model": "example/synthetic-moe-64b", "state": "EFFECTIVE"}, [PRICED], id="model and state"),
        pytest.param({"text": "EU-North"}, [PRICED], id="part of the slot"),
        pytest.param({"text": "tp4-pp1"}, [PRICED], id="part of the topology"),
        pytest.param({"text": "d-0006"}, [REVIEWED], id="number"),
        pytest.param({"owner": "serv"}, [], id="owner is exact"),
        pytest.param({"state": "\0"}, [], id="nonsense"),
    ],
)
def test_filters(wanted: dict[str, str], slots: list[str], people: Cast) -> None:
    assert names(people, **wanted) == slots


def test_pages_hold_so_many_and_count_all(people: Cast) -> None:
    assert names(people, page=2, page_size=3) == [REVIEWED, STALE, WAIVED]
    assert (found(people, page=3, page_size=3).pages, found(people, page=9, page_size=3).page) == (3, 1)
    assert len(names(people, page_size=None)) == 7
    assert (names(people, page_size=0), found(people, page_size=0).totals.slots) == ([], 7)


def test_choices_are_what_occurs_whatever_the_filter(people: Cast) -> None:
    choices = found(people, text=PRICED).choices
    assert choices.states == ("IN_REVIEW", "EFFECTIVE", "STALE", "EMERGENCY", "WITHDRAWN")
    assert (choices.owners, choices.engines) == (
        ("serving", "serving-platform"),
        ("closed-demo-engine", "closed-engine"),
    )


def test_a_newer_review_stands_beside_what_is_in_force(people: Cast) -> None:
    planned(people, pair=documents(slot=WAIVED))
    row = slot_row(actor=people.bob, workspace=people.workspace, slot=WAIVED)
    assert (row.fact.decision.number, [other.number for other in row.fact.others]) == (4, [8])
    assert row.fact.hold == "in_force"


def test_what_time_alone_ended_stands_no_more(people: Cast) -> None:
    decision = Decision.objects.get(slot=ENDING)
    with lifted():
        for activation in decision.revisions.get().activations.all():
            activation.activated_at -= timedelta(days=9)
            activation.valid_until = timezone.now() - timedelta(days=1)
            activation.save()
    row = slot_row(actor=people.bob, workspace=people.workspace, slot=ENDING)
    assert (row.fact.hold, row.fact.decision.state, row.fact.decision.now.because) == (
        "standing",
        "EXPIRED",
        "It was valid until then.",
    )


def test_the_last_report_names_what_differs_and_who_owns_it(people: Cast) -> None:
    heard = slot_row(actor=people.bob, workspace=people.workspace, slot=STALE).heard
    assert (heard.hosts, heard.is_whole, heard.is_fresh) == (0, True, True)
    named = [(one.key, one.how, one.team) for one in heard.differences]
    assert named == [("/model/revision", "differs", "serving"), ("/stack/engine/version", "missing", "serving")]


def test_the_page_of_a_slot_reads_what_is_in_force_and_not_what_is_newest(people: Cast) -> None:
    first = in_force(people, documents(slot="own/both"))
    planned(people, pair=documents(slot="own/both", tokens=200_000))
    page = slot_page(actor=people.bob, workspace=people.workspace, slot="own/both")
    assert (page.page is not None and page.page.number, page.plan is not None) == (first.decision.number, True)


@pytest.mark.parametrize("slot", ["own/none", "", "own", "\0"])
def test_a_slot_that_there_is_not_is_not_found(slot: str, people: Cast) -> None:
    with pytest.raises(NotFoundError, match="There is no slot"):
        slot_page(actor=people.bob, workspace=people.workspace, slot=slot)


def test_a_stranger_learns_nothing(people: Cast) -> None:
    with pytest.raises(NotFoundError, match="no workspace lab that you belong to"):
        portfolio(actor=people.charlie, workspace=people.workspace, wanted=SlotFilter())
    with pytest.raises(NotFoundError, match="no workspace lab that you belong to"):
        slot_row(actor=people.charlie, workspace=people.workspace, slot=PRICED)
