"""The stress matrix by the API: the same one as on the page and the command line, page by page, never stored."""

import json
from typing import Any

import pytest

from planner.intake import read_contract, read_evidence
from planner.stress import stress_bytes, stress_matrix
from tests.api.asking import Caller, problem
from tests.queries import cost
from tests.reviews.factories import Cast, Pair, documents, planned, submitted

pytestmark = pytest.mark.both_databases

ADDRESS = "decisions/1/revisions/1/stress"


def several(trials: int) -> Pair:
    """Documents with so many trials of falling rates: t-1, t-2, ..."""
    pair = documents()
    evidence = json.loads(pair.evidence)
    (first,) = evidence["trials"].values()
    evidence["trials"] = {f"t-{at}": _slower(first, at) for at in range(1, trials + 1)}
    return Pair(pair.contract, json.dumps(evidence).encode())


def _slower(trial: Any, by: int) -> Any:
    copy = json.loads(json.dumps(trial))
    copy["windows"]["w1"]["load"]["output_tokens_total"] -= 300 * by
    return copy


def test_the_matrix_is_the_one_that_the_command_line_prints(bob: Caller, people: Cast) -> None:
    pair = several(2)
    revision = planned(people, pair=pair)
    contract = read_contract(pair.contract)
    expected = stress_matrix(contract, read_evidence(pair.evidence, contract), revision.as_of)
    value = bob.get(ADDRESS).json()
    assert value["stress"] == json.loads(stress_bytes(expected))
    assert (value["trials"], value["next"]) == (2, None)


def test_trials_come_page_by_page_in_the_order_of_the_plan(bob: Caller, people: Cast) -> None:
    planned(people, pair=several(7))
    pages, address = [], ADDRESS
    while address:
        value = bob.get(address).json()
        pages.append(sorted(value["stress"]["trials"]))
        address = value["next"]
    assert pages == [["t-1", "t-2", "t-3"], ["t-4", "t-5", "t-6"], ["t-7"]]


def test_there_is_none_before_the_plan_and_beyond_the_last_page(bob: Caller, people: Cast) -> None:
    submitted(people)
    assert problem(bob.get(ADDRESS))["detail"] == "D-0001 r1 has no plan yet."
    planned(people, pair=documents(slot="own/other"))
    beyond = problem(bob.get("decisions/2/revisions/1/stress?page=2"))
    assert (beyond["status"], beyond["detail"]) == (404, "D-0002 r1 has no page 2 of trials.")


@pytest.mark.parametrize("query", ["page=0", "page=x", "page=1&page=2", "limit=3"])
def test_what_is_asked_for_wrongly_is_refused(query: str, bob: Caller, people: Cast) -> None:
    planned(people)
    assert problem(bob.get(f"{ADDRESS}?{query}"))["status"] == 422


def test_more_trials_cost_no_more_queries(bob: Caller, people: Cast) -> None:
    planned(people, pair=several(1))
    planned(people, pair=several(6))
    bob.get("decisions")  # notes the use of the token

    costs = [cost(bob, f"decisions/{number}/revisions/1/stress") for number in (1, 2)]
    assert costs[0] == costs[1] <= 20


def test_no_cache_keeps_it_for_others(bob: Caller, people: Cast) -> None:
    planned(people)
    assert bob.get(ADDRESS).headers["Cache-Control"] == "private, no-store"
