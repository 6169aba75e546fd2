"""Compare: what the page and its files say of two candidates, two revisions and two decisions."""

import csv
import io
import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from planner.canonical import content_id
from reviews.models import Decision
from tests.queries import cost
from tests.reviews.factories import Cast, Pair, documents, planned
from tests.web.conftest import Visit

PAGE = "/w/lab/decisions/1/compare/"
Change = Callable[[dict[str, Any], dict[str, Any]], None]


def made(change: Change | None = None, *, slot: str = "own/one-device", floor: int = 500, tokens: int = 163840) -> Pair:
    """Documents of one device with contract and evidence changed together."""
    pair = documents(slot=slot, floor=floor, tokens=tokens)
    contract, evidence = json.loads(pair.contract), json.loads(pair.evidence)
    if change:
        change(contract, evidence)
    evidence["contract_content_id"] = content_id(contract)
    return Pair(json.dumps(contract).encode(), json.dumps(evidence).encode())


def precision(contract: dict[str, Any], evidence: dict[str, Any]) -> None:
    contract["identity"]["precision"]["weights"] = "fp8"
    evidence["identities"]["run-1"]["precision"]["weights"] = "fp8"


def many(trials: int) -> Change:
    """Put so many slower copies of the trial beside it: t-2, t-3, ..."""

    def change(contract: dict[str, Any], evidence: dict[str, Any]) -> None:
        first = evidence["trials"]["t-1"]
        for at in range(2, trials + 2):
            copy = json.loads(json.dumps(first))
            copy["windows"]["w1"]["load"]["output_tokens_total"] -= 300 * at
            evidence["trials"][f"t-{at}"] = copy

    return change


@pytest.fixture
def revised(people: Cast) -> Decision:
    """Two revisions: the second is faster by a quarter, and its floor is higher than what it reaches."""
    decision = planned(people, pair=made(tokens=160000)).decision
    planned(people, pair=made(tokens=200000, floor=700), decision=decision)
    return decision


def words(page: bytes) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.decode())).split())


def shown(people: Cast, visit: Visit, query: str = "", number: int = 1) -> str:
    return words(visit(people.audrey).get(f"/w/lab/decisions/{number}/compare/{query}").content)


def table(people: Cast, visit: Visit, name: str, query: str = "", number: int = 1) -> list[dict[str, str]]:
    answer = visit(people.audrey).get(f"/w/lab/decisions/{number}/compare/{name}.csv{query}")
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_a_revision_stands_beside_the_one_before(revised: Decision, people: Cast, visit: Visit) -> None:
    text = shown(people, visit)
    assert "D-0001 r2 compared with D-0001 r1" in text
    assert "throughput floor 533.3 tok/s 666.7 tok/s +25 % Gain higher is better" in text
    assert "≥ 500 tok/s → ≥ 700 tok/s" in text
    assert "throughput floor Pass Fail" in text
    assert "/gates/throughput/floor/min_output_tokens_per_s changed 500 700 Serving" in text
    assert "t-1 tp1-pp1-ep1-dp1 Eligible Rejected throughput Pass → Fail other evidence" in text


def test_the_sides_exchange(revised: Decision, people: Cast, visit: Visit) -> None:
    text = shown(people, visit, "?revision=1&with_revision=2")
    assert "throughput floor 666.7 tok/s 533.3 tok/s −20 % Loss higher is better" in text


def test_two_candidates_of_one_revision_have_no_fields(people: Cast, visit: Visit) -> None:
    planned(people, pair=made(many(1), tokens=160000))
    text = shown(people, visit)
    assert "Two candidates of D-0001 r1" in text
    assert "output tok/s per charged device 533.3 tok/s per device 531.3 tok/s per device −0.4 % Loss" in text
    assert "Fields that differ" not in text
    assert "revision=1&amp;trial=t-1&amp;with_revision=1&amp;with=t-2" in visit(people.bob).get(PAGE).content.decode()


def test_figures_of_another_precision_are_not_compared_and_the_key_is_named(people: Cast, visit: Visit) -> None:
    decision = planned(people, pair=made(tokens=160000)).decision
    planned(people, pair=made(precision, tokens=200000, floor=700), decision=decision)
    text = shown(people, visit)
    assert "Figures are not compared. Precision differs between the sides" in text
    assert '/precision/weights contract "bf16" "fp8"' in text
    assert "throughput floor 533.3 tok/s 666.7 tok/s Not compared precision differs" in text
    assert "throughput floor Pass Fail" in text
    assert "Gain" not in text
    assert {(row["change_share"], row["effect"]) for row in table(people, visit, "values")} >= {("", "NOT_COMPARED")}


def test_two_decisions_are_compared_whatever_their_slots(people: Cast, visit: Visit) -> None:
    planned(people, pair=made(tokens=160000))
    planned(people, pair=made(slot="own/other", tokens=200000))
    text = shown(people, visit, "?with_decision=1", 2)
    assert "D-0002 r1 compared with D-0001 r1" in text
    assert "throughput floor 533.3 tok/s 666.7 tok/s +25 % Gain" in text
    assert "Map of D-0001 r1" in text


