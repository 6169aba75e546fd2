"""The what-if by the API: the same answer as on the command line, bounded, never stored."""

import json

import pytest

from planner.intake import read_contract, read_evidence
from planner.overrides import Reading, Setting, overridden, overridden_bytes
from reviews.models import AuditEntry, Blob
from tests.api.asking import Caller, problem
from tests.api.test_stress import several
from tests.queries import cost
from tests.reviews.factories import Cast, planned, submitted

pytestmark = pytest.mark.both_databases

ADDRESS = "decisions/1/revisions/1/what-if"
FLOOR = "/gates/throughput/floor/min_output_tokens_per_s"


def test_the_answer_is_the_one_that_the_command_line_prints(bob: Caller, people: Cast) -> None:
    pair = several(2)
    revision = planned(people, pair=pair)
    contract = read_contract(pair.contract)
    expected = overridden(
        contract,
        read_evidence(pair.evidence, contract),
        revision.as_of,
        settings=[Setting(at=FLOOR, value=540)],
        readings=[Reading(trial="t-1", gate="throughput", limit_id="floor", value=539)],
    )
    value = bob.get(f"{ADDRESS}?set={FLOOR}=540&reading=t-1:throughput.floor=539").json()["what_if"]
    assert value == json.loads(overridden_bytes(expected))
    assert (value["schema"], value["injected"], "plan_id" in value) == ("topogate.what-if/v1", True, False)


def test_there_is_none_before_the_plan(bob: Caller, people: Cast) -> None:
    submitted(people)
    assert problem(bob.get(f"{ADDRESS}?without=/gates/throughput"))["detail"] == "D-0001 r1 has no plan yet."


@pytest.mark.parametrize(
    ("query", "places"),
    [
        pytest.param("", ["set"], id="nothing asked"),
        pytest.param("page=2&sets=1", ["page", "sets"], id="no such parameters"),
        pytest.param(
            f"set={FLOOR}=x&reading=t-1:throughput.floor", [FLOOR, "t-1:throughput.floor"], id="not to be read"
        ),
        pytest.param(
            "set=/identity/model/layers=3&without=/gates/nope", ["/identity/model/layers", "/gates/nope"], id="no place"
        ),
        pytest.param("without=", [""], id="an empty pointer"),
        pytest.param("&".join([f"set={FLOOR}=1"] * 13), [""], id="too many"),
    ],
)
def test_what_is_asked_for_wrongly_is_refused(query: str, places: list[str], bob: Caller, people: Cast) -> None:
    planned(people)
    refused = problem(bob.get(f"{ADDRESS}?{query}"))
    assert refused["status"] == 422
    assert [each["pointer"] for each in refused["problems"]] == places


@pytest.mark.parametrize(
    ("bound", "expected", "found"),
    [
        ("MOST_TRIALS", "at most 1 trials", "3"),
        ("MOST_RANKS", "at most 1 ranks in all trials", "3"),
        ("MOST_BYTES", "at most 1 bytes of evidence", None),
    ],
)
def test_evidence_beyond_a_bound_is_refused(
    bound: str, expected: str, found: str | None, bob: Caller, people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"reviews.selectors.what_if.{bound}", 1)
    pair = several(3)
    planned(people, pair=pair)
    (refused,) = problem(bob.get(f"{ADDRESS}?set={FLOOR}=1"))["problems"]
    assert (refused["code"], refused["expected"]) == ("document/override", expected)
    assert refused["found"] == (found or f"{len(pair.evidence):,}")


def test_asking_stores_nothing_and_costs_as_many_queries_for_more_trials(bob: Caller, people: Cast) -> None:
    planned(people, pair=several(1))
    planned(people, pair=several(6))
    bob.get("decisions")  # notes the use of the token
    stored = (AuditEntry.objects.count(), Blob.objects.count())

    costs = [cost(bob, f"decisions/{number}/revisions/1/what-if?set={FLOOR}=1") for number in (1, 2)]
    assert costs[0] == costs[1] <= 20
    assert (AuditEntry.objects.count(), Blob.objects.count()) == stored
