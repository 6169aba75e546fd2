"""The big document of the benches is valid, is planned whole, and is as big as it says."""

import json
from typing import Any

import pytest

from bench.big_evidence import METRICS, RANKS, TRIALS, big_contract, big_evidence
from planner.intake import read_contract, read_evidence
from planner.plan import plan_bytes, plan_parallelism

AS_OF = "2026-10-01T00:00:00Z"


@pytest.fixture(scope="module")
def raw() -> bytes:
    return big_evidence()


@pytest.fixture(scope="module")
def plan(raw: bytes) -> Any:
    contract = read_contract(big_contract())
    return json.loads(plan_bytes(plan_parallelism(contract, read_evidence(raw, contract), AS_OF)))


def test_it_has_the_promised_size(raw: bytes) -> None:
    trials = json.loads(raw)["trials"]
    sizes = {
        (sorted(window["per_rank"]) == sorted(METRICS), len(metric["values"]))
        for trial in trials.values()
        for window in trial["windows"].values()
        for metric in window["per_rank"].values()
    }
    assert (len(trials), len(METRICS), sizes) == (TRIALS, 20, {(True, RANKS)})
    assert 12_000_000 < len(raw) < 14_000_000


def test_every_trial_is_judged(plan: Any) -> None:
    assert len(plan["candidates"]) == TRIALS
    assert {trial["state"] for trial in plan["candidates"].values()} == {"ELIGIBLE", "REJECTED"}


def test_the_winner_is_the_first_of_the_eligible(plan: Any) -> None:
    assert plan["decision"] == "SELECT_TOPOLOGY"
    assert plan["selected"]["trial"] == plan["eligible"][0]["trial"]


def test_no_value_breaks_an_identity(plan: Any) -> None:
    assert {trial["gates"]["consistency"]["outcome"] for trial in plan["candidates"].values()} == {"PASS"}