def test_another_engine_version_is_named_beside_the_figures(people: Cast, visit: Visit) -> None:
    def engine(contract: dict[str, Any], evidence: dict[str, Any]) -> None:
        for tree in (contract["identity"], evidence["identities"]["run-1"]):
            tree["stack"]["engine"]["version"] = "1.1.0"

    decision = planned(people, pair=made(tokens=160000)).decision
    planned(people, pair=made(engine, tokens=200000), decision=decision)
    assert "Read with care. Stack differs as well." in shown(people, visit)
    assert [row["effect"] for row in table(people, visit, "values") if row["name"] == "throughput"] == ["GAIN"]


def test_fields_are_those_of_a_team_where_it_is_chosen(people: Cast, visit: Visit) -> None:
    def device(contract: dict[str, Any], evidence: dict[str, Any]) -> None:
        for tree in (contract["identity"], evidence["identities"]["run-1"]):
            tree["hardware"]["devices"]["a0"]["type"] = "accel-96g"

    decision = planned(people).decision
    planned(people, pair=made(device, floor=501), decision=decision)
    text = shown(people, visit, "?team=networking")
    assert "/identity/hardware/devices/a0/type changed" in text
    assert "/gates/throughput/floor/min_output_tokens_per_s" not in text
    assert "Networking 2 Serving 1" in text


def test_the_file_of_fields_holds_every_trial_and_the_page_the_compared_one(people: Cast, visit: Visit) -> None:
    decision = planned(people, pair=made(many(2))).decision
    planned(people, pair=made(many(2), tokens=150000), decision=decision)
    found = [row["pointer"] for row in table(people, visit, "fields")]
    assert [f"/trials/t-{at}/windows/w1/load/output_tokens_total" for at in (1, 2, 3)] == found
    assert "/trials/t-2/windows" not in shown(people, visit)


def test_files_say_what_stands_beside_what(revised: Decision, people: Cast, visit: Visit) -> None:
    answer = visit(people.bob).get(f"{PAGE}outcomes.json")
    assert answer.json() == {
        "before": {"decision": 1, "revision": 1, "trial": "t-1"},
        "after": {"decision": 1, "revision": 2, "trial": "t-1"},
        "outcomes": [
            {
                "gate": "throughput",
                "limit": "floor",
                "owner": "serving",
                "before": "PASS",
                "after": "FAIL",
                "sentence_before": answer.json()["outcomes"][0]["sentence_before"],
                "sentence_after": answer.json()["outcomes"][0]["sentence_after"],
            }
        ],
    }
    assert answer["Content-Disposition"] == 'attachment; filename="D-0001-r2-D-0001-r1-outcomes.json"'
    (row,) = table(people, visit, "candidates")
    assert (row["state_before"], row["state_after"], row["gates"]) == ("ELIGIBLE", "REJECTED", "throughput:PASS>FAIL")
    (rate,) = [row for row in table(people, visit, "values") if row["name"] == "throughput"]
    assert (rate["better"], rate["change_share"], rate["effect"]) == ("higher", "0.25", "GAIN")


@pytest.mark.parametrize(
    "query", ["?trial=nope", "?with=nope", "?with_revision=9", "?with_decision=77", "?with_decision=1&with_revision=9"]
)
def test_what_is_not_there_is_said(query: str, revised: Decision, people: Cast, visit: Visit) -> None:
    assert visit(people.bob).get(f"{PAGE}{query}").status_code == 404


@pytest.mark.parametrize("query", ["?team=%3Cb%3E&fields=-1&trials=x", "?revision=x&with_decision=%00&fields=999"])
def test_nonsense_in_the_address_is_ignored(query: str, revised: Decision, people: Cast, visit: Visit) -> None:
    assert visit(people.bob).get(f"{PAGE}{query}").status_code == 200


def test_a_decision_of_another_workspace_is_not_found(revised: Decision, people: Cast, visit: Visit) -> None:
    assert visit(people.charlie).get(f"{PAGE}?with_decision=1").status_code == 404


def test_many_trials_cost_no_more_queries_and_come_in_pages(people: Cast, visit: Visit) -> None:
    small = planned(people, pair=made(slot="own/small")).decision
    planned(people, pair=made(slot="own/small", tokens=150000), decision=small)
    large = planned(people, pair=made(many(59))).decision
    planned(people, pair=made(many(59), tokens=150000), decision=large)
    bob = visit(people.bob)
    costs = [cost(bob, f"/w/lab/decisions/{number}/compare/") for number in (1, 2)]
    assert costs[0] == costs[1] <= 35
    page = bob.get("/w/lab/decisions/2/compare/").content
    assert "1–25 of 60 candidates" in words(page)
    assert len(page) < 60_000


def test_pages_lead_from_revisions_and_candidates_to_their_comparison(people: Cast, visit: Visit) -> None:
    decision = planned(people, pair=made(many(1))).decision
    planned(people, pair=made(many(1), tokens=150000), decision=decision)
    bob = visit(people.bob)
    detail = bob.get("/w/lab/decisions/1/").content.decode()
    assert f'href="{PAGE}?revision=2&amp;with_revision=1"' in detail
    candidates = f'href="{PAGE}?revision=2&amp;with_revision=2&amp;with=t-1&amp;trial=t-2"'
    assert candidates in detail
    for rows in ("gates", "candidates"):
        matrix = bob.get(f"/w/lab/decisions/1/?rows={rows}").content.decode().split('id="matrix"')[1]
        assert candidates in matrix.split("</section>")[0]
    assert f'href="{PAGE}?revision=2&amp;with_revision=1"' in bob.get("/w/lab/decisions/1/history/").content.decode()
