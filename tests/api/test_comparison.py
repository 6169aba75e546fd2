"""Compare by the API: the rules of the page, exact figures, pages of fields."""

import pytest

from reviews.api import comparison
from tests.api.asking import Caller, problem
from tests.queries import cost
from tests.reviews.factories import Cast, documents, planned, submitted

ADDRESS = "decisions/1/revisions/2/compare"


def revised(people: Cast) -> None:
    """Two revisions: the second is faster by a quarter, and its floor is higher than what it reaches."""
    decision = planned(people, pair=documents(tokens=160000)).decision
    planned(people, pair=documents(tokens=200000, floor=700), decision=decision)


def test_both_sides_and_all_that_differs_are_there(bob: Caller, people: Cast) -> None:
    revised(people)
    value = bob.get(ADDRESS).json()
    assert (value["kind"], value["comparable"], value["differing"], value["moved_ranks"]) == ("revisions", True, [], 0)
    assert (value["before"]["revision"], value["after"]["revision"], value["after"]["state"]) == (1, 2, "REJECTED")
    (rate,) = [row for row in value["values"] if row["name"] == "throughput"]
    assert (rate["before"], rate["after"]) == ({"num": 1600, "den": 3}, {"num": 2000, "den": 3})
    assert (rate["change"], rate["effect"], rate["better"]) == (0.25, "GAIN", "higher")
    (outcome,) = value["outcomes"]
    assert (outcome["gate"], outcome["owner"], outcome["before"], outcome["after"]) == (
        "throughput",
        "serving",
        "PASS",
        "FAIL",
    )
    assert value["candidates"] == [
        {
            "trial": "t-1",
            "before": "ELIGIBLE",
            "after": "REJECTED",
            "gates": [{"gate": "throughput", "before": "PASS", "after": "FAIL"}],
            "is_measured_anew": True,
        }
    ]
    assert {
        "document": "contract",
        "pointer": "/gates/throughput/floor/min_output_tokens_per_s",
        "change": "changed",
        "before": 500,
        "after": 700,
        "owner": "serving",
    } in value["changed_fields"]
    assert (value["fields_total"], value["next"]) == (len(value["changed_fields"]), None)


def test_fields_come_page_by_page(bob: Caller, people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "FIELDS_PER_PAGE", 2)
    revised(people)
    pages, address = [], ADDRESS
    while address:
        value = bob.get(address).json()
        pages.append([row["pointer"] for row in value["changed_fields"]])
        address = value["next"]
    assert pages == [
        ["/gates/throughput/floor/min_output_tokens_per_s", "/contract_content_id"],
        ["/trials/t-1/windows/w1/load/output_tokens_total"],
    ]
    assert problem(bob.get(f"{ADDRESS}?page=3"))["detail"] == "D-0001 r2 has no page 3 of fields that differ."


def test_before_the_plan_only_fields_are_compared(bob: Caller, people: Cast) -> None:
    decision = planned(people).decision
    submitted(people, pair=documents(floor=501), decision=decision)
    value = bob.get(ADDRESS).json()
    assert (value["comparable"], value["values"], value["after"]["trial"]) == (None, [], "")
    assert value["fields_total"] == 2


@pytest.mark.parametrize("query", ["page=0", "with_revision=x", "with_decision=1&with_decision=2", "team=serving"])
def test_what_is_asked_for_wrongly_is_refused(query: str, bob: Caller, people: Cast) -> None:
    revised(people)
    assert problem(bob.get(f"{ADDRESS}?{query}"))["status"] == 422


def test_it_takes_a_fixed_number_of_queries(bob: Caller, people: Cast) -> None:
    revised(people)
    planned(people, pair=documents(slot="own/other"))
    bob.get("decisions")  # notes the use of the token

    assert cost(bob, ADDRESS) == cost(bob, "decisions/1/revisions/1/compare?with_decision=1&with_revision=2") <= 26
