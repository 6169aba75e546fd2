"""Slots over the API: pages in order, filters, totals, one slot with its decisions."""

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.api.asking import Caller, caller
from tests.queries import cost
from tests.reviews.factories import Cast, documents, planned
from tests.reviews.rules.board import board
from tests.reviews.slots import ENDING, PRICED, REVIEWED, STALE, WITHDRAWN, every_kind
from tests.stage import Maker

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def casting() -> Maker:
    def filled() -> Cast:
        people = board()
        every_kind(people)
        return people

    return filled


@pytest.fixture
def asks(people: Cast) -> Caller:
    return caller(people, people.bob, "read")


def told(asks: Caller, path: str, status: int = 200) -> Any:
    answer = asks.get(path)
    assert answer.status_code == status, answer.content
    return answer.json()


@pytest.mark.parametrize("slot", ["own/a b\tc\nd", "own/\u3000\u00a0x", "=own/ä..?x=1&y#z"])
def test_a_slot_that_can_be_decided_can_be_asked_for(slot: str, asks: Caller, people: Cast) -> None:
    planned(people, pair=documents(slot=slot))
    asked = urlencode({"slot": slot})
    assert told(asks, f"slots/one?{asked}")["slot"] == slot
    assert told(asks, f"validity?{asked}")["slot"] == slot
    assert len(told(asks, f"decisions?{asked}")["decisions"]) == 1


def test_slots_come_in_pages_that_lead_on(asks: Caller) -> None:
    first = told(asks, "slots?limit=4")
    last = told(asks, first["next"])
    assert [len(page["slots"]) for page in (first, last)] == [4, 3]
    assert first["next"].endswith("/slots?limit=4&page=2")
    assert last["next"] is None


def test_a_page_that_there_is_not_is_not_found(asks: Caller) -> None:
    assert told(asks, "slots?page=2", 404)["detail"] == "There is no page 2 of slots; the last is 1."


def test_a_slot_says_what_holds_takes_and_was_reported(asks: Caller) -> None:
    (slot,) = told(asks, f"slots?q={PRICED}")["slots"]
    assert (slot["holds"], slot["decision"]["state"], slot["put_into_force"]["trial"]) == (
        "in_force",
        "EFFECTIVE",
        "t-node-replicas",
    )
    assert slot["takes"] == {
        "charge": "device",
        "devices": 16,
        "with_ranks": 16,
        "spare": 0,
        "stranded": 0,
        "types": {"accel-80g": 16},
        "usd_per_hour": 48.0,
        "usd_per_month": 35040.0,
        "unpriced": "",
    }
    assert slot["reported"] == {
        "last_at": None,
        "hosts": 0,
        "is_whole": False,
        "is_fresh": False,
        "differences": [],
    }
    assert slot["page"] == "http://testserver/w/lab/slots/one?slot=chat%2Feu-north"


def test_totals_are_of_the_slots_that_fit(asks: Caller) -> None:
    totals = told(asks, "slots?state=EFFECTIVE")["totals"]
    assert (totals["slots"], totals["devices"], totals["usd_per_hour"], totals["unpriced"]) == (3, 18, 48.0, 2)


@pytest.mark.parametrize(
    ("query", "slots"),
    [
        ("state=STALE", [STALE]),
        ("owner=serving-platform", [PRICED]),
        ("engine=closed-engine&state=WITHDRAWN", [WITHDRAWN]),
        ("model=own/dense-8b&q=ends", [ENDING]),
    ],
)
def test_filters(query: str, slots: list[str], asks: Caller) -> None:
    assert [slot["slot"] for slot in told(asks, f"slots?{query}")["slots"]] == slots


@pytest.mark.parametrize("query", ["state=stale", "page=0", "limit=101", "before=3"])
def test_a_query_that_is_wrong_is_refused(query: str, asks: Caller) -> None:
    assert told(asks, f"slots?{query}", 422)["problems"][0]["code"] == "request/query"


def test_one_slot_has_its_decisions_and_the_keys_that_differ(people: Cast, asks: Caller) -> None:
    planned(people, pair=documents(slot=STALE))
    slot = told(asks, f"slots/one?slot={STALE}")
    assert (slot["holds"], slot["others"]) == ("standing", [8])
    assert [row["number"] for row in slot["decisions"]] == [8, 3]
    assert [row["put_into_force"] is None for row in slot["decisions"]] == [True, False]
    assert slot["reported"]["differences"][0] == {"key": "/model/revision", "how": "differs", "team": "serving"}


def test_a_slot_in_which_nothing_was_in_force_takes_nothing(asks: Caller) -> None:
    slot = told(asks, f"slots/one?slot={REVIEWED}")
    assert (slot["holds"], slot["put_into_force"], slot["takes"]) == ("none", None, None)


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("slots/one?slot=own/none", 404, "urn:topogate:problem:not_found"),
        ("slots/one", 422, "urn:topogate:problem:invalid_request"),
    ],
)
def test_a_slot_that_there_is_not_is_refused(path: str, status: int, code: str, asks: Caller) -> None:
    assert told(asks, path, status)["type"] == code


def test_what_ends_comes_in_order_of_time(asks: Caller) -> None:
    first = told(asks, "slots/ends?q=own/&limit=2")
    rest = told(asks, first["next"])
    ends = first["ends"] + rest["ends"]
    assert len(ends) == first["total"] == 3
    assert [end["at"] for end in ends] == sorted(end["at"] for end in ends)
    assert {end["kind"]: end["name"] for end in ends}["emergency"] == "INC-7"
    assert rest["next"] is None


def test_an_end_says_what_follows_and_where_to_read_on(asks: Caller) -> None:
    (end,) = told(asks, f"slots/ends?q={ENDING}")["ends"]
    assert (end["kind"], end["slot"], end["by_evidence"]) == ("decision", ENDING, False)
    assert end["follows"].endswith("The slot runs without a decision in force from then on.")
    assert end["page"].endswith(f"/w/lab/decisions/{end['decision']}/")
    assert end["slot_page"] == f"http://testserver/w/lab/slots/one?{urlencode({'slot': ENDING})}"


def test_shared_evidence_names_every_slot_that_counts_a_trial(asks: Caller) -> None:
    (trial,) = told(asks, "slots/shared-evidence")["trials"]
    assert (trial["slots"], len(trial["uses"]), trial["is_retracted"]) == (4, 4, False)
    stale = next(use for use in trial["uses"] if use["slot"] == STALE)
    assert stale == {
        "slot": STALE,
        "decision": 3,
        "label": "D-0003",
        "revision": 1,
        "state": "STALE",
        "trial": "t-1",
        "is_put_into_force": True,
        "page": "http://testserver/w/lab/decisions/3/",
    }


@pytest.mark.parametrize("path", ["slots/ends", "slots/shared-evidence"])
def test_a_page_of_what_slots_have_that_there_is_not_is_not_found(path: str, asks: Caller) -> None:
    assert told(asks, f"{path}?page=9", 404)["detail"].endswith("the last is 1.")


def test_one_more_slot_costs_no_more_queries(people: Cast, asks: Caller) -> None:
    asks.get("slots")  # notes the use of the token
    paths = ("slots", f"slots/one?slot={PRICED}", "slots/ends", "slots/shared-evidence")
    before = [cost(asks, path) for path in paths]
    planned(people, pair=documents(slot="own/another"))
    assert [cost(asks, path) for path in paths] == before
