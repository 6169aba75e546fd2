"""The two examples from real measurements: what the rules make of them, and what they say is missing."""

import json
import re
from typing import Any

import pytest

from planner.intake import read_contract, read_evidence
from planner.plan import plan_bytes, plan_parallelism
from tests.examples.readme import EXAMPLES

AS_OF = "2026-10-01T00:00:00Z"
H200 = "gpt-oss-120b-h200"
B200 = "deepseek-v4-flash-b200"


def contract_of(example: str) -> bytes:
    return (EXAMPLES / example / "contract.json").read_bytes()


def evidence_of(example: str) -> Any:
    return json.loads((EXAMPLES / example / "evidence.json").read_bytes())


def plan_of(example: str, evidence: Any | None = None) -> Any:
    contract = read_contract(contract_of(example))
    raw = json.dumps(evidence if evidence is not None else evidence_of(example)).encode()
    return json.loads(plan_bytes(plan_parallelism(contract, read_evidence(raw, contract), AS_OF)))


def missing_in_windows(plan: Any, trial: str) -> list[str]:
    """List what any gate misses in the trial's windows, below ``/trials/<trial>/windows/``."""
    start = f"/trials/{trial}/windows/"
    limits = [limit for gate in plan["candidates"][trial]["gates"].values() for limit in gate["limits"].values()]
    return sorted({at.removeprefix(start) for limit in limits for at in limit["missing"] if at.startswith(start)})


def promised_missing(example: str) -> list[str]:
    (block,) = re.findall(r"^```missing\n((?:.+\n)+)```", (EXAMPLES / example / "README.md").read_text(), re.M)
    return sorted(block.split())


@pytest.mark.parametrize(
    ("example", "trial"),
    [(H200, "tp2"), (H200, "tp4"), (H200, "tp8"), (B200, "tp2"), (B200, "tp4")],
)
def test_readme_lists_what_every_trial_lacks(example: str, trial: str) -> None:
    assert missing_in_windows(plan_of(example), trial) == promised_missing(example)


def test_a_table_of_speeds_selects_and_rejects_nothing() -> None:
    plan = plan_of(H200)
    assert (plan["decision"], plan["selected"]) == ("INCONCLUSIVE", None)
    assert {name: (trial["state"], trial["failing"]) for name, trial in plan["candidates"].items()} == {
        "tp2": ("INCONCLUSIVE", []),
        "tp4": ("INCONCLUSIVE", []),
        "tp8": ("INCONCLUSIVE", []),
    }


def test_a_rate_per_device_is_never_made_into_a_throughput() -> None:
    outcome = plan_of(H200)["candidates"]["tp8"]["gates"]["throughput"]["limits"]["saturated"]
    assert (outcome["outcome"], outcome["measured"], outcome["would"]) == ("UNKNOWN", None, None)


def test_p99_and_p50_do_not_stand_in_for_p95() -> None:
    evidence = evidence_of(H200)
    recorded = evidence["trials"]["tp2"]["windows"]["saturated"]["load"]["ttft_ms"]
    assert sorted(recorded) == ["mean", "p50", "p99"]
    outcome = plan_of(H200, evidence)["candidates"]["tp2"]["gates"]["ttft"]["limits"]["saturated_p95"]
    assert (outcome["outcome"], outcome["measured"]) == ("UNKNOWN", None)


def test_means_reject_tp4_and_leave_tp2_one_field_short() -> None:
    plan = plan_of(B200)
    assert (plan["decision"], plan["selected"]) == ("INCONCLUSIVE", None)
    assert {
        name: (trial["state"], trial["failing"], trial["unknown"]) for name, trial in plan["candidates"].items()
    } == {
        "tp2": ("INCONCLUSIVE", [], ["telemetry", "memory_headroom"]),
        "tp4": ("REJECTED", ["ttft", "throughput", "cost"], ["telemetry", "memory_headroom"]),
    }


def with_longest_sequence(interval_s: float | None = None) -> Any:
    """The B200 evidence as if the served context had been reached and recorded, for what the README says of it."""
    evidence = evidence_of(B200)
    for trial in evidence["trials"].values():
        window = trial["windows"]["saturated"]
        window["load"]["longest_sequence_tokens"] = 393_216
        if interval_s is not None:
            window["per_rank"]["device_used_peak_bytes"]["sample_interval_s"] = interval_s
    return evidence


def test_the_missing_length_is_all_that_keeps_tp2_from_being_selected() -> None:
    plan = plan_of(B200, with_longest_sequence())
    assert (plan["decision"], plan["selected"]["trial"]) == ("SELECT_TOPOLOGY", "tp2")


def test_samples_farther_apart_than_the_contract_asks_prove_no_headroom() -> None:
    plan = plan_of(B200, with_longest_sequence(interval_s=2.5))
    assert (plan["decision"], plan["candidates"]["tp2"]["gates"]["memory_headroom"]["outcome"]) == (
        "INCONCLUSIVE",
        "UNKNOWN",
    )
